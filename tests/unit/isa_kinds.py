# SPDX-License-Identifier: MIT
"""Every architecture in every word size and byte order that it supports."""

from harness.errors import FormatError
from harness.isa import Isa, architectures, for_elf


def every_isa() -> list[Isa]:
    """One instance of each kind."""
    assert architectures()  # which imports them
    found = []
    for machine in sorted(one.elf_machine for one in Isa.__subclasses__()):
        for bits in (32, 64):
            try:
                found += [for_elf(machine, bits, "big"), for_elf(machine, bits, "little")]
            except FormatError:
                continue
    return found
