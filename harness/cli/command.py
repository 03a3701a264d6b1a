# SPDX-License-Identifier: MIT
"""The command ``harness``: its commands, and how their errors are reported."""

import os
import select
import sys
from typing import TextIO

import click

from harness.cli.build import build
from harness.cli.conform import conform
from harness.cli.diff import diff
from harness.cli.doctor import doctor
from harness.cli.linux import linux
from harness.cli.lists import list_
from harness.cli.matrix import matrix
from harness.cli.mount import mount
from harness.cli.port import port
from harness.cli.progress import forget
from harness.cli.record import record
from harness.cli.report import report
from harness.cli.run import run as run_guest
from harness.cli.shell import attach, shell
from harness.cli.stat import stat
from harness.cli.top import top
from harness.errors import HarnessError, HostError
from harness.units import escape
from harness.version import __version__

HOST_FAULT = HostError.exit_status
DEBUG = "HARNESS_DEBUG"


class _Commands(click.Group):
    """The commands; errors of their standard output are handled here."""

    def invoke(self, ctx: click.Context) -> object:
        """Run the command.  click itself would end with status 1 after a broken pipe."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # A pipe to gdb is no output.
            if not _reader_has_gone(sys.stdout):
                raise
            forget(sys.stdout)
            raise click.exceptions.Exit(0) from None
        except OSError as error:
            # Standard output has no name.
            if error.filename is not None:
                raise
            forget(sys.stdout)
            raise HostError(
                f"the output cannot be written: {error.strerror}", "Make room, or redirect it."
            ) from error


def _reader_has_gone(stream: TextIO) -> bool:
    poll = select.poll()
    poll.register(stream.fileno(), select.POLLOUT)
    return any(state & (select.POLLERR | select.POLLHUP) for _, state in poll.poll(0))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="harness")
@click.option("--debug", is_flag=True, help="Show a traceback with an error.")
def harness(debug: bool) -> None:
    """Trace live guest kernels under QEMU, from outside, to test ports of ftrace.

    Exit status: 0 done; 1 the guest or port is at fault; 2 used wrongly; 3 the host is at fault.
    """
    if debug:
        os.environ[DEBUG] = "1"


TRACING = (doctor, list_, build, linux, record, report, stat, diff, top)
LIVE = (shell, run_guest, attach, mount)
JUDGING = (port, conform, matrix)
for command in (*TRACING, *LIVE, *JUDGING):
    harness.add_command(command)


def run() -> None:
    """Run the command line; every error becomes a message and an exit status."""
    try:
        sys.exit(harness.main(standalone_mode=False))
    except click.ClickException as error:
        error.show()
        sys.exit(error.exit_code)
    except click.Abort as error:
        raise KeyboardInterrupt from error
    except HarnessError as error:
        _fail(error, escape(str(error), 64 * 1024), error.exit_status)
    except Exception as error:
        reason = escape(f"{type(error).__name__}: {error}")
        _fail(error, f"this is a bug of the harness: {reason}", HOST_FAULT)


def _fail(error: Exception, text: str, status: int) -> None:
    if os.environ.get(DEBUG):
        raise error
    if not isinstance(error, HarnessError):
        text += "\nRun it again with: harness --debug ..., and report what it prints."
    for note in getattr(error, "__notes__", ()):
        text += f"\n{note}"
    click.echo(f"harness: {text}", err=True)
    sys.exit(status)
