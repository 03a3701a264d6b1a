# SPDX-License-Identifier: MIT
"""A comparison as text, Markdown, and JUnit XML."""

from collections.abc import Iterator, Sequence
from xml.etree import ElementTree as Xml

from harness.errors import UsageError
from harness.matrix.compare import Change, Comparison, Slowdown, bundles, groups
from harness.matrix.history import History
from harness.matrix.order import Timeline, timeline
from harness.matrix.result import CellOutcome, Result, all_verdicts, shown
from harness.matrix.rundir import Run
from harness.matrix.tools import split
from harness.units import KIB, one_line

SHOWN = 200
"""Maximum entries of a list in Markdown."""

NAMED = 10
"""Maximum number of named cells of a group."""

WIDEST = 64 * KIB
"""Maximum length of a line, with the command that repeats a failure."""


def choose(
    history: History, since: str | None = None, at: str | None = None, past: Timeline | None = None
) -> tuple[tuple[str, list[Result]], tuple[str, list[Result]]]:
    """The names and attempts to compare, before and now.

    ``since`` and ``at`` are a revision, its beginning, or a run.  ``at`` is by default the last
    revision, or the last run if ``since`` is a run.  ``since`` is by default the revision before
    that, if any.  ``past`` is their order, by default by time.

    If tools changed and the revision did not, "before" is that revision with the previous tools.

    Raises:
        UsageError: there is no such revision or run, or no history at all.
    """
    past = past or timeline(history.runs(), None)
    runs, order = past.runs, past.revisions
    if not runs:
        raise UsageError(f"the history {history.file} is empty", "Run: harness matrix run")
    last = order[-1]
    if at is None and any(run.id == since for run in runs):
        at = runs[-1].id
    name, attempts = _named(history, runs, at) if at else (last, history.attempts(revision=last))
    now, earlier = split(attempts)
    if since:
        return _named(history, runs, since), (name, now)
    revision, run = attempts[-1].revision, attempts[-1].run
    if earlier:
        again = {one.cell for one in earlier}
        same = [one for one in now if one.cell not in again and one.run != run]
        return (revision, earlier + same), (name, now)
    place = order.index(revision)
    if place == 0:
        return ("", []), (name, now)
    previous = order[place - 1]
    return (previous, history.attempts(revision=previous)), (name, now)


def _named(history: History, runs: Sequence[Run], name: str) -> tuple[str, list[Result]]:
    if any(run.id == name for run in runs):
        return name, history.attempts(run=name)
    revisions = {run.revision for run in runs}
    matching = [name] if name in revisions else sorted(r for r in revisions if r.startswith(name))
    if len(matching) != 1:
        raise UsageError(
            f"the history has {'no' if not matching else 'more than one'} revision or run {name!r}",
            f"It has: {', '.join(sorted(revisions)[-10:])}",
        )
    return matching[0], history.attempts(revision=matching[0])


def summary(found: Comparison) -> str:
    """A one-line summary."""
    against = f" against {found.before}" if found.before else ", nothing to compare with"
    return (
        f"{found.now}{against}: {found.passed} of {found.cells} cells passed; "
        f"{len(found.broke)} broke, {len(found.mended)} mended, {len(found.flaky)} flaky, "
        f"{len(found.slower)} slower, {len(found.failing)} failing as before, "
        f"{len(found.unjudged)} not judged, {len(found.missing)} not run"
    )


def lines(found: Comparison) -> Iterator[str]:
    """For a terminal: the changes, with the commands that repeat them."""
    yield from (one_line(line, WIDEST) for line in _lines(found))


def _lines(found: Comparison) -> Iterator[str]:
    for title, entries in changes(found):
        for bundle in bundles(groups(entries)):
            group, *more = bundle.groups
            one, *others = group.changes
            yield f"{title}: {_title(one)}{_because(one)}"
            if one.command and title != "mended":
                yield f"    {one.command}"
            if others:
                yield f"    and in {len(others)} more, such as {others[0].cell}"
            if more:
                yield f"    and {len(more)} more of {bundle.work} there: {_names(bundle.names[1:])}"
    for title, numbers in (("slower", found.slower), ("faster", found.faster)):
        for number in numbers[:NAMED]:
            yield f"{title}: {number.cell}: {_numbers(number)}"
            if title == "slower":
                yield f"    {number.command}"
        if len(numbers) > NAMED:
            yield f"{title}: {len(numbers) - NAMED} more, the last by {numbers[-1].growth:+.1%}"
    for cell in found.missing[:NAMED]:
        yield f"not run: {cell}"
    if len(found.missing) > NAMED:
        yield f"not run: {len(found.missing) - NAMED} more"
    for tool in found.tools:
        yield f"changed: {shown(tool.program)}: {shown(tool.now)}; before: {shown(tool.before)}"
    if found.note:
        yield f"order: {found.note}"
    yield summary(found)


def markdown(found: Comparison) -> str:
    """For a merge request or a mail."""
    parts = [f"# Matrix at `{_code(found.now)}`\n", f"{_plain(summary(found))}\n"]
    if found.note:
        parts.append(f"Order: {_plain(found.note)}\n")
    if found.tools:
        parts.append("| changed | before | now |\n|---|---|---|")
        parts += [
            f"| {_plain(one.program)} | {_plain(one.before)} | {_plain(one.now)} |"
            for one in found.tools
        ]
        parts.append("")
    for title, entries in changes(found):
        if entries:
            parts.append(f"## {title.capitalize()} ({len(entries)})\n")
            together = bundles(groups(entries))
            for bundle in together[:SHOWN]:
                group, *more = bundle.groups
                one, *others = group.changes
                again = f"  \n  `{_code(one.command)}`" if one.command else ""
                parts.append(f"- `{_code(_title(one))}`{_plain(_because(one))}{again}")
                parts += [f"  - `{_code(other.cell)}`" for other in others[:NAMED]]
                parts += [f"  - {len(others) - NAMED} more"] if len(others) > NAMED else []
                if more:
                    names = _plain(_names(bundle.names[1:]))
                    parts.append(
                        f"  - and {len(more)} more of {_plain(bundle.work)} there: {names}"
                    )
            parts.append(_rest(together))
    for title, numbers in (("Slower", found.slower), ("Faster", found.faster)):
        if numbers:
            parts.append(f"## {title} ({len(numbers)})\n")
            parts.append("| cell | before | now | change |\n|---|---:|---:|---:|")
            parts += [
                f"| `{_code(one.cell)}` | {one.before} | {one.now} | {one.growth:+.1%} |"
                for one in numbers[:SHOWN]
            ]
            parts.append(_rest(numbers))
    for title, cells in (("Not run", found.missing), ("New", found.new)):
        if cells:
            parts.append(f"## {title} ({len(cells)})\n")
            parts += [f"- `{_code(cell)}`" for cell in cells[:SHOWN]]
            parts.append(_rest(cells))
    return "\n".join(parts).rstrip() + "\n"


def junit(results: Sequence[Result]) -> str:
    """A test suite for the last attempt of each cell, with a test case for each verdict."""
    root = Xml.Element("testsuites")
    for result in sorted({result.cell: result for result in results}.values(), key=_cell):
        suite = Xml.SubElement(
            root, "testsuite", name=_xml(result.cell), time=f"{result.seconds:.3f}"
        )
        counts = {"failure": 0, "error": 0, "skipped": 0}
        verdicts = list(all_verdicts(result))
        for at, one in enumerate(verdicts):
            case = Xml.SubElement(
                suite,
                "testcase",
                classname=_xml(result.cell),
                name=_xml(one.name or "the cell"),
                time=f"{result.seconds if at == 0 else 0:.3f}",
            )
            if one.verdict == "pass":
                continue
            kind = {"fail": "failure", "error": "error"}.get(one.verdict, "skipped")
            counts[kind] += 1
            said = one.message or (result.outcome if not one.name else one.verdict)
            detail = Xml.SubElement(case, kind, message=_xml(f"{one.verdict}: {said}"))
            if kind != "skipped":
                detail.text = f"{_xml(said)}\nrepeat: {_xml(result.command)}"
        suite.set("tests", str(len(verdicts)))
        suite.set("failures", str(counts["failure"]))
        suite.set("errors", str(counts["error"]))
        suite.set("skipped", str(counts["skipped"]))
    return (
        '<?xml version="1.0" encoding="utf-8"?>\n' + Xml.tostring(root, encoding="unicode") + "\n"
    )


def outcomes(results: Sequence[Result]) -> str:
    """The outcomes of a run's cells in one line."""
    counts = dict.fromkeys(CellOutcome, 0)
    for result in results:
        counts[result.outcome] += 1
    return ", ".join(f"{number} {outcome}" for outcome, number in counts.items() if number)


def changes(found: Comparison) -> Sequence[tuple[str, list[Change]]]:
    """The changes by title, the worst first."""
    return (
        ("broke", found.broke),
        ("mended", found.mended),
        ("flaky", found.flaky),
        ("not judged", found.unjudged),
        ("failing as before", found.failing),
    )


def _cell(result: Result) -> str:
    return result.cell


def _title(change: Change) -> str:
    return f"{change.cell} {change.name}".rstrip()


def _because(change: Change) -> str:
    return f": {shown(change.message)}" if change.message else ""


def _names(names: Sequence[str]) -> str:
    more = f" and {len(names) - NAMED} more" if len(names) > NAMED else ""
    return ", ".join(shown(name) for name in names[:NAMED]) + more


def _numbers(one: Slowdown) -> str:
    return f"{one.before} to {one.now} guest instructions, {one.growth:+.1%}"


def _rest(entries: Sequence[object]) -> str:
    more = len(entries) - SHOWN
    return f"\n{more} more.\n" if more > 0 else ""


def _plain(text: str) -> str:
    """Text on one line, escaped for Markdown and HTML."""
    flat = one_line(" ".join(text.split()), WIDEST)
    return "".join(f"\\{c}" if c in "\\`*_{}[]<>()#+!|~&" else c for c in flat)


def _code(text: str) -> str:
    flat = one_line(" ".join(text.split()), WIDEST)
    return flat.replace("`", "'").replace("|", "\\|")


def _xml(text: str) -> str:
    """Text without characters that XML 1.0 does not allow."""
    return one_line(text, WIDEST)
