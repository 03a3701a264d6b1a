# SPDX-License-Identifier: MIT
"""harness build"""

import shlex

import click

from harness.cli.options import cflags_option, port_option, progress, workload_option


@click.command()
@click.argument("configs", nargs=-1, required=True, metavar="CONFIG...")
@workload_option
@port_option
@cflags_option
def build(configs: tuple[str, ...], workload: str, port: str | None, cflags: str) -> None:
    """Build the guests of machine configs, or find them in the cache; prints where they are."""
    from harness.build import build_guest
    from harness.config import load_config

    with progress() as tell:
        for name in configs:
            config = load_config(name)
            kernel = build_guest(
                config, workload, port=port, cflags=shlex.split(cflags), progress=tell
            )
            click.echo(f"{config.name}: {kernel}")
