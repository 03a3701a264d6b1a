# SPDX-License-Identifier: MIT
"""The places of a port's instructions in its sources."""

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from itertools import pairwise
from pathlib import Path

from harness.config import Port
from harness.conformance.verdict import ABOUT, DEFINED, HUNG, LEFT_OUT, RAISED, Place, PortLine
from harness.errors import GdbError, GuestError, HarnessError
from harness.files import lines_below
from harness.guest import Guest
from harness.guest.fault import find_fault
from harness.image import RunningImage

PORT_FILES = ("port/", "guests/ports/")
"""The prefix of the names of a port's files in debug information; see guests/Makefile."""

BEGINNING = 8
"""The most instructions at which a function's first line is looked for."""

CONDITION = 8
"""The most instructions that compute a condition, with the branch."""

LONGEST_LOOP = 64
"""The most instructions of a loop that is stepped through."""

MCOUNT = "mcount"
"""What the architecture's compiler calls (`Sites.mcount`)."""
ENTERED, LEFT = "syscall_trace_enter", "syscall_trace_leave"
HIJACKS = ("ftrace_graph_func", "prepare_ftrace_return")
SUBJECTS = {
    **dict.fromkeys(("C1j", "C2a", "C2b", "C2c", "C14b", "M2c"), ("ftrace_caller", MCOUNT)),
    **dict.fromkeys(("C3a", "C3b", "C3d", "C16a", "C16b"), (MCOUNT,)),
    # A call that is switched off, or one of a static build.
    "C3c": ("ftrace_make_nop", MCOUNT),
    **dict.fromkeys(("C4d", "C4e", "C4f", "C4g", "C4h", "C4i", "C4j"), HIJACKS),
    **dict.fromkeys(("C6a", "C6b", "C12a"), HIJACKS),
    "C7f": ("ftrace_make_nop",),
    "C13d": (ENTERED,),
    "C13e": (LEFT,),
    "C13f": ("arch_syscall_addr",),
    "C13g": ("arch_syscall_match_sym_name", "arch_syscall_addr"),
    "C8a": ("MCOUNT_ADDR",),
    "C8b": ("ftrace_call_adjust",),
    "C8h": ("ftrace_dyn_arch_init",),
}
"""What a clause is about: the first of these that the image has or the sources define."""

_DEFINITION = (
    r"\s*#\s*define\s+{0}\b"
    r"|\s*(?:SYM_\w+(?<!_END)|ENTRY|NESTED|LEAF)\(\s*{0}\b"
    r"|(?:[A-Za-z_][\w\s*]*\b)?{0}\s*\([^;]*$"
    r"|[A-Za-z_][\w\s*]*\b{0}\s*(?:\[[^=;]*)?=[^=]"
)
"""The first line of a macro, of a function or label in assembly, or of a function or an object
with a value in C."""

_IF, _ENDIF = re.compile(r"\s*#\s*if"), re.compile(r"\s*#\s*endif\b")


def port_file(name: str) -> str | None:
    """The name of a source file relative to its port; None if it is not of a port."""
    own, reference = PORT_FILES
    if name.startswith(own):
        return name.removeprefix(own)
    if name.startswith(reference):
        return name.removeprefix(reference).partition("/")[2]
    return None


def place_of(
    image: RunningImage, address: int, how: str, calls: Sequence[int] = ()
) -> Place | None:
    """The place of an instruction; None if it is not of the port.

    ``calls`` are the instructions of the calls that led there (`open_calls`), or in which what is
    made there is passed on, innermost first.
    """
    isa = image.isa
    address &= isa.mask
    line = image.source_line(address)
    name = None if line is None else port_file(line.file)
    if line is None or name is None:
        return None
    code = isa.split(image.read(address, isa.longest))[0]
    text = isa.disassemble(code, address)[0].text
    function = image.function_at(address)
    # Compilers name the parts of a split function after it: encode.part.0.
    where = function.name.partition(".")[0] if function else ""
    callers = image.inlined_calls(address)
    for call in calls:
        callers += [*filter(None, [image.source_line(call)]), *image.inlined_calls(call)]
    named = ((port_file(caller.file), caller.line) for caller in callers)
    of_port = dict.fromkeys(PortLine(file, number) for file, number in named if file is not None)
    return Place(where, name, line.line, address, text, how, tuple(of_port))


def open_calls(image: RunningImage, executed: Sequence[int]) -> list[int]:
    """The calls in which the last of these instructions is executed, innermost first.

    ``executed`` are addresses in the order of execution.
    """
    behind = 2 * image.isa.longest  # A call returns behind its delay slot.
    calls: list[int] = []
    for here, to in pairwise(executed):
        function = image.function_at(to)
        returned = [at for at, call in enumerate(calls) if 0 < to - call <= behind]
        if function is not None and function.address == to and not 0 < to - here <= behind:
            calls.append(here)
        elif returned and function != image.function_at(here):
            del calls[returned[-1] :]
    return calls[::-1]


def is_of_port(image: RunningImage, address: int) -> bool:
    """Whether an instruction is of the port."""
    line = image.source_line(address)
    return line is not None and port_file(line.file) is not None


def last_place(
    image: RunningImage, executed: Sequence[int], how: str, calls: Sequence[int] | None = None
) -> Place | None:
    """The last of these instructions that is of the port; None if none is.

    ``calls`` as of `place_of`; the open ones by default.
    """
    ends = range(len(executed), 0, -1)
    end = next((end for end in ends if is_of_port(image, executed[end - 1])), 0)
    if not end:
        return None
    opened = open_calls(image, executed[:end]) if calls is None else calls
    return place_of(image, executed[end - 1], how, opened)


def question(image: RunningImage, executed: Sequence[int], how: str) -> Place | None:
    """The last of these instructions, a conditional branch, at the line of its condition.

    That is the inline function that the branch's own line calls, if the branch follows one.
    """
    place = last_place(image, executed, how)
    if place is None:
        return None
    own = PortLine(place.file, place.line)
    for end in range(len(executed) - 1, max(len(executed) - CONDITION, 0), -1):
        inner = last_place(image, executed[:end], how)
        if inner is not None and inner.function == place.function and own in inner.callers[:1]:
            return replace(place, file=inner.file, line=inner.line, callers=inner.callers)
    return place


def hung(guest: Guest) -> Place | None:
    """The port's last instruction of the loop in which the stopped CPU is; a hint.

    Or the one that it executes next, if no short loop is found.
    """
    image, debugger = guest.image, guest.debugger
    try:
        loop = [debugger.read_register(image.isa.abi.pc_register) & image.isa.mask]
        while len(loop) < LONGEST_LOOP:
            here = debugger.step_instruction().address & image.isa.mask
            if here == loop[0]:
                of_port = [address for address in loop if is_of_port(image, address)]
                return place_of(image, max(of_port), HUNG) if of_port else None
            loop.append(here)
    except (GdbError, GuestError):
        return None
    return place_of(image, loop[0], HUNG)


def faulted(guest: Guest | None) -> Place | None:
    """The port's instruction that raised the exception of which the guest has died."""
    if guest is None:
        return None
    try:
        fault = find_fault(guest.debugger, guest.image, "")
    except HarnessError:
        return None  # QEMU may be gone.
    if fault is None or fault.instruction is None:
        return None
    # The frames of callers stand behind their calls; inline functions have frames of their own.
    own = guest.image.function_at(fault.instruction)
    behind = dict.fromkeys(frame.address for frame in fault.frames[1:])
    calls = [address - 1 for address in behind if guest.image.function_at(address) != own]
    return place_of(guest.image, fault.instruction, RAISED, calls)


def subject_of(image: RunningImage, port: Port, clause: str) -> Place | None:
    """What the clause is about, for a failure that shows no place."""
    names = SUBJECTS.get(clause, ())
    return function_of(image, *names) or definition_of(port.directory, *names)


def function_of(image: RunningImage, *names: str, how: str = ABOUT) -> Place | None:
    """The entry of the first of these functions that the image has; a hint by default."""
    for name in names:
        symbol = image.isa.sites.mcount if name == MCOUNT else name
        if symbol in image.symbols:
            start = image.symbols[symbol] & image.isa.mask
            function = image.function_at(start)
            # The compiler may begin with an instruction of an inline function of the kernel's.
            entry = range(start, start + BEGINNING * image.isa.longest, image.isa.unit)
            inside = (at for at in entry if image.function_at(at) == function)
            place = next(filter(None, (place_of(image, at, how) for at in inside)), None)
            if place is None or not place.callers:
                return place
            # It may begin with one of the port's too: its own line calls that.
            own = place.callers[-1]
            return replace(place, file=own.file, line=own.line, callers=())
    return None


def definition_of(port: Path, *names: str) -> Place | None:
    """The definition of the first of these names that has exactly one in the port's sources.

    It is found by its text, so this also finds what no image has: a macro, an inline function, one
    that the preprocessor left out.  It has no instruction.  A C function is shown where it returns
    its result.
    """
    for name, file, _, line in _single_definitions(port, names):
        return Place(name, file, line, 0, "", DEFINED)
    return None


def at_return(port: Path, place: Place) -> Place:
    """The place that made an answer; compilers may give it its function's first or last line."""
    for file, number, answer in _definitions(port, place.function):
        if file != place.file:
            continue
        is_end = lines_below(port, file)[place.line - 1 : place.line] == ["}"]
        if place.line in (number, number + 1) or (is_end and number < answer < place.line):
            return replace(place, line=answer)
    return place


def where_named(port: Path, place: Place, names: Collection[str]) -> Place:
    """The place that made an address, moved to the line that names it.

    That is the only line of its C function that has one of these names, or of a function that calls
    it, or of all C files.  Compilers may give such an instruction the line where the address is
    used.
    """
    word = re.compile("|".join(rf"\b{re.escape(name)}\b" for name in names))
    levels = (PortLine(place.file, place.line), *place.callers)
    for level, own in enumerate(levels):
        lines = lines_below(port, own.file)
        start = max((at for at in range(min(own.line, len(lines))) if lines[at] == "{"), default=0)
        end = next((at for at in range(start, len(lines)) if lines[at] == "}"), start)
        found = [at for at in range(start, end) if word.search(lines[at])]
        if names and len(found) == 1 and own.line <= end:
            return replace(place, file=own.file, line=found[0] + 1, callers=place.callers[level:])
    every = [
        (path.name, number)
        for path in sorted(port.glob("*.c"))
        for number, line in enumerate(lines_below(port, path.name), 1)
        if names and word.search(line)
    ]
    if len(every) != 1:
        return place
    [(file, number)] = every
    return replace(place, file=file, line=number, callers=levels)


def with_macro(port: Path, place: Place) -> Place:
    """The place with the macro that its line is, if that has no arguments."""
    if not place.file.endswith(".S"):
        return place
    text = "".join(lines_below(port, place.file)[place.line - 1 : place.line])
    words = text.partition("/*")[0].split()
    if len(words) != 1:
        return place
    defined = re.compile(rf"\s*\.macro\s+{re.escape(words[0])}\s*")
    every = (lines_below(port, path.name) for path in sorted(port.glob("*.S")))
    is_macro = any(defined.fullmatch(line) for lines in every for line in lines)
    return replace(place, macro=words[0]) if is_macro else place


def outside_of_inline(image: RunningImage, place: Place) -> Place:
    """The place, moved out of the inline functions that its instruction is in."""
    levels = len(image.inlined_calls(place.address))
    if not 0 < levels <= len(place.callers):
        return place
    own = place.callers[levels - 1]
    return replace(place, file=own.file, line=own.line, callers=place.callers[levels:])


def merged_statement(port: Path, place: Place, asked: int) -> Place:
    """The place, moved to the statement under the decision in line ``asked``.

    That is if it has the same text: compilers merge equal statements of a function, and give them
    the line of one.
    """
    lines = lines_below(port, place.file)
    texts = [lines[at].strip() for at in (asked, place.line - 1) if 0 <= at < len(lines)]
    is_equal = len(texts) == 2 and texts[0] == texts[1]
    return replace(place, line=asked + 1) if is_equal else place


def condition_of(port: Path, *names: str) -> Place | None:
    """The innermost ``#if`` of the kernel's options around the definition of one of these names."""
    for name, file, start, _ in _single_definitions(port, names):
        number = _condition(lines_below(port, file)[:start])
        return Place(name, file, number, 0, "", LEFT_OUT) if number else None
    return None


def _condition(lines: Sequence[str]) -> int:
    """The number of the innermost ``#if`` of an option that these lines leave open, or 0."""
    ends = 0
    for number in range(len(lines), 0, -1):
        if _ENDIF.match(lines[number - 1]):
            ends += 1
        elif _IF.match(lines[number - 1]):
            if not ends and "CONFIG_" in lines[number - 1]:
                return number
            ends = max(0, ends - 1)
    return 0


def _single_definitions(port: Path, names: Sequence[str]) -> Iterator[tuple[str, str, int, int]]:
    """Of the names that have exactly one definition: the name, and what `_definitions` says."""
    for name in names:
        found = list(_definitions(port, name))
        if len(found) == 1:
            yield name, *found[0]


def _definitions(port: Path, name: str) -> Iterator[tuple[str, int, int]]:
    """The files and lines that define a name, and of C functions the lines of their result."""
    definition = re.compile(_DEFINITION.format(re.escape(name)))
    for path in sorted(port.rglob("*.[chS]")):
        file = path.relative_to(port).as_posix()
        lines = lines_below(port, file)
        for number, line in enumerate(lines, 1):
            if definition.match(line):
                yield file, number, number + _returns(lines[number:])


def _returns(lines: Sequence[str]) -> int:
    """The number of the last ``return`` of a function of which these lines follow the first.

    Or of its only line, if it has one; 0 if it is no such function.
    """
    start = next((at for at, line in enumerate(lines) if not line[:1].isspace()), len(lines))
    if lines[start : start + 1] != ["{"] or "}" not in lines:
        return 0
    body = range(start + 1, lines.index("}"))
    found = [at for at in body if lines[at].lstrip().startswith("return ")]
    found = list(body) if len(body) == 1 else found
    return found[-1] + 1 if found else 0
