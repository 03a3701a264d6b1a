# SPDX-License-Identifier: MIT
"""harness matrix"""

import os
import re
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.matrix_options import (
    declaration_options,
    directory_path,
    file_path,
    globs_argument,
    history_option,
    matrix_option,
    own_port_option,
)
from harness.cli.matrix_progress import shown
from harness.cli.options import finite, json_option
from harness.cli.signals import orderly_end
from harness.errors import HostError, UsageError

if TYPE_CHECKING:
    from harness.matrix import Cell, Expansion
    from harness.matrix.declared import Declared
    from harness.matrix.result import Result


@click.group()
def matrix() -> None:
    """Run every machine, mode and set of compiler flags, and report what has changed.

    A cell's name is CONFIG/MODE/COMPILER-OPTIMISATION-FRAME/WORK, as in
    mips-malta/graph/gcc-O2-auto/sort.  In a CELL-GLOB a * matches slashes too; - reads names from
    standard input.
    """


@matrix.command("list")
@globs_argument
@declaration_options
@click.option("--excluded", is_flag=True, help="Show excluded cells, and why.")
@json_option
def list_(globs: tuple[str, ...], declared: "Declared", excluded: bool, as_json: bool) -> None:
    """List the cells of the matrix, or, with --excluded, those that are not run and why."""
    import json

    from harness.units import one_line

    every = declared.expand()
    if excluded:
        from fnmatch import fnmatchcase

        out = [
            one
            for one in every.excluded
            if not globs or any(fnmatchcase(one.name, glob) for glob in globs)
        ]
        if as_json:
            rows = [{"name": o.name, "reason": o.reason, "rule": o.rule} for o in out]
            click.echo(json.dumps(rows, indent=1))
            return
        for (rule, reason), number in Counter((o.rule, o.reason) for o in out).items():
            first = next(o.name for o in out if (o.rule, o.reason) == (rule, reason))
            click.echo(f"{number} cells, such as {first}: {one_line(reason)}")
        click.echo(f"{len(out)} cells are not run, {len(every.cells)} are")
        return
    cells = _pick(every, globs)
    if as_json:
        rows_ = [{**cell.as_json(), "command": declared.repeat(cell)} for cell in cells]
        click.echo(json.dumps(rows_, indent=1))
        return
    for cell in cells:
        click.echo(cell.name)


@matrix.command()
@click.argument("part", metavar="I/N")
@globs_argument
@declaration_options
def shard(part: str, globs: tuple[str, ...], declared: "Declared") -> None:
    """Print the names of the cells of part I, from 1, of N parts, for CI jobs.

    harness matrix shard 2/5 | harness matrix run -o part2 -
    """
    from harness.matrix import shard as deal

    index, _, count = part.partition("/")
    if not re.fullmatch(r"[0-9]{1,9}/[0-9]{1,9}", part):
        raise UsageError(f"{part!r} is not a part", "Write I/N with 1 <= I <= N, such as 2/5.")
    for cell in deal(_pick(declared.expand(), globs), int(index), int(count)):
        click.echo(cell.name)


@matrix.command()
@click.argument("name", metavar="CELL")
@declaration_options
@click.option(
    "-o",
    "output",
    type=directory_path,
    default=Path("matrix-cell"),
    show_default=True,
    help="The output directory.",
)
def cell(name: str, declared: "Declared", output: Path) -> None:
    """Run one cell here, without limits, to reproduce a failure from a report."""
    from harness.matrix.__main__ import main
    from harness.matrix.result import write_json

    chosen = [one for one in declared.expand().cells if one.name == name]
    if not chosen:
        raise UsageError(f"no cell of the matrix is called {name!r}", "See: harness matrix list")
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"{output} cannot be made: {error.strerror}") from error
    description = output / "cell.json"
    write_json(description, chosen[0].as_json())
    with orderly_end():
        status = main(description, output.resolve())
    click.echo(f"{name}: {'pass' if status == 0 else 'fail' if status == 1 else 'error'}")
    sys.exit(status)


@matrix.command()
@globs_argument
@declaration_options
@click.option(
    "-j", "jobs", type=click.IntRange(1, 1024), help="Parallel cells; default: number of CPUs."
)
@click.option(
    "--time-limit",
    type=click.FloatRange(min=0, min_open=True),
    callback=finite,
    metavar="SECONDS",
    help="Time limit of a cell; default: that of the matrix.",
)
@click.option(
    "--memory-limit",
    type=click.IntRange(min=64),
    metavar="MB",
    help="Memory limit of a cell's processes; default: that of the matrix.",
)
@click.option(
    "-o",
    "output",
    type=directory_path,
    default=Path("matrix-run"),
    show_default=True,
    help="The directory of the run.  Finished cells in it are not run again.",
)
@click.option("--failed", is_flag=True, help="Run cells again that did not pass.")
@click.option("--changed-since", metavar="REV", help="Only cells affected by changes since then.")
@click.option("--revision", metavar="REV", help="The tested revision; default: git's.")
@history_option
def run(
    globs: tuple[str, ...],
    declared: "Declared",
    jobs: int | None,
    time_limit: float | None,
    memory_limit: int | None,
    output: Path,
    failed: bool,
    changed_since: str | None,
    revision: str | None,
    history: Path | None,
) -> None:
    """Run cells in parallel, each in its own process and directory.

    Ctrl-C ends it; the same command continues it.
    """
    from harness.matrix import rundir, runner
    from harness.matrix.child import CellLimits
    from harness.matrix.report import outcomes
    from harness.matrix.versions import cells_changed_since, tested_port, versions, work_tree
    from harness.matrix.versions import revision as current_revision
    from harness.matrix.work import check_expected
    from harness.units import MIB, one_line

    limits = declared.matrix.limits
    chosen = _pick(declared.expand(), globs)
    check_expected(chosen)
    tested = tested_port(chosen)
    tree = work_tree(tested)
    if changed_since:
        chosen = cells_changed_since(chosen, tree, changed_since)
    rev = revision or current_revision(tree, tested)
    where = one_line(str(output))
    with orderly_end(), rundir.claimed(output):
        run_ = rundir.open_run(output, rev)
        done = rundir.results(output)
        todo = rundir.failed(chosen, done) if failed else rundir.unfinished(chosen, done)
        click.echo(f"{len(todo)} of {len(chosen)} cells to run, revision {rev}, in {where}")
        with shown(len(todo)) as tell:
            plan = runner.Plan(
                directory=output,
                run=run_,
                jobs=jobs or len(os.sched_getaffinity(0)),
                limits=CellLimits(time_limit or limits.time, (memory_limit or limits.memory) * MIB),
                versions=versions,
                repeat=declared.repeat,
                command=runner.cell_command,
                tell=tell,
            )
            runner.run_cells(todo, plan)
        every = rundir.results(output)
    _remember(history or declared.history, [one for attempts in every.values() for one in attempts])
    last = [every[one.name][-1] for one in chosen if one.name in every]
    click.echo(f"{len(last)} cells: {outcomes(last) or 'nothing to do'}")
    sys.exit(_status(last))


@matrix.command()
@click.argument("directories", nargs=-1, required=True, type=directory_path, metavar="DIR...")
@click.option(
    "-o", "output", required=True, type=directory_path, help="The directory to merge into."
)
@matrix_option
@own_port_option
@history_option
def merge(
    directories: tuple[Path, ...],
    output: Path,
    file: Path | None,
    port: Path | None,
    history: Path | None,
) -> None:
    """Merge the runs of several shards of one revision into one directory and the history.

    Results that are in several of them are counted once.
    """
    from harness.matrix import rundir
    from harness.matrix.report import outcomes

    found = rundir.merge(directories, output)
    _remember(history or _declared(file, port).history, found)
    last = list({result.cell: result for result in found}.values())
    click.echo(f"{len(last)} cells: {outcomes(last)}")


@matrix.command()
@matrix_option
@own_port_option
@history_option
@click.option("--since", metavar="REV|RUN", help="The baseline; default: the previous revision.")
@click.option("--at", metavar="REV|RUN", help="What to compare; default: the last one.")
@click.option(
    "--slower",
    type=click.FloatRange(min=0, max=1000),
    callback=finite,
    default=1.0,
    show_default=True,
    metavar="PERCENT",
    help="Report slowdowns, in guest instructions, from this on.",
)
@click.option("--markdown", type=file_path, metavar="FILE", help="Write the report as Markdown.")
@click.option("--junit", type=file_path, metavar="FILE", help="Write the results as JUnit XML.")
@click.option(
    "--html",
    "pages",
    type=directory_path,
    metavar="DIR",
    help="Write static pages: grids, trends, and a page per cell.",
)
@click.option(
    "--run",
    "directory",
    type=directory_path,
    metavar="DIR",
    help="The directory of the run, with logs and traces for the pages.",
)
@click.option(
    "--tree",
    type=directory_path,
    metavar="DIR",
    help="The git work tree with the revisions; default: that of the port or of the harness.",
)
def report(
    file: Path | None,
    port: Path | None,
    history: Path | None,
    since: str | None,
    at: str | None,
    slower: float,
    markdown: Path | None,
    junit: Path | None,
    pages: Path | None,
    directory: Path | None,
    tree: Path | None,
) -> None:
    """Report what broke, was mended, is flaky, or got slower in guest instructions.

    Revisions are in git's order, or by time if git does not know them.  Flaky means passed and
    failed at one revision.  The exit status is 1 if something broke or got slower.
    """
    from harness.files import atomic_file
    from harness.matrix import report as reports
    from harness.matrix.compare import compare
    from harness.matrix.history import History
    from harness.matrix.order import timeline
    from harness.matrix.rundir import read_run
    from harness.matrix.versions import work_tree

    if directory is not None and read_run(directory) is None:
        raise UsageError(f"{directory} holds no run", "Give what harness matrix run -o made.")
    declared = _declared(file, port)
    tested = declared.matrix.port
    tree = tree or work_tree(Path(tested) if tested else None)
    with History(history or declared.history) as base:
        order = timeline(base.runs(), tree)
        (before, old), (now, new) = reports.choose(base, since, at, order)
        past = base.attempts() if pages is not None else []
    names = (before, now)
    found = compare(old, new, names=names, slower=slower / 100, note=order.note)
    for path, text in ((markdown, reports.markdown(found)), (junit, reports.junit(new))):
        if path is not None:
            with atomic_file(path) as stream:
                stream.write(text.encode())
    if pages is not None:
        from harness.matrix.html import write_pages

        write_pages(pages, found, new, past, directory)
    for line in reports.lines(found):
        click.echo(line)
    sys.exit(1 if found.worse else 0)


def _declared(file: Path | None, port: Path | None) -> "Declared":
    from harness.matrix.declared import Declared

    return Declared(file, port)


def _pick(every: "Expansion", globs: Sequence[str]) -> list["Cell"]:
    from harness.matrix import pick

    if "-" not in globs:
        return pick(every.cells, globs)
    names = [line.strip() for line in sys.stdin]
    wanted = [*(glob for glob in globs if glob != "-"), *filter(None, names)]
    # An empty part is not the whole matrix.
    return pick(every.cells, wanted) if wanted else []


def _remember(history: Path, found: Sequence["Result"]) -> None:
    from harness.matrix.history import History

    with History(history) as base:
        base.add(found)


def _status(last: Sequence["Result"]) -> int:
    verdicts = {result.outcome.verdict for result in last}
    return 1 if "fail" in verdicts else HostError.exit_status if "error" in verdicts else 0
