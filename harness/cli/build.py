# SPDX-License-Identifier: MIT
"""harness build"""

import click

from harness.cli.options import (
    cflags_option,
    features_option,
    module_option,
    port_option,
    progress,
    workload_option,
)


@click.command()
@click.argument("configs", nargs=-1, required=True, metavar="CONFIG...")
@workload_option
@port_option
@cflags_option
@features_option
@module_option
def build(
    configs: tuple[str, ...],
    workload: str,
    port: str | None,
    cflags: tuple[str, ...],
    features: tuple[str, ...] | None,
    modules: tuple[str, ...],
) -> None:
    """Build the guests of machine configs, or find them in the cache.

    For each it prints the make line that does the same by hand, and where the image and its
    modules are.
    """
    from harness.build import module_beside, plan_build
    from harness.config import load_config

    with progress() as tell:
        for name in configs:
            config = load_config(name)
            plan = plan_build(config, workload, port, cflags, features, modules)
            click.echo(plan.command_line)
            image = plan.run(tell)
            click.echo(f"{config.name}: {image}")
            for source in plan.modules:
                click.echo(f"{config.name}: {module_beside(image, source.stem)}")
