# SPDX-License-Identifier: MIT
"""The command ``harness``."""

import sys


def main() -> None:
    """Run the command line.  What it needs is imported late: Ctrl-C may come in the meantime."""
    try:
        from harness.cli.command import run

        run()
    except KeyboardInterrupt:
        sys.stderr.write("harness: interrupted\n")
        sys.exit(130)
