# SPDX-License-Identifier: MIT
"""The calling convention: registers by class, frames, and register use at a call site."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import ClassVar, NamedTuple

from harness.isa.code import Code
from harness.isa.sites import Form


@dataclass(frozen=True, slots=True)
class AtSite:
    """Register use at the first instruction of a call site of one form.

    ``live`` registers have a meaning to the traced function and must be preserved.  Behind the site
    each key of ``moved`` has the value that its value had before the site.  ``pinned`` registers
    must not get arbitrary values, because the site or the stub uses them.  ``pops`` is by how many
    bytes the stack pointer is higher behind the site: what the compiler pushes in front of it.
    """

    live: tuple[str, ...]
    moved: Mapping[str, str]
    pinned: tuple[str, ...]
    pops: int = 0


class FrameRecord(NamedTuple):
    """Two words of the stack: the caller's value of ``register``, and a return address.

    The record begins ``offset`` bytes from the address in the register.  In a list of records, each
    points to the next in this way.
    """

    register: str
    offset: int


class Abi(ABC):
    """Registers by gdb's names, in classes.

    The order in a class means something only where stated.
    """

    general_registers: tuple[str, ...]
    """In the order in which a dump shows them."""
    status_registers: tuple[str, ...]
    """Further registers of a dump; the first holds the condition flags."""
    printed: Mapping[str, str] = MappingProxyType({})
    """gdb's names of registers that capstone prints by another one, by that."""
    pc_register = "pc"
    stack_register = "sp"
    return_register: str
    """Holds the return address at a function's entry; empty: the word at the stack pointer does."""
    current_register: str
    """Holds the address of the current thread in the guest."""

    argument_registers: tuple[str, ...]
    """Integer arguments, in order."""
    scratch: tuple[str, ...]
    """Caller-saved."""
    saved: tuple[str, ...]
    """Callee-saved, without the stack pointer."""
    fixed: tuple[str, ...]
    """Constant while a thread runs."""
    results: tuple[str, ...]
    """Results of a function, first word first."""
    float_scratch: tuple[str, ...]
    float_saved: tuple[str, ...]
    float_results: tuple[str, ...]
    float_arguments: tuple[str, ...]
    float_status: ClassVar[Mapping[str, int]]
    """Floating-point control and status, each with bits that are clear at boot and can be set."""

    stack_alignment: int
    compares_by_stack: ClassVar[bool] = False
    """Whether ``_mcount`` has too few free registers to compare a pointer and stores nothing."""
    leaf_returns_by_register: ClassVar[bool] = False
    """Whether what an mcount site has stored of a leaf's return address is gone behind ``_mcount``:
    ``retp`` can then not be its address, but is what the kernel's unwinder knows instead."""
    static_chain: str = ""
    """What hands a nested function its caller's variables at a call site, where anything does."""
    home_area: int = 0
    """Bytes above the stack pointer that a function may write at its entry."""
    direct_call: tuple[str, ...] = ()
    """Registers with return addresses where a direct trampoline begins, as the site's call leaves
    them: that of the site, and the traced function's."""
    pt_regs: tuple[str, ...] = ()
    """The registers with which the guests' ``struct pt_regs`` begins, a word each, if known."""
    frame_record: FrameRecord | None = None
    """The newest frame record at a function's entry, if the ABI has frame records."""
    gdb_script: str = ""
    """The path of a Python file for gdb, whose own unwinder does not know all of the ABI."""
    gdb_settings: ClassVar[tuple[str, ...]] = ()
    """What gdb's ``set`` is given once it is connected."""
    first_syscall: int = 0
    """The number of the first system call, ``__NR_Linux``."""

    def __init__(self, code: Code) -> None:
        self.code = code

    @abstractmethod
    def at_site(self, form: Form) -> AtSite:
        """Register use at a call site of this form."""

    def return_address(
        self, register: Callable[[str], int], memory: Callable[[int, int], bytes]
    ) -> int:
        """The return address at a function's entry, masked.

        ``register`` gives the value of a register, and ``memory`` bytes by address and size.
        """
        if self.return_register:
            return self.code.pointed_to(register(self.return_register))
        stack = register(self.stack_register) & self.code.mask
        return int.from_bytes(memory(stack, self.code.word_size), self.code.byteorder)

    def return_place(self, stack: int) -> int | None:
        """The address of the return address, from the stack pointer at a function's entry.

        None if a register has it.
        """
        return None if self.return_register else stack & self.code.mask

    def before_call(self, stack: int) -> int:
        """The stack pointer in front of a call, from that at the function's entry."""
        return stack if self.return_register else stack + self.code.word_size

    def pushed(self, registers: Mapping[str, int], returns: int) -> tuple[int, bytes] | None:
        """What `entered` needs in memory besides its registers: an address and its contents."""
        if self.return_register:
            return None
        word = returns.to_bytes(self.code.word_size, self.code.byteorder)
        return registers[self.stack_register], word

    def entered(
        self, function: int, arguments: Sequence[int], stack: int, returns: int
    ) -> dict[str, int]:
        """The registers to set for a call of a function, below the stack in use; with `pushed`."""
        # With room for the arguments' home area.
        below = (stack - 256) & -self.stack_alignment
        registers = {
            **dict(zip(self.argument_registers, arguments, strict=False)),
            self.stack_register: below,
            self.pc_register: function,
        }
        if self.return_register:
            return {**registers, self.return_register: returns | self.code.code_bit}
        return {**registers, self.stack_register: below - self.code.word_size}

    def unusual_store(self, instruction: bytes, cflags: Sequence[str]) -> bytes | None:
        """For a store of the return address to the stack, another instruction that does the same.

        None for others, and where there is none.  Compilers do not write it in prologues, so
        whoever decodes these cannot know it.
        """
        return None

    @staticmethod
    def two_words(number: int) -> str:
        """A pattern of 128 bits as an array in gdb's language, which has no larger constants."""
        low = 0x0123456789ABCDEF * (2 * number + 1) & (1 << 63) - 1
        return f"{{(long)0x{low:x}, (long)0x{low ^ 0x70E1D2C3B4A59687:x}}}"

    @abstractmethod
    def float_parts(self, register: str, number: int) -> Mapping[str, str]:
        """A pattern for a floating-point register: gdb's names of its parts, with constants."""
