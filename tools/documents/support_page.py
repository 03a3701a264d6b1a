# SPDX-License-Identifier: MIT
"""docs/support.rst: which clauses are checked on which machine config, and which cannot be
observed.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from textwrap import fill

from clauses_page import escaped
from harness.config import MachineConfig, Port, list_configs, load_config
from harness.conformance.catalogue import Clause, Judge, load_catalogue
from harness.conformance.coverage import Covered, covered, judged
from harness.conformance.engine import why_not_judged
from harness.conformance.variants import suite_spec
from harness.isa import Property


class Sign(StrEnum):
    """What stands in a field of the matrix."""

    JUDGED = "J"
    NOBODY = "o"
    NOT_CLAIMED = "n"
    UNSEEN = "x"
    NOT_FOR_IT = "."


MARKS = {
    Covered.YES: Sign.JUDGED,
    Covered.NO: Sign.NOBODY,
    Covered.NOT_CLAIMED: Sign.NOT_CLAIMED,
    Covered.NOT_OBSERVABLE: Sign.UNSEEN,
}

HEAD = """\
.. SPDX-License-Identifier: MIT
.. Made by `python tools/documents` from the clauses and the checks; do not edit.

==============
Support matrix
==============

One row for each machine config (``docs/configs.rst``) with the port that it names, one column for
each clause of the specification (``docs/clauses.rst``), in a table for each subject.

=====  ===========================================================================================
field  meaning
=====  ===========================================================================================
J      ``harness conform`` has a check of the clause there, so any port can be judged by it
o      it has none; the reason stands below the table
n      the port of the config does not claim what the clause is about
x      nothing can be seen of it there; the reason stands below the table
.      the clause is not about this architecture or form of call sites
=====  ===========================================================================================

What QEMU cannot show
=====================

Instruction caches
    QEMU's translator notices every store to code, so an instruction that was written is executed as
    written whether caches are maintained or not, and a port that forgets to maintain them works.
    {maintenance} are therefore judged by what the port does, which are its
    stores and the maintenance instructions behind them, and never by their effect.
Order of memory accesses
    CPUs that are threads of a host with a stronger order than the guest's see fewer accesses out of
    order than hardware would show.  A barrier that is missing is noticed where a check asks for the
    instruction, and by its effect only by chance.
Alignment of the stack
    QEMU raises no fault for a misaligned stack pointer on AArch64; the value itself is judged.
Non-maskable interrupts
{nmi}
Snapshots
{snapshots}
"""

WIDTH = 100

NO_CHECK = "no check has been written"


@dataclass(frozen=True, slots=True)
class ConfigRow:
    """A config, its port, and the clauses that `harness conform` has a check of there."""

    config: MachineConfig
    port: Port
    judged: frozenset[str]


def support_page() -> str:
    """The page as reStructuredText, for the configs that come with the harness."""
    catalogue = load_catalogue()
    rows = [_row(load_config(name)) for name in list_configs()]
    maintained = [one.id for one in catalogue.clause if Judge.MAINTENANCE in one.judges]
    lacking = [row.config for row in rows if not row.config.qemu.snapshots]
    unraised = [row.config for row in rows if Property.NO_NMI in row.config.properties]
    lines = [
        HEAD.format(
            maintenance=_and([f"``{id_}``" for id_ in maintained]),
            nmi=_paragraph(f"Nothing in QEMU's machines can raise one on {_machines(unraised)}."),
            snapshots=_paragraph(
                f"{_and([f'``{config.name}``' for config in lacking])} cannot go back to a snapshot"
                f" ({_pages(lacking)}).  Each check there begins with a guest that is booted anew,"
                " and a check that goes back in its middle leaves out that part."
            ),
        )
    ]
    for stem, clauses in groupby(catalogue.clause, key=lambda clause: clause.stem):
        lines += _family(stem, tuple(clauses), rows)
    return "\n".join(lines) + "\n"


def mark(clause: Clause, row: ConfigRow) -> Sign:
    """What is known of a clause on a config; the reason of ``x`` and ``o`` is :func:`why`'s."""
    if not clause.applies_to(row.config):
        return Sign.NOT_FOR_IT
    return MARKS[covered(clause, row.config, row.port, row.judged)]


def why(clause: Clause, config: MachineConfig) -> str:
    """Why nobody looks at a clause on a config, or can."""
    return why_not_judged(clause, config) or NO_CHECK


def _row(config: MachineConfig) -> ConfigRow:
    spec = suite_spec(config)
    return ConfigRow(config, spec.port, judged(spec))


def _family(stem: str, clauses: Sequence[Clause], rows: Sequence[ConfigRow]) -> Iterator[str]:
    marks = {(c.id, row.config.name): mark(c, row) for c in clauses for row in rows}
    yield from (stem, "=" * len(stem), "")
    yield from _table(
        ["config", *(clause.id for clause in clauses)],
        [
            [row.config.name, *(marks[clause.id, row.config.name] for clause in clauses)]
            for row in rows
        ],
    )
    yield ""
    for clause in clauses:
        yield _item(f"**{clause.id}** {escaped(clause.title)}")
    reasons: dict[tuple[Sign, str], dict[str, list[str]]] = {}
    for clause in clauses:
        for row in rows:
            if (sign := marks[clause.id, row.config.name]) in (Sign.UNSEEN, Sign.NOBODY):
                of_clause = reasons.setdefault((sign, why(clause, row.config)), {})
                of_clause.setdefault(clause.id, []).append(row.config.name)
    if reasons:
        yield ""
    for (sign, reason), where in reasons.items():
        places = [_where(id_, names, rows, marks) for id_, names in where.items()]
        yield _item(f"``{sign}``: {_and(places)}: {escaped(reason)}.")
    yield ""


def _where(
    id_: str, names: Sequence[str], rows: Sequence[ConfigRow], marks: dict[tuple[str, str], Sign]
) -> str:
    """A clause, and the configs or architectures that are meant where it is not all."""
    about = [r.config for r in rows if marks[id_, r.config.name] is not Sign.NOT_FOR_IT]
    if len(names) == len(about):
        return id_
    meant = [config.architecture for config in about if config.name in names]
    everywhere = [config.architecture for config in about if config.architecture in meant]
    return f"{id_} on {_and(sorted(set(meant)) if meant == everywhere else names)}"


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> Iterator[str]:
    widths = [max(map(len, column)) for column in zip(head, *rows, strict=True)]
    rule = "  ".join("=" * width for width in widths)
    yield rule
    for number, row in enumerate([head, *rows]):
        cells = zip(row, widths, strict=True)
        yield "  ".join(f"{cell:{width}}" for cell, width in cells).rstrip()
        if number == 0:
            yield rule
    yield rule


def _machines(configs: Sequence[MachineConfig]) -> str:
    """The architectures of these configs, and where their machines are described."""
    return f"{_and(sorted({config.architecture for config in configs}))} ({_pages(configs)})"


def _pages(configs: Sequence[MachineConfig]) -> str:
    names = sorted({config.architecture for config in configs})
    return _and([f"``docs/machines-{name}.rst``" for name in names])


def _paragraph(text: str) -> str:
    """The definition of a term."""
    indent = "    "
    return fill(
        text, WIDTH, initial_indent=indent, subsequent_indent=indent, break_on_hyphens=False
    )


def _item(text: str) -> str:
    return fill(text, WIDTH, subsequent_indent="  ", initial_indent="- ", break_on_hyphens=False)


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
