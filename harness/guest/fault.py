# SPDX-License-Identifier: MIT
"""The cause of a guest's death: the code that faulted or called panic(), and its callers."""

import posixpath
import re
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace

from harness.debugger import Debugger
from harness.debugger.frames import StackFrame
from harness.errors import GdbError
from harness.image import Image
from harness.units import one_line

DEEPEST = 40
"""Frames of a stack with an exception in it."""

PANICS = ("panic_stop", "panic_plain", "panic")
"""The functions in which a guest of the harness ends, and Linux's functions of the same names."""

IN_PANIC = 2
"""Frames inside of panic()."""

UNKNOWN = "??"
"""gdb's name of a frame in no function: it cannot unwind."""

_EXCEPTION = re.compile(r"^Unhandled exception: (.*) at [0-9a-f]+$", re.MULTILINE)
_PANIC = re.compile(r"^Kernel panic - not syncing: (.*)$", re.MULTILINE)

LONGEST = 200
"""Maximum characters of the guest's own message."""


@dataclass(frozen=True, slots=True)
class GuestFault:
    """``headline`` is as ``store to 0x4 in bad+0xc (oops.c:2) <- workload``.

    ``frames`` begin with the code at fault, and ``registers`` are the general ones that it had.
    ``instruction`` is the address of the one that raised an exception; None if panic() was called.
    """

    headline: str
    frames: Sequence[StackFrame]
    registers: Mapping[str, int]
    instruction: int | None


def find_fault(debugger: Debugger, image: Image, printed: str) -> GuestFault | None:
    """The fault of a guest whose selected CPU is in panic(); None if it is not.

    ``printed`` is the end of its console.
    """
    frames = debugger.frames.backtrace(DEEPEST)
    # gdb has no names of frames of exceptions.
    names = [_function(image, frame) for frame in frames]
    cpu = image.isa.cpu
    handled = cpu.fatal_entry in names
    first = next((at for at, name in enumerate(names) if name in PANICS), None)
    if first is None or first > IN_PANIC:
        return None
    if handled:
        at = names.index(cpu.fatal_entry) + 1
    else:
        at = next((at for at in range(first, len(names)) if names[at] not in PANICS), len(names))
    if at >= len(frames):
        return None
    frame = frames[at]
    if not handled and frame.function == UNKNOWN:
        return None
    if handled:
        what = cpu.fault(debugger.read_register, frame.address)
        frame = _moved(image, frame, cpu.faulting(debugger.read_register, frame.address))
        what = what or _said(_EXCEPTION, printed) or "an exception"
    else:
        what = _said(_PANIC, printed) or "panic()"
    kept = {*image.isa.abi.general_registers, image.isa.abi.pc_register}
    known = debugger.frames.registers(debugger.selected_thread or 1, frame.level)
    registers = {name: value for name, value in known.items() if name in kept}
    outer = frames[at + 1 :]
    place = _place(image, frame, called=not handled)
    headline = f"{what} in {place}{_caller(debugger, image, frame, outer, registers)}"
    return GuestFault(headline, [frame, *outer], registers, frame.address if handled else None)


def _moved(image: Image, frame: StackFrame, address: int) -> StackFrame:
    """The frame at another address in its function."""
    line = image.source_line(address)
    if address == frame.address or line is None:
        return frame
    return replace(frame, address=address, file=line.file, line=line.line)


def _function(image: Image, frame: StackFrame) -> str:
    own = image.function_at(frame.address)
    return own.name if own is not None and own.name == image.isa.cpu.fatal_entry else frame.function


def _said(wanted: re.Pattern[str], printed: str) -> str:
    found = wanted.findall(printed)
    return one_line(found[-1], LONGEST) if found else ""


def _place(image: Image, frame: StackFrame, *, called: bool) -> str:
    """The code of a frame; after a call the return address may be after the end of the function."""
    line = f" ({posixpath.basename(frame.file)}:{frame.line})" if frame.file else ""
    own = image.function_at(frame.address - called)
    if own is None:
        return image.symbolize(frame.address) + line
    return f"{own.name}+{frame.address - own.address:#x}{line}"


def _caller(
    debugger: Debugger,
    image: Image,
    frame: StackFrame,
    outer: Sequence[StackFrame],
    registers: Mapping[str, int],
) -> str:
    """The caller, from the stack; from the return address if the code has no frame."""
    if frame.function == UNKNOWN or not outer:
        # Its registers or its stack may be invalid.
        with suppress(KeyError, GdbError):
            back = image.isa.abi.return_address(registers.__getitem__, debugger.read_memory)
            if caller := image.function_at(back):
                return f" <- {caller.name}"
    return f" <- {outer[0].function}" if outer and outer[0].function != UNKNOWN else ""
