# SPDX-License-Identifier: MIT
"""What call sites of A32 and T32 have in common: one ``bl``."""

from abc import abstractmethod
from typing import ClassVar

from harness.errors import RangeError
from harness.isa.sites import CallSite, Form, Sites, SiteState


class BranchSites(Sites):
    """One form; a disabled site is another instruction than the nop of a slot."""

    mcount = "__gnu_mcount_nc"
    bl: ClassVar[int]
    b: ClassVar[int]
    """Both without their distance."""
    ahead: ClassVar[int]
    """Bytes that the pc is ahead of the instruction that reads it."""
    megabytes: ClassVar[int]
    """How many MiB a branch reaches in either direction."""
    switched_off: bytes
    """A disabled site."""

    @abstractmethod
    def immediate(self, offset: int) -> int:
        """A distance as it stands in a branch."""

    def encode_call(self, pc: int, target: int) -> bytes:
        """``bl target``."""
        return self.code.encode(self.bl | self._distance(pc, target))

    def encode_jump(self, pc: int, target: int) -> bytes:
        """``b target``, with the reach of ``bl``."""
        return self.code.encode(self.b | self._distance(pc, target))

    def reach(self, pc: int) -> tuple[int, int]:
        """As far backward as forward but for one place, from where the pc is."""
        start, reach = pc + self.ahead, self.megabytes << 20
        low, high = start - reach, start + reach - self.code.unit
        return low & self.code.mask, high & self.code.mask

    def size(self, form: Form, code: bytes) -> int:
        """One instruction."""
        return 4

    def code_for(self, site: CallSite, state: SiteState, target: int) -> bytes:
        """What pops lr, or a call."""
        if state is SiteState.NOP:
            return self.switched_off
        return self.encode_call(site.address, target)

    def _distance(self, pc: int, target: int) -> int:
        offset = self.code.aligned(target) - self.code.aligned(pc) - self.ahead
        if not -self.megabytes << 20 <= offset < self.megabytes << 20:
            raise RangeError(
                f"a branch at {self.code.hex(pc)} cannot reach {self.code.hex(target)}",
                f"bl reaches {self.megabytes} MiB in either direction: link the code closer.",
            )
        return self.immediate(offset)
