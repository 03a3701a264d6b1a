# SPDX-License-Identifier: MIT
"""Every architecture in every word size, byte order and instruction set that it supports."""

from itertools import product

from harness.errors import FormatError
from harness.isa import Isa, architectures, for_elf
from harness.units import ByteOrder

ORDERS: tuple[ByteOrder, ...] = ("big", "little")


def every_isa() -> list[Isa]:
    """One instance of each kind."""
    assert architectures()  # which imports them
    # Of two instruction sets of an architecture, one is told by a flag or by marked addresses.
    flags = {flag for kind in kinds(Isa) for flag in vars(kind).get("elf_flags", {})}
    machines = sorted({kind.elf_machine for kind in kinds(Isa) if hasattr(kind, "elf_machine")})
    found: dict[str, Isa] = {}
    for machine, bits, order, e_flags, marked in product(
        machines, (32, 64), ORDERS, (0, *sorted(flags)), (False, True)
    ):
        try:
            isa = for_elf(machine, bits, order, e_flags, marked)
        except FormatError:
            continue
        found[f"{type(isa).__name__} {isa}"] = isa
    return list(found.values())


def kinds(base: type[Isa]) -> list[type[Isa]]:
    """Its subclasses, and theirs."""
    return [kind for one in base.__subclasses__() for kind in (one, *kinds(one))]
