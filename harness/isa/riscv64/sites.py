# SPDX-License-Identifier: MIT
"""``jal _mcount`` of ``-pg``, and the two nops of ``-fpatchable-function-entry=2``.

The compiler's ``auipc; jalr`` is a ``jal`` when the linker has relaxed it.  Ports call from a
patchable entry by ``jal``, behind ``mv t0, ra``, or as Linux does by ``auipc t0; jalr t0``, and
then their slots have two instructions too.  Encodings: The RISC-V Instruction Set Manual, volume I,
"RV32/64G Instruction Set Listings".
"""

from collections.abc import Mapping, Sequence

from harness.errors import RangeError
from harness.isa.code import Code, Instruction
from harness.isa.sites import CallSite, Form, Sites, SiteState, symbol_of

_JAL_RA = 0x000000EF
_J = 0x0000006F
_OPCODE_AND_RD = 0x00000FFF
_MV_T0_RA = 0x00008293
_NOP = 0x00000013
_REACH = 1 << 20

_AUIPC = 0x00000017
_JALR = 0x00000067
_RA, _T0 = 1, 5
_FAR = 1 << 31
_LOW_HALF = 0x800
"""The lower 12 bits of a distance are signed, so the upper ones are rounded."""

_R_RISCV_JAL = 17
_R_RISCV_CALL = 18
_R_RISCV_CALL_PLT = 19


_SLOTS = ("ftrace_call", "ftrace_regs_call")
_GRAPH_SLOTS = ("ftrace_graph_call", "ftrace_graph_regs_call")


class RiscV64Sites(Sites):
    """Both forms; the call is the second instruction of a patchable entry."""

    call_relocations = frozenset({_R_RISCV_JAL, _R_RISCV_CALL, _R_RISCV_CALL_PLT})

    def __init__(self, code: Code) -> None:
        super().__init__(code)
        self.nop = code.encode(_NOP)
        self.entry = 2 * self.nop
        """A patchable entry as built."""
        self._keep_return = code.encode(_MV_T0_RA)

    @property
    def _far(self) -> bool:
        """Whether the port calls by two instructions: its slot begins with ``auipc ra``."""
        return self.code.value(self._slot[:4]) & _OPCODE_AND_RD == _AUIPC | _RA << 7

    @property
    def slot_size(self) -> int:
        """One instruction, or two."""
        return 8 if self._far else 4

    def encode_call(self, pc: int, target: int) -> bytes:
        """``jal target``, which reaches from -1 MiB to +1 MiB - 4."""
        return self.code.encode(_JAL_RA | self._offset(pc, target))

    def encode_jump(self, pc: int, target: int) -> bytes:
        """``j target``, with the reach of ``jal``."""
        return self.code.encode(_J | self._offset(pc, target))

    def reach(self, pc: int) -> tuple[int, int]:
        """1 MiB backward, and one instruction less forward; with two instructions nearly 2 GiB."""
        low, high = pc - _REACH, pc + _REACH
        if self._far:
            low, high = pc - _FAR - _LOW_HALF, pc + _FAR - _LOW_HALF
        return low & self.code.mask, high - self.code.unit & self.code.mask

    def call_target(self, pc: int, code: bytes) -> int | None:
        """The target of a ``jal``."""
        word = self.code.value(code[:4])
        if len(code) < 4 or word & _OPCODE_AND_RD != _JAL_RA:
            return None
        offset = (
            (word >> 31) << 20
            | (word >> 12 & 0xFF) << 12
            | (word >> 20 & 1) << 11
            | (word >> 21 & 0x3FF) << 1
        )
        if offset >= _REACH:
            offset -= 2 * _REACH
        return (pc + offset) & self.code.mask

    def recognise(
        self, address: int, code: bytes, mcount: int | None, before: bytes = b""
    ) -> Form | None:
        """``jal _mcount``, or nops at a patchable entry."""
        if address % self.code.unit:
            return None
        if mcount is not None and self.call_target(address, code) == mcount & self.code.mask:
            return Form.MCOUNT
        return Form.PATCHABLE_ENTRY if code.startswith(self.entry) else None

    def size(self, form: Form, code: bytes) -> int:
        """Two instructions for a patchable entry, one otherwise."""
        return 8 if form is Form.PATCHABLE_ENTRY else 4

    def code_for(self, site: CallSite, state: SiteState, target: int) -> bytes:
        """At a patchable entry ``t0`` has the caller's ``ra`` after boot."""
        if site.form is not Form.PATCHABLE_ENTRY:
            return self.nop if state is SiteState.NOP else self.encode_call(site.address, target)
        if state is SiteState.BOOT:
            return self.entry
        off = state is SiteState.NOP
        if self._far:
            return 2 * self.nop if off else self._encode_far(site.address, target, _T0)
        call = self.nop if off else self.encode_call(self.call_address(site), target)
        return self._keep_return + call

    def stub_code(
        self, symbols: Mapping[str, int], tracer: int | None, graph: bool = False
    ) -> dict[int, bytes]:
        """As of `Sites`.  Slots of two instructions call ``ftrace_stub`` for nothing, and
        ``prepare_ftrace_return`` for the graph tracer; so do those of ``ftrace_regs_caller``.
        """
        if not self._far:
            return super().stub_code(symbols, tracer, graph)
        stub = symbol_of(symbols, "ftrace_stub")
        called = {name: stub if tracer is None else tracer for name in _SLOTS if name in symbols}
        for name in _GRAPH_SLOTS:
            if name in symbols:
                called[name] = symbol_of(symbols, "prepare_ftrace_return") if graph else stub
        return {
            symbols[name]: self._encode_far(symbols[name], target, _RA)
            for name, target in called.items()
        }

    def call_address(self, site: CallSite) -> int:
        """The second instruction of a patchable entry."""
        return site.address + 4 * (site.form is Form.PATCHABLE_ENTRY)

    def find_entry(self, listing: Sequence[Instruction]) -> tuple[int, int] | None:
        """Two nops."""
        if [one.text for one in listing[:2]] != ["nop", "nop"]:
            return None
        return listing[0].address, listing[1].address

    def _encode_far(self, pc: int, target: int, link: int) -> bytes:
        """``auipc`` and ``jalr``, with the return address in ``link``; RangeError beyond 2 GiB."""
        offset = self.code.aligned(target) - self.code.aligned(pc)
        if not -_FAR - _LOW_HALF <= offset < _FAR - _LOW_HALF:
            raise RangeError(
                f"a call at {self.code.hex(pc)} cannot reach {self.code.hex(target)}",
                "auipc and jalr reach 2 GiB in either direction.",
            )
        high, low = offset + _LOW_HALF & 0xFFFFF000, offset & 0xFFF
        return self.code.encode(
            high | link << 7 | _AUIPC, low << 20 | link << 15 | link << 7 | _JALR
        )

    def _offset(self, pc: int, target: int) -> int:
        offset = self.code.aligned(target) - self.code.aligned(pc)
        if not -_REACH <= offset < _REACH:
            raise RangeError(
                f"a jump at {self.code.hex(pc)} cannot reach {self.code.hex(target)}",
                "jal reaches 1 MiB in either direction; link the code closer together.",
            )
        return (
            (offset >> 20 & 1) << 31
            | (offset >> 1 & 0x3FF) << 21
            | (offset >> 11 & 1) << 20
            | (offset >> 12 & 0xFF) << 12
        )
