# SPDX-License-Identifier: MIT
"""Call sites: the code of the compiler and of a port, and how to recognise both."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from harness.errors import GuestError, RangeError
from harness.isa.code import Code, Instruction


class Form(StrEnum):
    """The form of a call site in the compiler's output."""

    MCOUNT = "mcount"
    MCOUNT_RA_ADDRESS = "mcount-ra-address"
    LONG_CALL = "long-call"
    PATCHABLE_ENTRY = "patchable-entry"


class SiteState(StrEnum):
    """What the instructions at a call site do."""

    BOOT = "boot"
    NOP = "nop"
    CALL = "call"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class CallSite:
    """One ``dyn_ftrace`` record.

    ``address`` is the first instruction of the site.  ``as_built`` is the linked code from there
    on.  Without it the usual code of the form is assumed; a long call has none and needs it.  The
    record's ``ip``, with which tracers and filters name the site, is ``ip_offset`` bytes behind.
    ``literal`` is the address of the site's own ops, 0 without DYNAMIC_FTRACE_WITH_CALL_OPS.
    """

    address: int
    form: Form
    function: str
    function_address: int
    as_built: bytes = b""
    ip_offset: int = 0
    literal: int = 0

    @property
    def ip(self) -> int:
        """``ip`` of the record, of events and of filters."""
        return self.address + self.ip_offset

    def __repr__(self) -> str:
        return f"<CallSite {self.function} {self.address:#x} {self.form}>"


def symbol_of(symbols: Mapping[str, int], name: str) -> int:
    """The address of a port's symbol; GuestError if there is none."""
    try:
        return symbols[name]
    except KeyError:
        raise GuestError(
            f"the port has no symbol {name}",
            f"Define {name} as a global label in the port's mcount.S.",
        ) from None


class Sites(ABC):
    """The call sites of one architecture; all code is byte strings in memory order.

    RangeError is raised if a branch cannot reach its target.
    """

    nop: bytes
    """The nop of a disabled site."""
    mcount: ClassVar[str] = "_mcount"
    """The symbol that gcc's ``-pg`` calls; documents call it ``_mcount`` whatever its name is."""
    call_relocations: ClassVar[frozenset[int]]
    """ELF relocation types of calls to ``_mcount``."""
    relocation_offset: ClassVar[int] = 0
    """Bytes from a call to its relocation."""
    while_changed: ClassVar[bytes] = b""
    """What may stand at the beginning of an instruction while a port changes it under running CPUs,
    such as a breakpoint that the port handles; empty where one store changes all of it."""
    unhandled: ClassVar[str] = ""
    """What the guests' kernel calls the exception of `while_changed` that no port has handled;
    empty where that is no exception."""
    has_gate: ClassVar[bool] = False
    """Whether ``_mcount`` and ``ftrace_caller`` are one address that begins with a jump (M5)."""
    before: ClassVar[int] = 0
    """Bytes in front of a site that ``recognise`` looks at."""
    extent: ClassVar[int] = 32
    """Bytes from a site on that ``recognise`` looks at."""

    def __init__(self, code: Code) -> None:
        self.code = code
        self._slot = b""

    def learn(self, slot: bytes) -> None:
        """The code at an image's ``ftrace_call`` as built, where ports differ in their calls."""
        self._slot = slot

    @property
    def slot_size(self) -> int:
        """The size in bytes of a slot in a stub."""
        return len(self.nop)

    @abstractmethod
    def encode_call(self, pc: int, target: int) -> bytes:
        """The instruction at ``pc`` that calls ``target``."""

    @abstractmethod
    def encode_jump(self, pc: int, target: int) -> bytes:
        """The instruction at ``pc`` that jumps to ``target`` without linking."""

    @abstractmethod
    def reach(self, pc: int) -> tuple[int, int]:
        """The lowest and the highest target of a call at ``pc``."""

    def reaches(self, pc: int, target: int) -> bool:
        """Whether a call at ``pc`` reaches ``target``; addresses wrap around."""
        low, high = self.reach(pc)
        return (target - low) & self.code.mask <= (high - low) & self.code.mask

    @abstractmethod
    def call_target(self, pc: int, code: bytes) -> int | None:
        """The target of the direct call at the beginning of ``code``; None if it is none."""

    @abstractmethod
    def recognise(
        self, address: int, code: bytes, mcount: int | None, before: bytes = b""
    ) -> Form | None:
        """The form of the call site at ``address`` in text as built; None if there is none.

        ``code`` begins at ``address`` and ``before`` ends there; either may be short at the edge of
        a section.  ``mcount`` is the address of ``_mcount``, None in a guest without it.
        """

    def behind_landing_pad(self, address: int, code: bytes) -> int:
        """Where the function with this code goes on behind a landing pad, if any."""
        return address

    @abstractmethod
    def size(self, form: Form, code: bytes) -> int:
        """The size in bytes of a recognised site; ``code`` begins at its address."""

    @abstractmethod
    def code_for(self, site: CallSite, state: SiteState, target: int) -> bytes:
        """The code of ``site`` in ``state``, as far as states differ; of the same length in each.

        ``target`` is the address of ``_mcount`` for BOOT and of ``ftrace_caller`` for CALL; NOP
        ignores it.
        """

    @property
    def idle(self) -> frozenset[bytes]:
        """The instructions of which any may be in a slot that does nothing."""
        return frozenset({self.nop})

    @property
    def off(self) -> frozenset[bytes]:
        """Instructions of disabled sites, of which a port may have any in place of `code_for`'s."""
        return frozenset()

    def stub_code(
        self, symbols: Mapping[str, int], tracer: int | None, graph: bool = False
    ) -> dict[int, bytes]:
        """The instructions of the port's slots for this kind of tracing, by address.

        They are those that ``ftrace_update_ftrace_func()`` and the enable and disable functions of
        the graph caller write to ``ftrace_call`` and ``ftrace_graph_call``.  ``tracer`` is the
        address of the tracer function or None; ``graph`` says whether returns are traced too.
        GuestError if the port lacks a symbol.
        """
        slot = symbol_of(symbols, "ftrace_call")
        code = {slot: self.nop if tracer is None else self.encode_call(slot, tracer)}
        if graph or "ftrace_graph_call" in symbols:
            slot = symbol_of(symbols, "ftrace_graph_call")
            caller = symbol_of(symbols, "ftrace_graph_caller") if graph else 0
            code[slot] = self.encode_jump(slot, caller) if graph else self.nop
        return code

    def call_address(self, site: CallSite) -> int:
        """The address of the call instruction in an enabled site."""
        return site.address

    def difficult_calls(self, site: CallSite) -> Iterator[tuple[int, bytes]]:
        """Targets, and the site as built for each, that are encoded in parts with a carry.

        None if the call is encoded in one instruction.
        """
        yield from ()

    def resumes(self, site: CallSite) -> int:
        """The address in the traced function that the call of its site returns to."""
        return site.address + self.size(site.form, site.as_built)

    def state(self, site: CallSite, code: bytes, mcount: int, ftrace_caller: int) -> SiteState:
        """The state of ``code``, read from the site's address on.

        If ``_mcount`` and ``ftrace_caller`` share an address (M5), BOOT and CALL are the same code,
        and the answer is CALL.
        """
        for state, target in (
            (SiteState.NOP, 0),
            (SiteState.CALL, ftrace_caller),
            (SiteState.BOOT, mcount),
        ):
            try:
                expected = self.code_for(site, state, target)
            except RangeError:
                continue
            if code[: len(expected)] == expected:
                return state
        return SiteState.UNKNOWN

    def find_calls(self, listing: Sequence[Instruction], mcount: int) -> Iterator[int]:
        """The calls of ``_mcount`` in a disassembled function: each one's first instruction.

        Uses the disassembler's output only, to be independent of ``recognise``.
        """
        return (one.address for one in listing if one.calls == mcount)

    def find_entry(self, listing: Sequence[Instruction]) -> tuple[int, int] | None:
        """The patchable entry of a disassembled function; as of `find_calls`.

        Its address, and the address of the call instruction of the enabled site.  A landing pad in
        front of it is skipped.
        """
        return None
