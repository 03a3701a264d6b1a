# SPDX-License-Identifier: MIT
"""Call sites: what the compiler writes, what a port makes of it, and how both are told."""

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import ClassVar

from harness.errors import GuestError, RangeError
from harness.isa.code import Code, Instruction

MCOUNT = "_mcount"
"""The symbol that gcc's ``-pg`` calls, on every architecture here."""


class Form(StrEnum):
    """How the compiler wrote a call site."""

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
    """One place where a function enters the tracer, as one ``dyn_ftrace`` record.

    ``address`` is the record's ``ip``: the first instruction of the site.  ``as_built`` is the code
    from there on as the linker left it; without it a site is taken for the usual one of its form (a
    long call has no usual one and needs it).
    """

    address: int
    form: Form
    function: str
    function_address: int
    as_built: bytes = b""


class Sites(ABC):
    """The call sites of one architecture; all code is byte strings in the order of memory.

    RangeError is raised where an instruction cannot go as far as it is asked to.
    """

    nop: bytes
    """The instruction that stands for no call."""
    call_relocations: ClassVar[frozenset[int]]
    """ELF relocation types that may make a call site where they name ``_mcount``."""
    has_gate: ClassVar[bool] = False
    """Whether ``_mcount`` and ``ftrace_caller`` are one address that begins with a jump (M5)."""
    before: ClassVar[int] = 0
    """Bytes in front of a site that ``recognise`` looks at."""
    extent: ClassVar[int] = 32
    """Bytes from a site on that ``recognise`` looks at."""

    def __init__(self, code: Code) -> None:
        self.code = code

    @abstractmethod
    def encode_call(self, pc: int, target: int) -> bytes:
        """The instruction that calls ``target`` when it stands at ``pc``."""

    @abstractmethod
    def encode_jump(self, pc: int, target: int) -> bytes:
        """The instruction that jumps to ``target`` without a return when it stands at ``pc``."""

    @abstractmethod
    def reach(self, pc: int) -> tuple[int, int]:
        """The lowest and the highest address that a call at ``pc`` can go to."""

    @abstractmethod
    def call_target(self, pc: int, code: bytes) -> int | None:
        """Where the direct call at ``pc`` goes that ``code`` begins with; None when it is none."""

    @abstractmethod
    def recognise(
        self, address: int, code: bytes, mcount: int | None, before: bytes = b""
    ) -> Form | None:
        """The form of the call site at ``address`` in text as built; None when there is none.

        ``code`` is what lies from ``address`` on and ``before`` what ends just in front of it;
        either may be short where a section begins or ends.  ``mcount`` is the address of
        ``_mcount``, None in a guest that has none.
        """

    @abstractmethod
    def size(self, form: Form, code: bytes) -> int:
        """How many bytes of ``code``, from a recognised site's address on, belong to the site."""

    @abstractmethod
    def code_for(self, site: CallSite, state: SiteState, target: int) -> bytes:
        """What ``site`` holds from its address on in ``state``, as far as states differ in it.

        ``target`` is the address of ``_mcount`` for BOOT and of ``ftrace_caller`` for CALL; NOP
        ignores it.  The length is the same in every state.
        """

    def stub_code(
        self, symbols: Mapping[str, int], tracer: int | None, graph: bool = False
    ) -> dict[int, bytes]:
        """The instruction for each address that the port's stubs hold for this kind of tracing.

        That is what ``ftrace_update_ftrace_func()`` and the graph caller's enable and disable
        write into the slots ``ftrace_call`` and ``ftrace_graph_call``.  ``tracer`` is the address
        of the function tracer's function, None without one; ``graph`` says whether returns are
        traced too.  GuestError when the port lacks a symbol.
        """
        slot = self._symbol(symbols, "ftrace_call")
        code = {slot: self.nop if tracer is None else self.encode_call(slot, tracer)}
        if graph or "ftrace_graph_call" in symbols:
            slot = self._symbol(symbols, "ftrace_graph_call")
            caller = self._symbol(symbols, "ftrace_graph_caller") if graph else 0
            code[slot] = self.encode_jump(slot, caller) if graph else self.nop
        return code

    def call_address(self, site: CallSite) -> int:
        """Where in a site that is on the instruction is that calls."""
        return site.address

    def resumes(self, site: CallSite) -> int:
        """Where the traced function goes on when the call of its site comes back."""
        return site.address + self.size(site.form, site.as_built)

    def state(self, site: CallSite, code: bytes, mcount: int, ftrace_caller: int) -> SiteState:
        """What ``code``, read from the site's address on, does.

        Where ``_mcount`` and ``ftrace_caller`` share an address (M5) BOOT and CALL are the same
        code, and the answer is CALL.
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
        """Where a disassembled function calls ``_mcount``: each call's first instruction.

        What the disassembler says is all that this goes by: it is to find the mistakes of
        ``recognise``.
        """
        return (one.address for one in listing if one.calls == mcount)

    def find_entry(self, listing: Sequence[Instruction]) -> tuple[int, int] | None:
        """The patchable entry that a disassembled function begins with; as of `find_calls`.

        Its address, and that of the instruction which is a call when the site is on.  Whatever the
        compiler puts in front of it, as a landing pad, is passed over.
        """
        return None

    def _symbol(self, symbols: Mapping[str, int], name: str) -> int:
        try:
            return symbols[name]
        except KeyError:
            raise GuestError(
                f"the port has no symbol {name}",
                f"Define {name} as a global label in the port's mcount.S.",
            ) from None
