# SPDX-License-Identifier: MIT
"""The CPU and what the harness does to it from outside: transfers of control, exceptions,
interrupts, visibility of stores to text.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from enum import IntEnum, StrEnum
from typing import ClassVar, NamedTuple, Protocol

from harness.isa.code import Code


class FlowKind(IntEnum):
    """What an instruction means to a stack of return addresses.

    The numbers are those of the oracle's plugin.
    """

    CALL = 1
    INDIRECT_JUMP = 2
    EXCEPTION_RETURN = 3


class FlowPattern(NamedTuple):
    """Instructions whose bits under ``mask`` equal ``value`` are transfers of this kind.

    An instruction shorter than 32 bits has zeros above.
    """

    mask: int
    value: int
    kind: FlowKind


class Property(StrEnum):
    """What a clause can be about, or cannot be seen because of, on some machines."""

    SIGNED_RETURNS = "signed-returns"
    """Functions sign their return address, and authenticate it before they return."""
    LANDING_PADS = "landing-pads"
    """An indirect branch must land on an instruction that is made for it."""
    FAR_MODULES = "far-modules"
    """A call site of a module may lie too far from the kernel to call it."""
    FRAME_RECORDS = "frame-records"
    """The compiler keeps a frame pointer, and a list of frame records, without being told to."""
    HIDDEN_RETURNS = "hidden-returns"
    """A function may have stored its return address before it calls ``_mcount``, at a place that
    its prologue alone tells."""
    UNMAPPED_TEXT = "unmapped-text"
    """The kernel's text is not mapped by page tables, so that a store to it cannot fail."""
    LOCAL_FETCH = "local-fetch"
    """What makes stores visible to instruction fetch does so for the CPU that executes it alone."""
    NO_NMI = "no-nmi"
    """Nothing can raise an NMI in a kernel that runs."""


class Injector(Protocol):
    """What an interrupt is raised with: the stopped machine."""

    def set_bits(self, cpu: int, register: str, bits: int) -> None:
        """Set bits of a CPU's register."""
        ...

    def store(self, address: int, data: bytes) -> None:
        """Store to a physical address, of a device for instance."""
        ...


class Injection(NamedTuple):
    """A way to raise an interrupt from outside, which a machine config names."""

    inject: Callable[[Injector, int, bool], None]
    """Make an interrupt of a CPU pending, or with True an NMI."""
    nmi: bool = False
    """Whether it can raise NMIs."""


class Machine(ABC):
    """One architecture's CPUs as the guests under ``guests/arch/`` set them up."""

    injections: ClassVar[Mapping[str, Injection]] = {}
    """The ways to raise an interrupt, by what ``qemu.inject`` of a machine config calls them."""
    flow_patterns: ClassVar[tuple[FlowPattern, ...]]
    """The instructions that call or go to an address in a register; the first that fits decides."""
    accesses_memory: ClassVar[tuple[int, int]]
    """Mask and value of loads and stores; those that a ``setjmp()`` has no use for may be left out.
    """
    delay_slot: ClassVar[int] = 0
    """Bytes behind a branch that are executed before it takes effect; a call returns behind them.
    """
    vectors_symbol: ClassVar[str]
    """The guest's symbol where its exception vectors begin."""
    vector_offsets: ClassVar[Sequence[int]]
    """Where, from there, an exception can begin."""

    def __init__(self, code: Code) -> None:
        self.code = code

    @classmethod
    @abstractmethod
    def properties(cls, cflags: Sequence[str]) -> frozenset[Property]:
        """What guests have that are compiled with these flags."""

    @abstractmethod
    def linear_address(self, address: int) -> int | None:
        """The physical address of one of the guest's kernel; None for any other.

        It is that of a fixed map, which needs no look at page tables.
        """

    @abstractmethod
    def masks_interrupts(self, instruction: bytes) -> bool:
        """Whether it is the instruction by which the guest masks this CPU's interrupts."""

    @abstractmethod
    def is_return(self, instruction: bytes) -> bool:
        """Whether a function returns by this instruction."""

    @abstractmethod
    def is_store(self, instruction: bytes) -> bool:
        """Whether it writes to memory."""

    def has_delay_slot(self, instruction: bytes) -> bool:
        """Whether what stands behind it is executed before it takes effect."""
        return False

    @abstractmethod
    def fetch_maintenance(self, instruction: bytes, register: Callable[[str], int]) -> range | None:
        """The addresses that an instruction makes visible to instruction fetch; None for others.

        ``register`` gives the value that any register has in front of it.
        """

    def plain_address(self, word: int) -> int:
        """A return address as it lies in memory, without its signature."""
        return word & self.code.mask

    def after_indirect_branch(self, registers: Mapping[str, int]) -> dict[str, int]:
        """Registers to set so that the CPU counts as having come by an indirect branch of a kind
        that a veneer uses; none where that makes no difference.
        """
        return {}

    def edges(self, size: int) -> tuple[int, ...]:
        """Addresses of call sites of ``size`` bytes from which a call reaches another region than
        from in front of them.
        """
        return ()

    edge_memory: ClassVar[str] = ""
    """How much memory a machine needs to have them."""
