# SPDX-License-Identifier: MIT
"""harness doctor"""

import click

from harness.errors import HostError


@click.command()
def doctor() -> None:
    """Print what is installed, what is missing, and the command that installs it.

    Untested versions of installed programs, such as a newer QEMU, are noted; the exit status is 0
    nevertheless.
    """
    from harness.doctor import check_all, mend_command

    checks = check_all()
    width = max(len(check.name) for check in checks)
    for check in checks:
        click.echo(f"{'ok' if check.ok else 'MISSING':8}{check.name:{width}}  {check.detail}")
    for note in dict.fromkeys(check.note for check in checks if check.note):
        click.echo(f"{'note':8}{note}")
    command = mend_command(checks)
    if command:
        click.echo(f"\nTo install what is missing:\n  {command}")
    if not all(check.ok for check in checks):
        raise click.exceptions.Exit(HostError.exit_status)
