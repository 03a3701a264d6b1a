# SPDX-License-Identifier: MIT
"""harness mount"""

from contextlib import ExitStack
from pathlib import Path

import click

from harness.cli.options import GuestOptions, config_option, guest_options, tick_option
from harness.cli.progress import progress
from harness.cli.signals import orderly_end


@click.command()
@config_option
@guest_options()
@tick_option
@click.option("--run", "at_once", is_flag=True, help="Let the guest run at once.")
@click.argument("directory", metavar="DIR", type=click.Path(path_type=Path))
def mount(
    config: str, guest: GuestOptions, tick: int | None, at_once: bool, directory: Path
) -> None:
    """Serve the tracefs of a guest as a file system at DIR, an empty directory.

    The guest begins to run when something is to be recorded: a tracer or an event, with tracing_on.
    Ends with the guest, with Ctrl-C, or when DIR is unmounted.

    Example: harness mount -c mips-malta --workload interpreter tracing
    """
    from harness.guest import start
    from harness.mount import Mount, check_directory, run_mounted

    check_directory(directory)
    with ExitStack() as stack:
        arm = stack.enter_context(orderly_end())
        with progress() as tell:
            running = stack.enter_context(start(guest.startable(config), tick=tick, progress=tell))
        mounted = stack.enter_context(Mount(directory))
        wake = arm()
        click.echo(f"{running.name}: tracefs is at {directory}")
        ended = run_mounted(running, mounted, wake, at_once=at_once)
        click.echo(f"{running.name}: {ended}")
