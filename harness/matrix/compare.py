# SPDX-License-Identifier: MIT
"""Compares two sets of attempts."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from harness.conformance.catalogue import order_of
from harness.matrix.result import CellOutcome, Result, all_verdicts
from harness.matrix.tools import Tool, changed

FEW = 4
"""Up to this number, verdicts of one work that change in the same cells are listed one by one."""

SLOWER = 0.01
"""Relative increase of instructions that is reported."""


@dataclass(frozen=True, slots=True)
class Change:
    """A changed verdict of a cell (name empty: how the cell ended)."""

    cell: str
    name: str
    message: str
    command: str


@dataclass(frozen=True, slots=True)
class Group:
    """Changes of one verdict in all cells of one work, which probably have one cause.

    ``message`` is that of the first one.
    """

    work: str
    name: str
    message: str
    changes: list[Change]


def groups(changes: Iterable[Change]) -> list[Group]:
    """Changes in groups, in order of the first of each."""
    found: dict[tuple[str, str], Group] = {}
    for one in changes:
        key = one.cell.rpartition("/")[2], one.name
        found.setdefault(key, Group(*key, one.message, [])).changes.append(one)
    return list(found.values())


@dataclass(frozen=True, slots=True)
class Bundle:
    """Groups of one work in the same cells, such as all the clauses that one fault breaks."""

    work: str
    groups: list[Group]

    @property
    def cells(self) -> list[str]:
        """The cells of each of its groups."""
        return [one.cell for one in self.groups[0].changes]

    @property
    def names(self) -> list[str]:
        """The verdicts."""
        return [group.name for group in self.groups]


def bundles(grouped: Iterable[Group]) -> list[Bundle]:
    """Groups in bundles if more than `FEW` belong together, and otherwise one by one."""
    found: dict[tuple[str, ...], Bundle] = {}
    for group in grouped:
        key = group.work, *sorted(one.cell for one in group.changes)
        found.setdefault(key, Bundle(group.work, [])).groups.append(group)
    split: list[Bundle] = []
    for bundle in found.values():
        many = len(bundle.groups) > FEW
        split += [bundle] if many else [Bundle(one.work, [one]) for one in bundle.groups]
    return split


@dataclass(frozen=True, slots=True)
class Slowdown:
    """Guest instructions of a cell, before and now; they repeat exactly."""

    cell: str
    before: int
    now: int
    command: str

    @property
    def growth(self) -> float:
        """0.02 for an increase of 2 %."""
        return self.now / self.before - 1


@dataclass(frozen=True, slots=True)
class Comparison:
    """``now`` compared with ``before``; each list is sorted by cell and verdict.

    ``failing`` failed before too.  ``unjudged`` are cells with errors of the host, and verdicts
    that are missing now.  ``missing`` are cells that ran before but not now, ``new`` the reverse.
    A cell that hangs or dies has no verdicts; then the cell itself is in ``broke``.  ``tools`` are
    those that changed.  ``note`` is about the order of revisions.
    """

    before: str
    now: str
    cells: int = 0
    passed: int = 0
    broke: list[Change] = field(default_factory=list)
    mended: list[Change] = field(default_factory=list)
    flaky: list[Change] = field(default_factory=list)
    failing: list[Change] = field(default_factory=list)
    slower: list[Slowdown] = field(default_factory=list)
    faster: list[Slowdown] = field(default_factory=list)
    unjudged: list[Change] = field(default_factory=list)
    missing: list[str] = field(default_factory=list)
    new: list[str] = field(default_factory=list)
    tools: list[Tool] = field(default_factory=list)
    note: str = ""

    @property
    def worse(self) -> bool:
        """Whether something broke or got slower."""
        return bool(self.broke or self.slower)


@dataclass(slots=True)
class _Seen:
    """All results of one verdict at one revision."""

    passed: Result | None = None
    failed: Result | None = None
    expected: Result | None = None
    message: str = ""
    failures: dict[str, None] = field(default_factory=dict)

    @property
    def state(self) -> str:
        if self.passed and self.failed:
            return "flaky"
        return "fail" if self.failed else "expected" if self.expected else "pass"


Key = tuple[str, str]


def compare(
    before: Sequence[Result],
    now: Sequence[Result],
    *,
    names: tuple[str, str] = ("", ""),
    slower: float = SLOWER,
    note: str = "",
) -> Comparison:
    """Compare attempts of one revision or run with those of another.

    A verdict is flaky if it passed and failed in ``now``, whatever it was before.  It broke if it
    fails now, and passed before or is new, or if a clause that failed before has one more failure.
    An expected failure has neither broken nor been mended.
    """
    old, new = _answers(before), _answers(now)
    now_cells, old_cells = _judged(now), _judged(before)
    found = Comparison(
        *names,
        cells=len({result.cell for result in now}),
        passed=sum(new[cell, ""].state == "pass" for cell in now_cells if (cell, "") in new),
        missing=sorted(old_cells - {result.cell for result in now}),
        new=sorted(now_cells - old_cells) if before else [],
        tools=changed(before, now),
        note=note,
    )
    for key in sorted(new, key=_order):
        seen = new[key]
        change = _change(key, seen)
        was = old[key].state if key in old else ""
        if _explained(key, new):
            continue
        if seen.state == "flaky":
            found.flaky.append(change)
        elif seen.state == "fail":
            more, gone = _failures(key, old[key], seen) if key in old else (None, None)
            broke = was not in ("fail", "flaky") or more
            (found.broke if broke else found.failing).append(more or change)
            found.mended.extend([gone] if gone else [])
        elif seen.state == "pass" and was in ("fail", "expected") and not _explained(key, old):
            found.mended.append(change)
    for cell in sorted({result.cell for result in now} - now_cells):
        last = [result for result in now if result.cell == cell][-1]
        found.unjudged.append(Change(cell, "", last.message, last.command))
    found.unjudged.extend(_silent(old, new, now))
    _instructions(before, now, slower, found)
    return found


def _failures(key: Key, old: _Seen, new: _Seen) -> tuple[Change | None, Change | None]:
    """New and resolved failures of a clause that failed before."""
    if not (old.failures and new.failures):
        return None, None
    came = [message for message in new.failures if message not in old.failures]
    went = [message for message in old.failures if message not in new.failures]
    base = _change(key, new)
    return (
        replace(base, message=_several("new: ", came)) if came else None,
        replace(base, message=_several("fails no more: ", went)) if went else None,
    )


def _several(title: str, messages: Sequence[str]) -> str:
    more = f", and {len(messages) - 1} more" if len(messages) > 1 else ""
    return f"{title}{messages[0]}{more}"


def _silent(
    old: Mapping[Key, _Seen], new: Mapping[Key, _Seen], now: Sequence[Result]
) -> list[Change]:
    """Verdicts that are missing now, of cells that ended."""
    ended = {r.cell: r for r in now if r.outcome in (CellOutcome.PASS, CellOutcome.FAIL)}
    missed: dict[str, list[str]] = {}
    for cell, name in sorted(old.keys() - new.keys(), key=_order):
        if cell in ended and name:
            missed.setdefault(cell, []).append(name)
    found = []
    for cell, names in missed.items():
        if len(names) == 1:
            name, message = names[0], "it has no verdict now, but had one before"
        else:
            name, message = "", f"{len(names)} that had a verdict have none now, such as {names[0]}"
        found.append(Change(cell, name, message, ended[cell].command))
    return found


def _answers(results: Iterable[Result]) -> Mapping[Key, _Seen]:
    found: dict[Key, _Seen] = {}
    for result in results:
        for one in all_verdicts(result):
            if one.verdict not in ("pass", "fail", "expected"):
                continue
            seen = found.setdefault((result.cell, one.name), _Seen())
            if one.verdict == "pass":
                seen.passed = result
            elif one.verdict == "expected":
                seen.expected = result
            else:
                seen.failed, seen.message = result, one.message
                seen.failures |= dict.fromkeys(one.failures)
    return found


def _order(key: Key) -> tuple[str, bool, tuple[int, str]]:
    """By cell: its outcome first, then its verdicts, clauses in the order of the catalogue."""
    cell, name = key
    return cell, name != "", order_of(name)


def _judged(results: Iterable[Result]) -> set[str]:
    return {result.cell for result in results if result.outcome is not CellOutcome.ERROR}


def _explained(key: Key, seen: Mapping[Key, _Seen]) -> bool:
    """Whether a cell's failure is explained by its verdicts."""
    result = seen[key].failed
    if key[1] or result is None:
        return False
    return result.outcome is CellOutcome.FAIL and any(v.verdict == "fail" for v in result.verdicts)


def _change(key: Key, seen: _Seen) -> Change:
    result = seen.failed or seen.passed or seen.expected
    assert result is not None
    return Change(*key, seen.message, result.command)


def _instructions(
    before: Sequence[Result], now: Sequence[Result], slower: float, found: Comparison
) -> None:
    old, new = _fewest(before), _fewest(now)
    for cell in sorted(old.keys() & new.keys()):
        was, result = old[cell].instructions or 0, new[cell]
        number = result.instructions or 0
        change = Slowdown(cell, was, number, result.command)
        if was and number > was * (1 + slower):
            found.slower.append(change)
        elif was and number < was * (1 - slower):
            found.faster.append(change)
    found.slower.sort(key=lambda one: (-one.growth, one.cell))
    found.faster.sort(key=lambda one: (one.growth, one.cell))


def _fewest(results: Iterable[Result]) -> dict[str, Result]:
    """The attempt of each cell with the fewest instructions, if counted."""
    found: dict[str, Result] = {}
    for result in results:
        if result.instructions is not None:
            best = found.get(result.cell)
            if best is None or result.instructions < (best.instructions or 0):
                found[result.cell] = result
    return found
