# SPDX-License-Identifier: MIT
"""For gdb, which executes this file: signed return addresses where the stub tells no masks.

gdb takes the signature from a return address with the masks of the target's feature
``org.gnu.gdb.aarch64.pauth``, which QEMU has since 8.1.  Otherwise its unwinder comes to a frame
whose pc has a signature, and ends.  This one continues there: the caller of such a frame has the
same registers, and the pc without the signature.
"""

from contextlib import suppress
from typing import Any, NamedTuple

import gdb
from gdb.unwinder import Unwinder

REGISTERS = ("sp", "cpsr", *(f"x{number}" for number in range(31)))
TRANSLATION = "TCR_EL1"
"""Has the sizes of the address space, as 64 less the number of bits, for both halves."""
USUAL_SIZES = 16 << 16 | 16
UPPER = 1 << 55
"""Set in addresses of the upper half."""
WORD = (1 << 64) - 1


class FrameId(NamedTuple):
    """What gdb identifies a frame by."""

    sp: Any
    pc: Any


class SignedReturns(Unwinder):  # type: ignore[misc]
    """Unwinds frames whose pc has a signature."""

    def __init__(self) -> None:
        super().__init__("signed-return-address")

    def __call__(self, frame: Any) -> Any:
        """The registers of the caller; None for all other frames."""
        if not frame.architecture().name().startswith("aarch64"):
            return None
        pc = frame.read_register("pc")
        plain = _plain(int(pc) & WORD, _sizes(frame))
        if plain == int(pc) & WORD:
            return None
        info = frame.create_unwind_info(FrameId(frame.read_register("sp"), pc))
        # The caller has only the registers that are named here.
        for name in (*REGISTERS, TRANSLATION):
            with suppress(ValueError, gdb.error):
                info.add_saved_register(name, frame.read_register(name))
        info.add_saved_register("pc", gdb.Value(plain).cast(pc.type))
        return info


def _sizes(frame: Any) -> int:
    try:
        return int(frame.read_register(TRANSLATION))
    except (ValueError, gdb.error):
        return USUAL_SIZES


def _plain(address: int, sizes: int) -> int:
    upper = bool(address & UPPER)
    mask = (1 << 64 - (sizes >> 16 * upper & 63)) - 1
    return (address | ~mask if upper else address & mask) & WORD


gdb.unwinder.register_unwinder(None, SignedReturns(), replace=True)
