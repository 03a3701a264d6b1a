# SPDX-License-Identifier: MIT
"""harness build"""

from collections.abc import Callable

import click

from harness.cli.options import GuestOptions, guest_options
from harness.cli.progress import progress


@click.command()
@click.argument("configs", nargs=-1, required=True, metavar="CONFIG...")
@click.option("-v", "--verbose", is_flag=True, help="Also print the equivalent make commands.")
@guest_options()
def build(configs: tuple[str, ...], verbose: bool, guest: GuestOptions) -> None:
    """Build the guests of machine configs, or find them in the cache.

    Prints the paths of each image and of its modules, one a line.

    Example: gdb-multiarch $(harness build mips-malta)
    """
    from harness.kbuild import module_beside, plan_build

    with progress() as tell:
        for name in configs:
            plan = plan_build(guest.spec(name))
            if verbose:
                click.echo(plan.command_line, err=True)
            image = plan.run(_without(plan.command_line, tell))
            modules = [module_beside(image, one.stem) for one in plan.spec.module_sources]
            tell.print(map(str, [image, *modules]))


def _without(line: str, tell: Callable[[str], None]) -> Callable[[str], None]:
    return lambda told: None if told == line else tell(told)
