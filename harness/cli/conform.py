# SPDX-License-Identifier: MIT
"""harness conform"""

import os
import shlex
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import click

from harness.cli.options import cflags_option
from harness.cli.progress import in_colours, progress
from harness.errors import HarnessError, UsageError

if TYPE_CHECKING:
    from harness.conformance.expected import ExpectFile
    from harness.conformance.verdict import Report
    from harness.guest import Guest
    from harness.kbuild import GuestSpec
    from harness.pages import Write


@click.command()
@click.option(
    "-c", "--config", "configs", multiple=True, metavar="CONFIG", help="A machine config; repeat."
)
@click.option("--port", metavar="DIR", help="The port to judge; the configs' own otherwise.")
@cflags_option
@click.option(
    "--mutant", "mutants", multiple=True, metavar="ID|all", help="A planted fault to judge; repeat."
)
@click.option(
    "--clause",
    "clauses",
    multiple=True,
    metavar="ID",
    help="Only this clause, or C9 for all of it; repeat.",
)
@click.option(
    "--json", "json_file", metavar="FILE", help="Write all results as JSON; - for stdout."
)
@click.option("--junit", "junit_file", metavar="FILE", help="Write a JUnit report; - for stdout.")
@click.option(
    "--html",
    "pages",
    metavar="DIR",
    help="Write static pages: findings with source and disassembly, clauses over configs.",
)
@click.option(
    "--expect",
    "expect_file",
    metavar="FILE",
    help="The failures that the port is known to have; expect.toml in its directory otherwise.",
)
@click.option(
    "--write-expect",
    "new_file",
    metavar="FILE",
    help="Write such a file of what fails; reasons that are there already are kept.",
)
@click.option(
    "--next",
    "next_only",
    is_flag=True,
    help="Judge one step of writing a port after the other, and say what to do first.",
)
@click.option(
    "--replay",
    "enter",
    is_flag=True,
    help="Record the first failure, and open the session in its replay, at the instruction that is "
    "wrong.",
)
def conform(
    configs: tuple[str, ...],
    port: str | None,
    cflags: tuple[str, ...],
    mutants: tuple[str, ...],
    clauses: tuple[str, ...],
    json_file: str | None,
    junit_file: str | None,
    pages: str | None,
    expect_file: str | None,
    new_file: str | None,
    next_only: bool,
    enter: bool,
) -> None:
    """Judge a port by every clause of the specification, on one config or several.

    Without -c these are all configs that the port is for.  With --mutant the reference port is
    judged with a fault in it, which has to be found: the exit status is 1 if one is not.  Failures
    that are expected do not count.
    """
    from harness.process import workers

    # They import the same as this process, at the same time.
    with workers("" if mutants or next_only else "harness.conformance.run") as pool:
        from harness.conformance.expect_writer import written
        from harness.conformance.expected import apply_expected
        from harness.conformance.reports.colours import coloured
        from harness.conformance.reports.listing import add_listings
        from harness.conformance.reports.report import as_json, as_junit
        from harness.conformance.reports.summary import summary_lines
        from harness.conformance.run import conform as judge

        _check_clauses(clauses)
        chosen = _judged(configs, port, clauses, cflags)
        if next_only and (mutants or json_file or junit_file or pages or new_file):
            raise UsageError(
                "--next goes with -c, --port, --clause, --cflags and --expect only",
                "Leave it out for a whole report.",
            )
        if enter and (mutants or json_file or junit_file or pages or new_file or next_only):
            raise UsageError(
                "--replay goes with -c, --port, --clause, --cflags and --expect only",
                "Leave it out for a whole report.",
            )
        if enter:
            from harness.replay import check_replayable

            if len(chosen) != 1:
                raise UsageError("--replay goes into one guest", "Name its config: -c CONFIG.")
            check_replayable(chosen[0])
        if mutants:
            others = port or cflags or clauses or junit_file or expect_file or new_file
            sys.exit(_kill(chosen, mutants, json_file, pages, others))
        expected = _expected(chosen, expect_file, new_file)
        command = ["harness", "conform", *(["--port", port] if port else [])]
        command += [f"--cflags={shlex.join(cflags)}"] if cflags else []
        if next_only:
            sys.exit(_next(chosen, clauses, expected, command))
        reports: list[Report] = []
        with (
            _pages(pages) as write_page,
            _outputs(json_file, junit_file, new_file) as (write_json, write_junit, write_expected),
        ):
            with progress() as tell:
                for report, spec in zip(judge(chosen, clauses, tell, pool), chosen, strict=True):
                    known = expected.get(spec.port.directory)
                    if known is not None and new_file is None:
                        apply_expected(report, known)
                    if json_file is not None or write_page is not None:
                        add_listings(report.findings, spec)
                    reports.append(report)
                    if "-" not in (json_file, junit_file, new_file):
                        file = _full_report(report, command)
                        lines = summary_lines(report, command, file)
                        tell.print(map(coloured, lines) if in_colours() else lines)
            write_json(as_json(reports, command))
            write_junit(as_junit(reports, command))
            if write_page is not None:
                _write_pages(write_page, reports, command, (configs, clauses))
            if new_file is not None:
                own = chosen[0].port
                write_expected(written(own.name, reports, expected.get(own.directory)))
    if "-" not in (json_file, junit_file, new_file):
        _tell_pages(pages)
    if enter:
        _enter(chosen[0], reports[0])
    failed = new_file is None and any(report.failed for report in reports)
    sys.exit(1 if failed else 0)


def _enter(spec: "GuestSpec", report: "Report") -> None:
    """The session in a replay of the first finding that is not expected."""
    from harness.cli.shell import run_session
    from harness.config.resources import state_directory
    from harness.conformance.recorded import record_failure, replayed

    finding = next((one for one in report.findings if not report.is_known(one)), None)
    if finding is None:
        return
    trace = state_directory() / "conform" / f"{report.port}-{report.config}.dat"
    with progress() as tell:
        tell(f"recording {finding.first.check}")
        record_failure(spec, finding, trace)

    @contextmanager
    def opened() -> Iterator["Guest"]:
        with ExitStack() as stack:
            with progress() as tell:
                guest, found = stack.enter_context(replayed(trace, finding, tell))
                tell.print([f"{finding.clause}: {found}"])
            yield guest

    run_session(opened, None)


def _next(
    specs: Sequence["GuestSpec"],
    clauses: Sequence[str],
    expected: Mapping[Path, "ExpectFile"],
    command: Sequence[str],
) -> int:
    """What to do first, on the first config where there is something to mend."""
    from harness.conformance.next import next_lines, next_step

    with progress() as tell:
        for spec in specs:
            found = next_step(spec, clauses, expected.get(spec.port.directory), tell)
            tell.print(next_lines(found, command))
            if found.failed:
                return 1
    return 0


def _write_pages(
    write: "Write",
    reports: Sequence["Report"],
    command: Sequence[str],
    named: tuple[Sequence[str], Sequence[str]],
) -> None:
    """Pages of what the JSON has; ``named`` are the configs and clauses that were asked for."""
    from harness.conformance.reports.html import write_pages
    from harness.conformance.reports.report import as_object
    from harness.conformance.reports.report_file import read_reports

    asked = _with(command, ("-c", named[0]), ("--clause", named[1]))
    write_pages(write, read_reports(as_object(reports, command)), asked, time.time())


def _with(command: Sequence[str], *options: tuple[str, Sequence[str]]) -> str:
    """The command line with options that are repeated for each of their values."""
    more = [word for option, values in options for value in values for word in (option, value)]
    return shlex.join([*command, *more])


def _tell_pages(directory: str | None) -> None:
    from harness.units import one_line

    if directory is not None:
        click.echo(f"pages: {one_line(str(Path(directory, 'index.html')))}")


def _full_report(report: "Report", command: Sequence[str]) -> str:
    """Write all that was seen to a file of the user's, which the next run replaces; its name.

    Nothing where there is no place for it.
    """
    from harness.config.resources import state_directory
    from harness.conformance.reports.report import lines
    from harness.files import atomic_file

    try:
        file = state_directory() / "conform" / f"{report.port}-{report.config}.txt"
        file.parent.mkdir(parents=True, exist_ok=True)
        with atomic_file(file) as stream:
            stream.writelines(f"{line}\n".encode() for line in lines(report, command))
    except (OSError, HarnessError):
        return ""
    return str(file)


def _kill(
    specs: Sequence["GuestSpec"],
    mutants: Sequence[str],
    json_file: str | None,
    pages: str | None,
    others: object,
) -> int:
    from harness.mutation.kill_table import kill_table, table_json, table_lines

    if others:
        raise UsageError(
            "--mutant goes with -c, --json and --html only",
            "A mutant is one of a reference port and names its clauses itself.",
        )
    with _pages(pages) as write_page, _outputs(json_file) as [write_json]:
        with progress() as tell:
            outcomes = kill_table(specs, mutants, tell)
        if json_file != "-":
            click.echo("\n".join(table_lines(outcomes)))
        write_json(table_json(outcomes))
        if write_page is not None:
            from harness.mutation.html import write_pages

            configs = [spec.config.name for spec in specs]
            asked = _with(["harness", "conform"], ("-c", configs), ("--mutant", mutants))
            write_pages(write_page, outcomes, asked, time.time())
    if json_file != "-":
        _tell_pages(pages)
    return 0 if all(outcome.right for outcome in outcomes) else 1


def _expected(
    specs: Sequence["GuestSpec"], file: str | None, new_file: str | None
) -> dict[Path, "ExpectFile"]:
    """What is known of each port, by its directory."""
    from harness.config.names import user_path
    from harness.conformance.expected import find_expected, load_expected

    ports = {spec.port.directory: spec.port for spec in specs}
    if new_file is None:
        given = None if file is None else user_path(file)
        found = {place: find_expected(port, given) for place, port in ports.items()}
        return {place: one for place, one in found.items() if one is not None}
    if file is not None:
        raise UsageError(
            "--expect and --write-expect do not go together",
            "--write-expect keeps the reasons of the file that it writes.",
        )
    if len(ports) > 1:
        names = ", ".join(port.name for port in ports.values())
        raise UsageError(
            f"--write-expect is for one port, and these are {names}", "Choose one: --port, or -c."
        )
    old = Path(new_file)
    if new_file == "-" or not old.exists():
        return {}
    return {place: load_expected(old, port) for place, port in ports.items()}


def _check_clauses(wanted: Sequence[str]) -> None:
    from harness.conformance import load_catalogue

    known = {name for clause in load_catalogue().clause for name in (clause.id, clause.stem)}
    for name in wanted:
        if name not in known:
            raise UsageError(f"there is no clause {name!r}", "See: harness list clauses")


def _judged(
    names: Sequence[str], port: str | None, clauses: Sequence[str], cflags: Sequence[str]
) -> list["GuestSpec"]:
    """On the configs that are named, or all on which one of the clauses can be kept or broken."""
    from harness.config import list_configs, load_config, load_port
    from harness.conformance.engine import select
    from harness.conformance.variants import suite_spec

    own = None if port is None else load_port(port)
    chosen = [load_config(name) for name in dict.fromkeys(names or list_configs())]
    if not names:
        chosen = [one for one in chosen if select(one, clauses) and (own is None or own.fits(one))]
    if own is not None and not chosen:
        raise UsageError(f"there is no config for the port {own.name}", "Name one: -c CONFIG.")
    return [suite_spec(config, own, cflags) for config in chosen]


@contextmanager
def _pages(directory: str | None) -> Iterator["Write | None"]:
    """What writes a page into the directory, which is made before the work begins.

    None where there is none.
    """
    from harness.config.names import user_path
    from harness.pages import pages_directory

    if directory is None:
        yield None
        return
    if directory == "-":
        raise UsageError("pages are a directory, and not standard output", "Give a directory.")
    with pages_directory(user_path(directory)) as write:
        yield write


@contextmanager
def _outputs(*files: str | None) -> Iterator[list[Callable[[str], None]]]:
    """What writes a text to each of the files, or nowhere; they are made before the work begins.

    They appear when the block ends well.
    """
    named = [file for file in files if file is not None]
    places = [file if file == "-" else os.path.realpath(file) for file in named]
    if len(set(places)) < len(places):
        raise UsageError(f"two reports would be written to {named[0]}", "Give each a file.")
    with ExitStack() as stack:
        yield [_writer(file, stack) for file in files]


def _writer(file: str | None, stack: ExitStack) -> Callable[[str], None]:
    from harness.files import atomic_file

    if file is None:
        return lambda _text: None
    if file == "-":
        return click.echo
    stream = stack.enter_context(atomic_file(Path(file)))

    def write(text: str) -> None:
        stream.write(text.encode())

    return write
