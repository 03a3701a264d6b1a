# SPDX-License-Identifier: MIT
"""What an instruction set must do for the function tracer, and what all of them share."""

import struct
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import IntEnum, StrEnum
from typing import Any, ClassVar, NamedTuple

from harness.errors import GuestError, RangeError
from harness.units import ByteOrder

MCOUNT = "_mcount"
"""The symbol that gcc's ``-pg`` calls, on every architecture here."""


class Form(StrEnum):
    """How the compiler wrote a call site."""

    MCOUNT = "mcount"
    MCOUNT_RA_ADDRESS = "mcount-ra-address"
    LONG_CALL = "long-call"
    PATCHABLE_ENTRY = "patchable-entry"

    @property
    def calls_last(self) -> bool:
        """Whether the last word of such a site is the call, and not the first."""
        return self is Form.PATCHABLE_ENTRY


class SiteState(StrEnum):
    """What the words at a call site do."""

    BOOT = "boot"
    NOP = "nop"
    CALL = "call"
    UNKNOWN = "unknown"


class FlowKind(IntEnum):
    """What a transfer of control means to a stack of return addresses.

    The numbers are those of the oracle's plugin.
    """

    CALL = 1
    INDIRECT_JUMP = 2
    EXCEPTION_RETURN = 3


class FlowPattern(NamedTuple):
    """Words whose bits under ``mask`` equal ``value`` are transfers of this kind."""

    mask: int
    value: int
    kind: FlowKind


@dataclass(frozen=True, slots=True)
class CallSite:
    """One place where a function enters the tracer, as one ``dyn_ftrace`` record.

    ``address`` is the record's ``ip``: the ``jal``, ``bl``, ``lui`` or first ``nop`` of the site.
    ``as_built`` holds the words from there on as the linker left them; without them a site is
    taken for the usual one of its form (a long call has no usual one and needs them).
    """

    address: int
    form: Form
    function: str
    function_address: int
    as_built: tuple[int, ...] = ()


@dataclass(frozen=True, slots=True)
class Abi:
    """What a call may change and what it may not; registers by gdb's names.

    ``scratch`` and ``float_scratch`` are what a function may leave changed, ``saved`` and
    ``float_saved`` what it may not (without the stack pointer).  ``fixed`` keep one value for as
    long as a thread runs.  ``results`` and ``float_results`` can carry what a function returns.
    """

    scratch: tuple[str, ...]
    saved: tuple[str, ...]
    fixed: tuple[str, ...]
    results: tuple[str, ...]
    float_scratch: tuple[str, ...]
    float_saved: tuple[str, ...]
    float_results: tuple[str, ...]
    float_arguments: tuple[str, ...]
    status: tuple[str, ...]
    """Modes and flags of floating point, which last."""
    stack_alignment: int
    home_area: int = 0
    """Bytes from the stack pointer up that a function may write when it is entered."""


@dataclass(frozen=True, slots=True)
class AtSite:
    """What is where at the first instruction of a call site of one form.

    ``live`` registers mean something to the traced function and have to come through.  Behind the
    site each key of ``moved`` holds what the register of its value held in front of it.  ``pinned``
    may not be given an arbitrary value, because the site or the stub uses it.
    """

    live: tuple[str, ...]
    moved: Mapping[str, str]
    pinned: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Effect:
    """All that an instruction of an assembly file does: registers and memory read and written.

    Memory is a base register, an offset as it is written, and a size in bytes.
    """

    reads: frozenset[str] = frozenset()
    writes: frozenset[str] = frozenset()
    loads: tuple[str, str, int] | None = None
    stores: tuple[str, str, int] | None = None


@dataclass(frozen=True, slots=True)
class Instruction:
    """One disassembled instruction; ``text`` is ``.word 0x...`` where the bytes are none."""

    address: int
    bytes_: bytes
    text: str

    def __str__(self) -> str:
        return f"{self.address:#x}: {self.text}"


class Isa(ABC):
    """One instruction set in one word size and byte order, with instructions of 32 bits.

    Addresses may come sign-extended (as gdb gives those of 32-bit MIPS) and go out masked to
    ``bits``.  Instruction words are integers as the manuals print them, whatever the byte order
    they have in memory (``code_byteorder``).
    """

    name: ClassVar[str]
    """The architecture's name in ``guests/arch/`` and in the machine configs."""
    elf_machine: ClassVar[int]
    """``e_machine`` of its ELF files."""
    elf_flags_refused: ClassVar[Mapping[int, str]] = {}
    """Bits of ``e_flags`` that stand for an ABI which is not supported, and its name."""
    nop: ClassVar[int]
    call_relocations: ClassVar[frozenset[int]]
    """ELF relocation types that may make a call site where they name ``_mcount``."""
    call_return_offset: ClassVar[int]
    """The return address of a call lies this many bytes behind the call."""
    flow_patterns: ClassVar[tuple[FlowPattern, ...]]
    """The instructions that call or go to an address in a register; the first that fits decides."""
    assembly_register: ClassVar[str]
    """A regular expression for a register in assembly."""
    edges: tuple[int, ...] = ()
    """Addresses from which a call reaches another region than from the word in front of them."""
    first_syscall: int = 0
    """The number of the first system call, ``__NR_Linux``."""
    edge_memory: ClassVar[str] = ""
    """How much memory a machine needs to have them."""
    has_gate: ClassVar[bool] = False
    """Whether ``_mcount`` and ``ftrace_caller`` are one address that begins with a jump (M5)."""
    words_before_site: ClassVar[int] = 6
    """How many words in front of a site ``recognise`` likes to see."""
    words_at_site: ClassVar[int] = 8
    """How many words from a site on ``recognise`` likes to see."""

    pc_register: ClassVar[str] = "pc"
    stack_register: ClassVar[str] = "sp"
    return_register: ClassVar[str]
    """gdb's name of the register that holds the return address at a function's entry."""
    status_registers: ClassVar[tuple[str, ...]]
    """gdb's names of what a dump shows beside the general registers."""
    current_register: ClassVar[str]
    """gdb's name of the register in which the guest keeps the address of the running thread."""

    vectors_symbol: ClassVar[str]
    """The guest's symbol where its exception vectors begin."""
    vector_offsets: ClassVar[Sequence[int]]
    """Where, from there, an exception can begin."""
    masks_interrupts: ClassVar[tuple[int, int]]
    """Mask and value of the instruction that masks this CPU's interrupts."""
    accesses_memory: ClassVar[tuple[int, int]]
    """Mask and value of loads and stores, but for MIPS's of unaligned doublewords and for SVE's."""

    def __init__(self, bits: int, byteorder: ByteOrder) -> None:
        self.bits = bits
        self.byteorder: ByteOrder = byteorder
        self.word_size = bits // 8
        self.mask = (1 << bits) - 1

    def __repr__(self) -> str:
        return f"<Isa {self.name} {self.bits} bits, {self.byteorder} endian>"

    @property
    def code_byteorder(self) -> ByteOrder:
        """The byte order of instructions in memory."""
        return self.byteorder

    @abstractmethod
    def linear_address(self, address: int) -> int | None:
        """The physical address of one of the guest's kernel; None for any other.

        It is that of a fixed map, which needs no look at page tables.
        """

    @property
    @abstractmethod
    def general_registers(self) -> tuple[str, ...]:
        """gdb's names of the general registers in the order a dump shows them."""

    @property
    @abstractmethod
    def argument_registers(self) -> tuple[str, ...]:
        """gdb's names of the registers that carry integer arguments, first argument first."""

    @property
    @abstractmethod
    def abi(self) -> Abi:
        """The calling convention of C code."""

    @abstractmethod
    def at_site(self, form: Form) -> AtSite:
        """What the compiler counts on at a call site of this form."""

    @abstractmethod
    def float_assignments(self, register: str, number: int) -> tuple[str, ...]:
        """gdb expressions that fill a floating-point register with a pattern of that number."""

    def delays(self, statement: str) -> bool:
        """Whether what stands behind this instruction in an assembly file is its delay slot."""
        return False

    @abstractmethod
    def ends(self, statement: str) -> bool:
        """Whether this instruction of an assembly file never goes on behind itself."""

    @abstractmethod
    def effect(self, statement: str) -> Effect | None:
        """What an instruction of an assembly file does; None where that is not known.

        It is not for whatever goes elsewhere, nor for what acts on more than registers and memory.
        """

    @abstractmethod
    def another_register(self, register: str) -> str:
        """A register that can stand in assembly where ``register`` stands, and is another one."""

    @abstractmethod
    def another_offset(self, operands: str) -> str | None:
        """Operands of an instruction with a word added to the number in them; None without one."""

    @abstractmethod
    def is_return(self, word: int) -> bool:
        """Whether ``word`` is the instruction by which a function returns."""

    @abstractmethod
    def is_store(self, word: int) -> bool:
        """Whether ``word`` writes to memory."""

    def has_delay_slot(self, word: int) -> bool:
        """Whether the instruction behind ``word`` is executed before ``word`` takes effect."""
        return False

    def maintains(self, word: int) -> bool:
        """Whether ``word`` makes anything visible to instruction fetch."""
        return self.fetch_maintenance(word, dict.fromkeys(self.general_registers, 0)) is not None

    @abstractmethod
    def fetch_maintenance(self, word: int, registers: Mapping[str, int]) -> int | None:
        """An address in the cache line that ``word`` makes visible to instruction fetch; or None.

        ``registers`` are those in front of it.
        """

    frame_register: ClassVar[str] = ""
    """The register that heads a list of frame records, where the ABI has one: two words each, the
    next record and a return address."""
    address_bits: ClassVar[int] = 64
    """Bits of a return address in memory that are not a signature."""

    def after_indirect_branch(self, registers: Mapping[str, int]) -> dict[str, int]:
        """Registers to set so that the CPU counts as having come by an indirect branch of a kind
        that a veneer uses; none where that makes no difference.
        """
        return {}

    fetch_line_register: ClassVar[str] = ""
    """gdb's name of a register that says how long such a line is, where there is one."""

    @abstractmethod
    def fetch_line(self, value: int) -> int:
        """Bytes of such a line, by the value of that register."""

    @abstractmethod
    def encode_call(self, pc: int, target: int) -> int:
        """The word that calls ``target`` when it stands at ``pc``; RangeError out of reach."""

    @abstractmethod
    def encode_jump(self, pc: int, target: int) -> int:
        """The word that jumps to ``target`` without a return; RangeError out of reach."""

    @abstractmethod
    def reach(self, pc: int) -> tuple[int, int]:
        """The lowest and the highest address that a call at ``pc`` can go to."""

    @abstractmethod
    def call_target(self, pc: int, word: int) -> int | None:
        """Where ``word`` calls to when it stands at ``pc``; None when it is no direct call."""

    @abstractmethod
    def recognise(
        self, address: int, words: Sequence[int], mcount: int | None, before: Sequence[int] = ()
    ) -> Form | None:
        """The form of the call site at ``address`` in text as built; None when there is none.

        ``words`` are those from ``address`` on and ``before`` those that end just in front of it;
        either may be short where a section begins or ends.  ``mcount`` is the address of
        ``_mcount``, None in a guest that has none.
        """

    @abstractmethod
    def site_length(self, form: Form, words: Sequence[int]) -> int:
        """How many of ``words``, from a recognised site's address on, belong to the site."""

    @abstractmethod
    def site_words(self, site: CallSite, state: SiteState, target: int) -> tuple[int, ...]:
        """The words that ``site`` holds from its address on in ``state``.

        ``target`` is the address of ``_mcount`` for BOOT and of ``ftrace_caller`` for CALL; NOP
        ignores it.  The length is the same in every state.  RangeError when out of reach.
        """

    @abstractmethod
    def tracer_words(
        self, symbols: Mapping[str, int], tracer: int | None, graph: bool = False
    ) -> dict[int, int]:
        """The word for each address that the port's stubs hold for this kind of tracing.

        That is what ``ftrace_update_ftrace_func()`` and the graph caller's enable and disable
        write.  ``tracer`` is the address of the function tracer's function, None without one;
        ``graph`` says whether returns are traced too.  GuestError when the port lacks a symbol,
        RangeError when something is out of reach.
        """

    def _graph_words(self, symbols: Mapping[str, int], graph: bool) -> dict[int, int]:
        """The slot ``ftrace_graph_call``: a jump to ``ftrace_graph_caller``, or ``nop``."""
        if not graph and "ftrace_graph_call" not in symbols:
            return {}
        slot = self._symbol(symbols, "ftrace_graph_call")
        if not graph:
            return {slot: self.nop}
        return {slot: self.encode_jump(slot, self._symbol(symbols, "ftrace_graph_caller"))}

    @abstractmethod
    def _capstone(self) -> tuple[int, int]:
        """capstone's architecture and mode."""

    def site_state(
        self, site: CallSite, words: Sequence[int], mcount: int, ftrace_caller: int
    ) -> SiteState:
        """What ``words``, read from the site's address on, do.

        Where ``_mcount`` and ``ftrace_caller`` share an address (M5) BOOT and CALL are the same
        words, and the answer is CALL.
        """
        for state, target in (
            (SiteState.NOP, 0),
            (SiteState.CALL, ftrace_caller),
            (SiteState.BOOT, mcount),
        ):
            try:
                expected = self.site_words(site, state, target)
            except RangeError:
                continue
            if tuple(words[: len(expected)]) == expected:
                return state
        return SiteState.UNKNOWN

    def words_to_bytes(self, words: Sequence[int]) -> bytes:
        """Instruction words as they lie in memory."""
        return struct.pack(f"{self._order}{len(words)}I", *words)

    def bytes_to_words(self, code: bytes) -> tuple[int, ...]:
        """Memory as instruction words; a length that is no multiple of 4 is a ValueError."""
        if len(code) % 4:
            raise ValueError(f"{len(code)} bytes are not a whole number of instructions")
        return struct.unpack(f"{self._order}{len(code) // 4}I", code)

    def disassemble(self, code: bytes, address: int) -> list[Instruction]:
        """Disassemble ``code``, which lies at ``address``; every word gives one instruction."""
        engine = self._disassembler()
        listing: list[Instruction] = []
        end = len(code) // 4 * 4
        offset = 0
        while offset < end:
            where = (address + offset) & self.mask
            for at, _, mnemonic, operands in engine.disasm_lite(code[offset:end], where):
                word = code[offset : offset + 4]
                listing.append(Instruction(at & self.mask, word, self._text(mnemonic, operands)))
                offset += 4
            if offset < end:
                # capstone stops at the first word that is no instruction.
                word = code[offset : offset + 4]
                text = f".word 0x{self.bytes_to_words(word)[0]:08x}"
                listing.append(Instruction((address + offset) & self.mask, word, text))
                offset += 4
        return listing

    def _text(self, mnemonic: str, operands: str) -> str:
        return f"{mnemonic} {operands}".rstrip()

    def _disassembler(self) -> Any:
        engine = getattr(self, "_engine", None)
        if engine is None:
            # Costly to import and needed only for what people read.
            import capstone

            engine = self._engine = capstone.Cs(*self._capstone())
        return engine

    @property
    def _order(self) -> str:
        return "<" if self.code_byteorder == "little" else ">"

    def _hex(self, address: int) -> str:
        return f"0x{address & self.mask:0{self.bits // 4}x}"

    def _symbol(self, symbols: Mapping[str, int], name: str) -> int:
        try:
            return symbols[name]
        except KeyError:
            raise GuestError(
                f"the port has no symbol {name}",
                f"Define {name} as a global label in the port's mcount.S.",
            ) from None

    def _aligned(self, address: int) -> int:
        address &= self.mask
        if address % 4:
            raise RangeError(f"{self._hex(address)} is not the address of an instruction")
        return address
