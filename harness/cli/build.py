# SPDX-License-Identifier: MIT
"""harness build"""

import click

from harness.cli.options import GuestOptions, guest_options, progress


@click.command()
@click.argument("configs", nargs=-1, required=True, metavar="CONFIG...")
@guest_options()
def build(configs: tuple[str, ...], guest: GuestOptions) -> None:
    """Build the guests of machine configs, or find them in the cache.

    Prints for each the equivalent make command, and the paths of the image and its modules.
    """
    from harness.kbuild import module_beside, plan_build

    with progress() as tell:
        for name in configs:
            plan = plan_build(guest.spec(name))
            config = plan.spec.config
            click.echo(plan.command_line)
            image = plan.run(tell)
            click.echo(f"{config.name}: {image}")
            for source in plan.spec.module_sources:
                click.echo(f"{config.name}: {module_beside(image, source.stem)}")
