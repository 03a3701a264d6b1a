# SPDX-License-Identifier: MIT
"""harness port"""

import click


@click.group()
def port() -> None:
    """Make port directories, which the other commands take with --port."""
