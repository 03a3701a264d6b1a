# SPDX-License-Identifier: MIT
"""Real Linux kernels of an architecture: their call sites, their memory, and their sources."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import ClassVar

from harness.errors import GuestError, UsageError
from harness.isa.code import Code
from harness.isa.cpu import Cpu
from harness.isa.sites import Form, Sites, symbol_of


@dataclass(frozen=True, slots=True)
class LinuxFiles:
    """Where the function tracer lies in a Linux tree, and what its files say of it.

    Paths are below ``arch/<directory>``, patterns are regular expressions over one line.
    """

    directory: str
    entry: str
    """Its entry in its Kconfig."""
    sources: tuple[str, str, str]
    """What a port directory has as ``mcount.S``, ``ftrace.c`` and ``include/asm/ftrace.h``."""
    words: tuple[tuple[str, str, str], ...]
    """Lines of ``[kernel]`` in ``port.toml``, each with the file and the pattern it rests on."""
    more_entries: tuple[str, ...] = ()
    """Further entries that select features."""
    more: tuple[tuple[str, str], ...] = ()
    """Other files that these need, each with its name in a port directory."""
    patchable_if_dynamic: str = ""
    """A pattern over lines of its Makefile: call sites are patchable entries in dynamic kernels,
    and calls of ``_mcount`` in static ones."""
    of_patchable: tuple[tuple[str, str], ...] = ()
    """The same, with patchable entries only."""
    makefile_forms: tuple[tuple[str, Form], ...] = ()
    """Patterns over lines of its Makefile, each with the form of call sites that such a line asks
    for where the compiler has it."""
    features: tuple[tuple[str, str, str], ...] = ()
    """Features that it has by what its own code does, in the form of ``words``."""


class Linux:
    """Real Linux kernels, booted or attached to.  An architecture without them needs no class."""

    files: ClassVar[LinuxFiles | None] = None
    """The function tracer in a Linux tree, where there is one."""
    page_object: ClassVar[str] = ""
    """A variable of the kernel with the size of a page."""
    switch: ClassVar[tuple[str, ...]] = ()
    """Functions of the kernel: the one that switches tasks, and where new tasks begin.

    It stores to the previous task's structure, then loads from the next one's: the first load is at
    the offset of the lowest store.
    """
    vectors: ClassVar[str] = ""
    """A variable of the kernel with the address of its exception vectors, where it decides."""
    direct: ClassVar[bool] = True
    """Whether the stub may call a tracer itself: ARCH_SUPPORTS_FTRACE_OPS."""
    longest: ClassVar[int] = 4
    """Bytes that `codes` looks at."""

    def __init__(self, code: Code, sites: Sites, cpu: Cpu) -> None:
        self.code = code
        self._sites = sites
        self._cpu = cpu

    def codes(
        self, address: int, symbols: Mapping[str, int], module: bytes = b""
    ) -> tuple[bytes, bytes]:
        """The disabled and the enabled code of a record, of equal length.

        ``module`` is the code found there, for a record of a module.  GuestError if it is unknown.
        """
        caller = symbol_of(symbols, "ftrace_caller")
        return self._sites.nop, self._sites.encode_call(address, caller)

    def ops(self, address: int) -> int:
        """Where a record has the pointer to its ops (CALL_OPS); GuestError if it is not known."""
        raise GuestError(
            "this kernel has a pointer to an ops in front of each function, in a place that the "
            "harness does not know",
            "Build it without CONFIG_DYNAMIC_FTRACE_WITH_CALL_OPS.",
        )

    def runs_kernel(self, register: Callable[[str], int]) -> bool:
        """Whether a CPU is in the kernel, with interrupts enabled.  UsageError if nobody knows."""
        raise UsageError("the harness does not know Linux kernels of this architecture")

    def linear(
        self,
        register: Callable[[str], int],
        symbols: Mapping[str, int],
        word: Callable[[int, int], int],
    ) -> Callable[[int], int | None]:
        """As `Cpu.linear_address`, for the kernel that runs.

        ``register`` gives the value of a register, and ``word`` that of memory, by its virtual and
        its physical address.
        """
        return self._cpu.linear_address

    def tables(
        self,
        symbols: Mapping[str, int],
        offset: int,
        page_size: int,
        word: Callable[[int], int],
    ) -> Callable[[int], int | None]:
        """The physical address of each mapped kernel address, by the page tables in memory.

        ``offset`` is what the addresses of the kernel's image are above its physical ones;
        ``word`` reads a table's entry at a physical address.
        """
        return self._cpu.linear_address

    def dump_registers(self, status: bytes) -> bytes:
        """The registers in gdb's order and format, out of the note NT_PRSTATUS of a memory dump.

        UsageError where QEMU has no dumps.
        """
        raise UsageError(
            "QEMU writes no memory dumps of this architecture",
            "Attach to its debug stub instead: --gdb.",
        )
