# SPDX-License-Identifier: MIT
"""Source and disassembly around the place of a finding."""

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

from harness.conformance.places import port_file
from harness.conformance.registry import VARIANTS
from harness.conformance.variants import variant_of
from harness.conformance.verdict import CodeLine, Finding, Listing, Place
from harness.errors import HarnessError
from harness.files import lines_below
from harness.image import Image
from harness.kbuild import GuestSpec, module_beside, plan_build
from harness.units import KIB, one_line

AROUND = 8
"""Instructions, and lines of source, before and after a place."""

LONGEST_LINE = 200

LONGEST_FUNCTION = 64 * KIB
"""The most bytes that are disassembled before a place."""

_ADDRESS = re.compile(r"\b0x[0-9a-f]+\b")


def add_listings(findings: Iterable[Finding], spec: GuestSpec) -> None:
    """Add the code around their places to findings of one port and config.

    There is none if the port has changed since it was built.
    """
    images: dict[str, list[Image]] = {}
    for finding in findings:
        place = finding.place
        if place is None:
            continue
        if not place.instruction:
            source = source_around(spec.port.directory, place.file, place.line)
            finding.listing = Listing(tuple(source), ())
            continue
        built = (one.variant for _, one in finding.failures if one.place == place)
        variant = next(built, "")
        if variant not in VARIANTS:
            continue
        if variant not in images:
            images[variant] = list(_images(spec, variant))
        for image in images[variant]:
            if found := listing(image, place, spec.port.directory):
                finding.listing = found
                break


def _images(spec: GuestSpec, variant: str) -> Iterator[Image]:
    """The kernel of a build and its modules; none if the build is gone."""
    built = variant_of(spec, variant)
    if built is None:
        return
    plan = plan_build(built)
    if not plan.cached:
        return
    kernel = plan.run()
    for path in (kernel, *(module_beside(kernel, one.stem) for one in built.module_sources)):
        yield Image(path.read_bytes(), str(path))


def listing(image: Image, place: Place, port: Path) -> Listing | None:
    """The code around a place in an image; None if the instruction there is another one."""
    instructions = _instructions(image, place.address)
    if not any(
        (one.address, one.instruction) == (place.address, place.instruction) for one in instructions
    ):
        return None
    shown = tuple(_with_targets(image, one) for one in instructions)
    return Listing(tuple(source_around(port, place.file, place.line)), shown)


def _instructions(image: Image, address: int) -> list[CodeLine]:
    """The instruction at an address and those around it in its function."""
    isa, function = image.isa, image.function_at(address)
    reach = AROUND * isa.longest
    start = max(function.address, address - LONGEST_FUNCTION) if function else address
    end = address + isa.longest + reach
    end = min(end, function.address + function.size) if function else address + isa.longest
    try:
        every = isa.disassemble(image.read(start, end - start), start)
    except HarnessError:
        return []
    at = next((at for at, one in enumerate(every) if one.address == address), 0)
    found = []
    for one in every[max(0, at - AROUND) : at + AROUND + 1]:
        line = image.source_line(one.address)
        name = "" if line is None else port_file(line.file) or line.file
        number = 0 if line is None else line.line
        found.append(CodeLine(one.address, one.text, one_line(name, LONGEST_LINE), number))
    return found


def _with_targets(image: Image, one: CodeLine) -> CodeLine:
    """An instruction with symbols in place of addresses, as objdump shows them."""
    own = image.function_at(one.address)

    def named(match: re.Match[str]) -> str:
        address = int(match[0], 16)
        function = image.function_at(address) if address in image.text else None
        if function is None:
            return match[0]
        if function == own:
            return f"{match[0]} <+{address - function.address:#x}>"
        return f"{match[0]} <{image.symbolize(address)}>"

    text = one_line(_ADDRESS.sub(named, one.instruction), LONGEST_LINE)
    return CodeLine(one.address, text, one.file, one.line)


def source_around(port: Path, name: str, line: int) -> Iterator[tuple[int, str]]:
    """Lines of a port's file with their numbers.

    There are none for a file outside the port's directory: the debug information is not trusted.
    """
    lines = lines_below(port, name)
    if not 0 < line <= len(lines):
        return
    first = max(1, line - AROUND)
    yield from enumerate(lines[first - 1 : line + AROUND], first)
