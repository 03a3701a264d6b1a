# SPDX-License-Identifier: MIT
"""harness build"""

import click

from harness.cli.options import (
    cflags_option,
    features_option,
    port_option,
    progress,
    words,
    workload_option,
)


@click.command()
@click.argument("configs", nargs=-1, required=True, metavar="CONFIG...")
@workload_option
@port_option
@cflags_option
@features_option
def build(
    configs: tuple[str, ...],
    workload: str,
    port: str | None,
    cflags: tuple[str, ...],
    features: str | None,
) -> None:
    """Build the guests of machine configs, or find them in the cache.

    For each it prints the make line that does the same by hand, and where the image is.
    """
    from harness.build import plan_build
    from harness.config import load_config

    with progress() as tell:
        for name in configs:
            config = load_config(name)
            plan = plan_build(config, workload, port, cflags, words(features))
            click.echo(plan.command_line)
            click.echo(f"{config.name}: {plan.run(tell)}")
