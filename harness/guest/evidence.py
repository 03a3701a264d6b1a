# SPDX-License-Identifier: MIT
"""The state of a guest that failed: its CPUs, the code around the program counter, its console."""

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial

from harness.debugger import Debugger
from harness.debugger.frames import StackFrame
from harness.errors import GdbError, HarnessError
from harness.guest.cpus import StubCpus
from harness.guest.fault import GuestFault, find_fault
from harness.guest.source_listing import SourceListing
from harness.image import GuestThread, Image, SourceLine
from harness.kbuild import GuestSources
from harness.machine import Console, NoConsole
from harness.units import escape

BEFORE, AFTER = 16, 24
"""Bytes disassembled before a program counter and from it on."""

CONSOLE_LINES = 30
FAULT_LINES = 60
"""Lines of the console in which an exception is reported."""


def describe(
    debugger: Debugger,
    image: Image,
    console: Console | NoConsole,
    cpus: StubCpus,
    sources: GuestSources,
    last_events: Callable[[], Sequence[str]],
) -> str:
    """A report in plain text.  Errors are reported in it; nothing is raised.

    Registers and code are those of the stopped CPU.  For a guest in panic(),
    those of the code at fault come first, with its stack.
    """
    sections: list[str] = []
    last: list[str] = []
    with suppress(HarnessError):
        if events := last_events():
            last.append("\n".join(["The last events:", *events]))
    threads: dict[int, GuestThread] = {}
    with suppress(HarnessError):
        threads = cpus.current()
    with suppress(HarnessError):
        if fault := find_fault(debugger, image, console.tail(FAULT_LINES)):
            sections += [*_of_fault(fault, sources, debugger, image), *last]
            last = []
    for title, section in (
        ("CPUs", partial(_cpus, threads, sources)),
        ("Registers", _registers_at_stop),
        ("Code", partial(_code_at_stop, sources)),
    ):
        try:
            sections.append(f"{title}:\n{section(debugger, image)}")
        except HarnessError as error:
            sections.append(f"{title}: cannot be read: {error.message}")
    sections += last
    printed = console.tail(CONSOLE_LINES)
    named = _functions(image, printed)
    if named:
        sections.append(f"Functions that the console names by address:\n{named}")
    sections.append(f"Console:\n{printed or '(nothing printed)'}")
    return "\n\n".join(sections)


def _of_fault(
    fault: GuestFault, sources: GuestSources, debugger: Debugger, image: Image
) -> Iterator[str]:
    stack = "\n".join(f"  {line}" for line in _with_sources(fault.frames, sources))
    yield f"{fault.headline}\n{stack}"
    yield f"Registers there:\n{_registers(fault.registers, image)}"
    try:
        yield f"Code there:\n{_code(sources, debugger, image, fault.frames[0].address)}"
    except HarnessError as error:
        yield f"Code there: cannot be read: {error.message}"


def _cpus(
    threads: Mapping[int, GuestThread], sources: GuestSources, debugger: Debugger, image: Image
) -> str:
    lines = []
    with debugger.preserved_selection():
        for cpu in debugger.threads():
            debugger.select_thread(cpu.id)
            runs = f", running {threads[cpu.id - 1]}" if cpu.id - 1 in threads else ""
            lines.append(f"  CPU {cpu.id - 1} at {image.symbolize(cpu.pc)} ({cpu.pc:#x}){runs}")
            lines += [f"    {line}" for line in _backtrace(sources, debugger)]
    return "\n".join(lines)


def _backtrace(sources: GuestSources, debugger: Debugger) -> Iterator[str]:
    """The frames of the selected thread, each with its line of the sources."""
    try:
        frames = debugger.frames.backtrace()
    except GdbError as error:
        yield f"<{escape(error.message, 200)}>"
        return
    yield from _with_sources(frames, sources)


def _with_sources(frames: Sequence[StackFrame], sources: GuestSources) -> Iterator[str]:
    for frame in frames:
        yield str(frame)
        if text := sources.at(SourceLine(frame.file, frame.line)):
            yield f"     {text}"


def _registers_at_stop(debugger: Debugger, image: Image) -> str:
    return _registers(debugger.registers(), image)


def _registers(values: Mapping[str, int], image: Image) -> str:
    isa = image.isa
    names = [*isa.abi.general_registers, isa.abi.pc_register, *isa.abi.status_registers]
    shown = [f"{name:>8} {values[name]:0{isa.bits // 4}x}" for name in names if name in values]
    return "\n".join("  " + " ".join(shown[i : i + 4]) for i in range(0, len(shown), 4))


def _code_at_stop(sources: GuestSources, debugger: Debugger, image: Image) -> str:
    pc = debugger.read_register(image.isa.abi.pc_register)
    return _code(sources, debugger, image, pc)


def _code(sources: GuestSources, debugger: Debugger, image: Image, pc: int) -> str:
    isa = image.isa
    start = pc - BEFORE
    code = debugger.read_memory(start, BEFORE + AFTER)
    listing = SourceListing(image, sources)
    lines = []
    for instruction in isa.disassemble(code, start):
        if source := listing.before(instruction.address):
            lines.append(f"   {source}")
        lines.append(("=>" if instruction.address == pc else "  ") + f" {instruction}")
    return "\n".join(lines)


def _functions(image: Image, printed: str) -> str:
    """The symbols of addresses in a dump: also where gdb cannot unwind."""
    digits = image.bits // 4
    words = dict.fromkeys(re.findall(rf"(?:\b|0x)([0-9a-f]{{{digits}}})\b", printed))
    addresses = [address for word in words if image.function_at(address := int(word, 16))]
    return "\n".join(f"  {image.symbolize(address)} ({address:#x})" for address in addresses)
