# SPDX-License-Identifier: MIT
"""The CPU seen from outside: branches, exceptions, interrupts, visibility of stores to text."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import Enum, IntEnum, StrEnum, auto
from typing import ClassVar, NamedTuple, Protocol

from harness.isa.code import Code


class FlowKind(IntEnum):
    """The effect of an instruction on the shadow stack of the oracle's plugin, which has the same
    numbers.
    """

    CALL = 1
    INDIRECT_JUMP = 2
    EXCEPTION_RETURN = 3


class FlowPattern(NamedTuple):
    """Instructions whose bits under ``mask`` equal ``value`` are of this kind.

    Instructions shorter than 32 bits are zero-extended; of longer ones the first 32 bits count.
    """

    mask: int
    value: int
    kind: FlowKind


class Property(StrEnum):
    """A property of machines that a clause depends on."""

    SIGNED_RETURNS = "signed-returns"
    """Functions sign and authenticate their return address."""
    LANDING_PADS = "landing-pads"
    """An indirect branch must reach a landing pad."""
    FAR_MODULES = "far-modules"
    """The kernel may be out of reach of a module's call site."""
    FRAME_RECORDS = "frame-records"
    """The compiler maintains frame records by default."""
    HIDDEN_RETURNS = "hidden-returns"
    """A function may store its return address before it calls ``_mcount``; where, only its prologue
    says.
    """
    UNMAPPED_TEXT = "unmapped-text"
    """No page tables map the kernel's text, so a store to it cannot fault."""
    LOCAL_FETCH = "local-fetch"
    """Instruction cache maintenance affects the executing CPU only."""
    COHERENT_FETCH = "coherent-fetch"
    """Stores to text reach instruction fetch without instruction cache maintenance."""
    NO_NMI = "no-nmi"
    """An NMI cannot be raised in a running kernel."""


class Injector(Protocol):
    """Access to the stopped machine, to raise an interrupt."""

    def set_bits(self, cpu: int, register: str, bits: int) -> None:
        """Set bits of a CPU's register."""
        ...

    def store(self, address: int, data: bytes) -> None:
        """Store to a physical address, such as a device register."""
        ...


class Injection(NamedTuple):
    """A way to raise an interrupt, named by a machine config."""

    inject: Callable[[Injector, int, bool], None]
    """Make an interrupt of a CPU pending; with True, an NMI."""
    nmi: bool = False
    """Whether it can raise NMIs."""


class Processor(Protocol):
    """A stopped CPU whose timer is to go on."""

    def register(self, name: str) -> int:
        """The value of a register."""
        ...

    def set_register(self, name: str, value: int) -> None:
        """Set a register."""
        ...

    def variable(self, symbol: str, size: int) -> int:
        """This CPU's element of an array of the guest's, with elements of ``size`` bytes."""
        ...

    def execute(self, *instructions: bytes, registers: Mapping[str, int]) -> None:
        """Execute instructions with these registers; they change no others."""
        ...


class Computes(Enum):
    """What an instruction writes to the register that it names first."""

    NONE = auto()
    COPY = auto()
    """Its operand, perhaps extended."""
    REORDERED = auto()
    """The bytes of its operand in another order."""
    NEW = auto()


class Cpu(ABC):
    """The CPUs of one architecture, as set up by the guests in ``guests/arch/``."""

    injections: ClassVar[Mapping[str, Injection]] = {}
    """Ways to raise an interrupt, by the value of ``qemu.inject`` in a machine config."""
    flow_patterns: ClassVar[tuple[FlowPattern, ...]]
    """Calls and branches to a register; the first match decides."""
    accesses_memory: ClassVar[tuple[tuple[int, int], ...]]
    """Masks and values of loads and stores, at least of those in ``setjmp()``; as `FlowPattern`."""
    delay_slot: ClassVar[int] = 0
    """Size in bytes of a branch's delay slot."""
    unsaved_timer: ClassVar[str] = ""
    """The guest's function for interrupts of a timer that is not in QEMU's snapshots."""
    unsaved_clock: ClassVar[int | None] = None
    """The physical address of the clock's counter of 8 bytes, if it is not in QEMU's snapshots."""
    replays_sleep: ClassVar[bool] = False
    """Whether QEMU's record and replay need ``-icount sleep=on``: an idle CPU waits for time."""
    vectors_symbol: ClassVar[str]
    """The symbol of the guest's exception vectors."""
    vector_offsets: ClassVar[Sequence[int]]
    """Offsets of the vectors from there."""

    fatal_entry: ClassVar[str]
    """The guest's function that calls the handler of a fatal exception."""

    def __init__(self, code: Code) -> None:
        self.code = code

    @abstractmethod
    def fault(self, register: Callable[[str], int], pc: int) -> str:
        """The access that the last exception was taken for, as ``store to 0x4``.

        Empty for an exception that is no fault of an access.  ``register`` gives the value of a
        register, and ``pc`` is the interrupted one.
        """

    def faulting(self, register: Callable[[str], int], pc: int) -> int:
        """The address of the instruction that the last exception was taken for."""
        return pc

    def timer_runs(self, cpu: Processor) -> bool:
        """Whether a CPU's timer may have a deadline; for machines with `unsaved_timer`."""
        return True

    def restart_timer(self, cpu: Processor, now: int) -> None:
        """Start a CPU's timer anew after a snapshot; for machines with `unsaved_timer`.

        ``now`` is the value of `unsaved_clock`.
        """
        raise NotImplementedError

    @classmethod
    @abstractmethod
    def properties(cls, cflags: Sequence[str]) -> frozenset[Property]:
        """The properties of guests that are compiled with these flags."""

    @abstractmethod
    def linear_address(self, address: int) -> int | None:
        """The physical address of a kernel address in the linear map; None for any other."""

    @abstractmethod
    def runs_kernel(self, register: Callable[[str], int]) -> bool:
        """Whether a CPU of a guest is in its kernel, and not in user mode."""

    @abstractmethod
    def interrupt_mask(self, status: int) -> int:
        """The bits of the first of `Abi.status_registers` that mask or enable interrupts."""

    @abstractmethod
    def with_interrupts_masked(self, status: int) -> int:
        """A value of the first of `Abi.status_registers`, changed so that no interrupt is taken."""

    def in_block(self, status: int) -> bool:
        """Whether the next instruction is in a block of conditional ones.

        ``status`` is the first of `Abi.status_registers`.  gdb has no breakpoints in such a block.
        """
        return False

    @abstractmethod
    def masks_interrupts(self, instruction: bytes) -> bool:
        """Whether the guest masks the CPU's interrupts by this instruction."""

    @abstractmethod
    def is_return(self, instruction: bytes) -> bool:
        """Whether it is a return instruction."""

    def orders_stores(self, instruction: bytes) -> bool:
        """Whether every CPU sees the stores in front of this instruction before those behind it."""
        return False

    @abstractmethod
    def is_conditional(self, instruction: bytes) -> bool:
        """Whether a flag or a register decides what it does: where it goes on, or what it moves."""

    @abstractmethod
    def is_store(self, instruction: bytes) -> bool:
        """Whether it stores to memory."""

    def result(self, text: str) -> Computes:
        """What a disassembled instruction computes, if ports write bytes."""
        return Computes.NEW

    def memory_operand(self, text: str) -> str:
        """The part of a disassembled instruction that names memory, if ports write bytes.

        It is empty if there is none, or its address cannot be computed.
        """
        return ""

    def accessed(self, text: str, registers: Mapping[str, int]) -> range:
        """The addresses of `memory_operand`; empty if there is none, or they are not known.

        ``registers`` are those before the instruction, with the address behind it as pc.
        """
        return range(0)

    def has_delay_slot(self, instruction: bytes) -> bool:
        """Whether it has a delay slot."""
        return False

    @abstractmethod
    def fetch_maintenance(self, instruction: bytes, register: Callable[[str], int]) -> range | None:
        """The addresses that an instruction makes visible to instruction fetch; None for others.

        ``register`` gives the value of a register before the instruction.
        """

    def plain_address(self, word: int) -> int:
        """A return address in memory, without its signature and the bit for the instruction set."""
        return self.code.pointed_to(word)

    def after_indirect_branch(self, registers: Mapping[str, int]) -> dict[str, int]:
        """Registers to set so that the CPU seems to have come by a veneer's indirect branch; none
        if that makes no difference.
        """
        return {}

    def edges(self, size: int) -> tuple[int, ...]:
        """Addresses of call sites of ``size`` bytes at the ends of a region of direct calls."""
        return ()

    edge_memory: ClassVar[str] = ""
    """The memory that a machine needs for `edges`."""
