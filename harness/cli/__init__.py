# SPDX-License-Identifier: MIT
"""The command ``harness``."""

import os
import sys

STREAMS = (("stdin", "r"), ("stdout", "w"), ("stderr", "w"))


def main() -> None:
    """Run the command line.  Most imports are late, as Ctrl-C may come before."""
    _open_closed_streams()
    try:
        from harness.cli.command import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("harness: interrupted\n")
        sys.exit(130)


def _open_closed_streams() -> None:
    """Open the null device in place of each closed standard stream.

    Otherwise Python has no such stream, and the first opened file gets its number.
    """
    for number, (name, mode) in enumerate(STREAMS):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)
        if getattr(sys, name) is None:
            setattr(sys, name, open(number, mode, closefd=False))  # noqa: SIM115 (for good)
