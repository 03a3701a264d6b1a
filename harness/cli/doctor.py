# SPDX-License-Identifier: MIT
"""harness doctor"""

import click

from harness.cli.progress import in_colours
from harness.errors import HostError


@click.command()
@click.option(
    "-c",
    "--config",
    "configs",
    multiple=True,
    metavar="CONFIG",
    help="Only what this machine config needs; repeat.",
)
def doctor(configs: tuple[str, ...]) -> None:
    """Print what is installed, what is missing, and the command that installs it.

    Untested versions of installed programs, such as a newer QEMU, are noted; the exit status is 0
    nevertheless.
    """
    from harness.config import load_config
    from harness.doctor import check_all, mend_command

    checks = check_all([load_config(name) for name in configs] if configs else None)
    width = max(len(check.name) for check in checks)
    for check in checks:
        word, colour = ("ok", "green") if check.ok else ("MISSING", "red")
        _print(word, colour, f"{check.name:{width}}  {check.detail}")
    for note in dict.fromkeys(check.note for check in checks if check.note):
        _print("note", "yellow", note)
    command = mend_command(checks)
    if command:
        click.echo(f"\nTo install what is missing:\n  {command}")
    if not all(check.ok for check in checks):
        raise click.exceptions.Exit(HostError.exit_status)


def _print(word: str, colour: str, text: str) -> None:
    shown = click.style(word, fg=colour) if in_colours() else word
    click.echo(f"{shown}{'':{8 - len(word)}}{text}")
