# SPDX-License-Identifier: MIT
"""harness shell and harness attach"""

import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, ExitStack, contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, TextIO

import click

from harness.cli.options import GuestOptions, guest_options, optional_config_option, tick_option
from harness.cli.progress import progress
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.guest import Guest
    from harness.kbuild import GuestSpec
    from harness.shell.session import Judge

script_option = click.option(
    "-x",
    "script",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="Execute the lines of FILE and exit, also at the first error.  - is standard input.",
)


@click.command()
@click.option(
    "--replay",
    metavar="FILE",
    is_eager=True,
    type=click.Path(path_type=Path),
    help="Go into the run of a trace.dat of harness record --replayable.",
)
@optional_config_option("replay")
@guest_options()
@tick_option
@script_option
def shell(
    replay: Path | None,
    config: str,
    guest: GuestOptions,
    tick: int | None,
    script: Path | None,
) -> None:
    """Boot a guest and work with it at a prompt: verbs of tracefs and trace-cmd, and all of gdb.

    The guest is stopped before its workload.  `help` lists the verbs; all other lines are gdb's.
    If standard input is not a terminal, its lines are a script.

    With --replay the guest repeats a recorded run, and goes to any event of it, also backwards.

    Example: harness shell -c mips-malta
    """
    if replay is not None:
        run_session(partial(_open_replay, replay), script)
        return
    from harness.guest import start

    @contextmanager
    def boot(name: str) -> "Iterator[Guest]":
        with ExitStack() as stack:
            with progress() as tell:
                started = stack.enter_context(
                    start(guest.startable(name), tick=tick, progress=tell)
                )
            yield started

    run_session(partial(boot, config), script, restart=boot, judge=partial(_judge, guest.port))


@contextmanager
def _open_replay(trace: Path) -> "Iterator[Guest]":
    from harness.replay import open_replay

    with ExitStack() as stack:
        with progress() as tell:
            guest = stack.enter_context(open_replay(trace, tell))
        yield guest


def _judge(
    port: str | None, spec: "GuestSpec", clauses: Sequence[str], show: Callable[[str], None]
) -> None:
    from harness.conformance.reports.summary import summary_lines
    from harness.conformance.run import conform
    from harness.conformance.variants import suite_spec

    command = ["harness", "conform", *(["--port", port] if port else [])]
    for report in conform([suite_spec(spec.config, spec.port)], clauses, show):
        for line in summary_lines(report, command):
            show(line)


@click.command()
@click.option(
    "--elf",
    required=True,
    metavar="ELF",
    type=click.Path(path_type=Path),
    help="The guest's image, or a Linux kernel's vmlinux, with its debug information.",
)
@click.option("--gdb", "endpoint", metavar="SOCKET|HOST:PORT", help="QEMU's debug stub.")
@click.option(
    "--core",
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="A memory dump of a Linux kernel: an ELF core of QEMU's dump-guest-memory.",
)
@script_option
def attach(elf: Path, endpoint: str | None, core: Path | None, script: Path | None) -> None:
    """Work with a running guest, or with a memory dump: the same prompt on it.

    A guest is stopped meanwhile, and continues afterwards with its current tracing.  Of a dump
    everything can be read, and the events in its ring buffer written to a file: record -o FILE.

    Example: harness attach --elf vmlinux --gdb localhost:1234
    """
    from harness.guest import attach as attach_to
    from harness.guest import open_dump

    if core is not None and endpoint is None:
        run_session(lambda: open_dump(elf, core), script)
    elif endpoint is not None and core is None:
        run_session(lambda: attach_to(elf, endpoint), script)
    else:
        raise UsageError("Attach to what?", "Give either --gdb or --core.")


def run_session(
    start: "Callable[[], AbstractContextManager[Guest]]",
    script: Path | None,
    *,
    restart: "Callable[[str], AbstractContextManager[Guest]] | None" = None,
    judge: "Judge | None" = None,
) -> None:
    """The prompt, or a script: a file, or standard input that is no terminal."""
    from harness.shell import Session, run_prompt, run_script

    if script is None and not sys.stdin.isatty():
        script = Path("-")
    session = Session(start, restart=restart, judge=judge)
    try:
        if script is None:
            run_prompt(session)
        elif str(script) == "-":
            run_script(session, sys.stdin, "standard input")
        else:
            with _open(script) as lines:
                run_script(session, lines, str(script))
    finally:
        session.close()


def _open(script: Path) -> TextIO:
    try:
        return script.open(encoding="utf-8", errors="backslashreplace")
    except OSError as error:
        raise UsageError(f"{script} cannot be read: {error.strerror}") from error
