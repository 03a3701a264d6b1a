# SPDX-License-Identifier: MIT
"""docs/support.rst: who looks at which clause on which machine config, and what nobody can see."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from textwrap import fill

from harness.config import MachineConfig, list_configs, load_config, load_port
from harness.conformance.catalogue import Catalogue, Clause, Judge
from harness.conformance.checks.registry import VARIANTS
from harness.conformance.combinations import CLAUSE as OF_COMBINATIONS
from harness.conformance.combinations import combinations
from harness.conformance.coverage import Check, Covered, covered
from harness.conformance.engine import checks_for, why_unseen
from harness.conformance.page import escaped
from harness.conformance.workshop import features_of


class Mark(StrEnum):
    """What stands in a field of the matrix."""

    TESTED = "T"
    PARTLY = "t"
    JUDGED = "J"
    TESTED_JUDGED = "TJ"
    PARTLY_JUDGED = "tJ"
    NOBODY = "o"
    NOT_CLAIMED = "n"
    UNSEEN = "x"
    NOT_FOR_IT = "."


HEAD = """\
.. SPDX-License-Identifier: MIT
.. Made by `python -m harness.conformance` from clauses, markers of tests and checks; do not edit.

==============
Support matrix
==============

One row for each machine config (``docs/configs.rst``) with the port that it names, one column for
each clause of the specification (``docs/clauses.rst``), in a table for each subject.

======  ==========================================================================================
field   meaning
======  ==========================================================================================
T       a test of this repository checks the clause there, in each build in which it has to hold
t       a test checks it in some of these builds only: the dynamic or the static ones
J       ``harness conform`` has a check of it there, so any port can be judged by it
TJ, tJ  both
o       nobody looks: no test, and no check; the reason stands below the table
n       the port of the config does not claim what the clause is about
x       nothing can be seen of it there; the reason stands below the table
.       the clause is not about this architecture or form of call sites
======  ==========================================================================================

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
    The GIC of ``virt`` delivers some (``docs/machines-aarch64.rst``).  Nothing in QEMU's Malta can
    raise one (``docs/machines-mips.rst``).
Snapshots
    {without_snapshots} cannot go back to a snapshot
    (``docs/machines-mips.rst``).  Each check there begins with a guest that is booted anew, and a
    check that goes back in its middle leaves out that part.
"""

WIDTH = 100

NO_CHECK = "neither a test nor a check has been written"


@dataclass(frozen=True, slots=True)
class Row:
    """A config, what its port has, and the clauses that `harness conform` has a check of there."""

    config: MachineConfig
    features: frozenset[str]
    judged: frozenset[str]


def render_support(catalogue: Catalogue, tested: Iterable[Check]) -> str:
    """The page as reStructuredText, for the configs that come with the harness."""
    tested = tuple(tested)
    rows = [_row(load_config(name), catalogue) for name in list_configs()]
    maintained = [one.id for one in catalogue.clause if Judge.MAINTENANCE in one.judges]
    lacking = [row.config.name for row in rows if not row.config.qemu.snapshots]
    lines = [
        HEAD.format(
            maintenance=_and([f"``{id_}``" for id_ in maintained]),
            without_snapshots=_and([f"``{name}``" for name in lacking]),
        )
    ]
    for stem, clauses in groupby(catalogue.clause, key=lambda clause: clause.stem):
        lines += _family(stem, tuple(clauses), rows, tested)
    return "\n".join(lines) + "\n"


def mark(clause: Clause, row: Row, tested: Iterable[Check]) -> Mark:
    """What is known of a clause on a config; the reason of ``x`` and ``o`` is :func:`why`'s."""
    if not clause.applies_to(row.config):
        return Mark.NOT_FOR_IT
    if clause.why_not_observable(row.config):
        return Mark.UNSEEN
    if not row.features.issuperset(clause.features):
        return Mark.NOT_CLAIMED
    how = covered(clause, row.config, tested)
    if clause.id in row.judged:
        return {Covered.YES: Mark.TESTED_JUDGED, Covered.NO: Mark.JUDGED}.get(
            how, Mark.PARTLY_JUDGED
        )
    return {Covered.YES: Mark.TESTED, Covered.NO: Mark.NOBODY}.get(how, Mark.PARTLY)


def why(clause: Clause, row: Row) -> str:
    """Why nobody looks at a clause on a config, or can."""
    return why_unseen(clause, row.config) or NO_CHECK


def _row(config: MachineConfig, catalogue: Catalogue) -> Row:
    port = load_port(config.port)
    applying = [clause for clause in catalogue.clause if clause.applies_to(config)]
    judged = {OF_COMBINATIONS} if any(combinations(config, port)) else set()
    for variant in VARIANTS:
        features = features_of(config, port, variant)
        if features is not None:
            for check in checks_for(config, variant, features, applying):
                judged |= set(check.clauses)
    return Row(config, frozenset(port.features), frozenset(judged))


def _family(
    stem: str, clauses: Sequence[Clause], rows: Sequence[Row], tested: Sequence[Check]
) -> Iterator[str]:
    marks = {(c.id, row.config.name): mark(c, row, tested) for c in clauses for row in rows}
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
    reasons: dict[tuple[Mark, str], dict[str, list[str]]] = {}
    for clause in clauses:
        for row in rows:
            if (sign := marks[clause.id, row.config.name]) in (Mark.UNSEEN, Mark.NOBODY):
                of_clause = reasons.setdefault((sign, why(clause, row)), {})
                of_clause.setdefault(clause.id, []).append(row.config.name)
    if reasons:
        yield ""
    for (sign, reason), where in reasons.items():
        places = [_where(id_, names, rows, marks) for id_, names in where.items()]
        yield _item(f"``{sign}``: {_and(places)}: {escaped(reason)}.")
    yield ""


def _where(
    id_: str, names: Sequence[str], rows: Sequence[Row], marks: dict[tuple[str, str], Mark]
) -> str:
    """A clause, and the configs or architectures that are meant where it is not all."""
    about = [r.config for r in rows if marks[id_, r.config.name] is not Mark.NOT_FOR_IT]
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


def _item(text: str) -> str:
    return fill(text, WIDTH, subsequent_indent="  ", initial_indent="- ", break_on_hyphens=False)


def _and(words: Sequence[str]) -> str:
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))
