# SPDX-License-Identifier: MIT
"""harness run"""

import shlex
from contextlib import ExitStack

import click

from harness.cli.options import (
    GuestOptions,
    cflags_option,
    config_option,
    features_option,
    guest_options,
    port_option,
    workload_option,
)
from harness.cli.progress import progress
from harness.cli.signals import orderly_end


@click.command()
@config_option
@guest_options(workload_option, port_option, cflags_option, features_option)
@click.option("-S", "stopped", is_flag=True, help="Leave the guest at its first instruction.")
def run(config: str, guest: GuestOptions, stopped: bool) -> None:
    """Run a guest without a debugger, for others to attach to, and print its console.

    The first lines say where its debug stub is.  Ends with the guest, or with Ctrl-C.

    Example: harness run -c mips-malta --workload soak.c
    """
    from harness.guest import start_unattended
    from harness.units import escape

    with ExitStack() as stack:
        arm = stack.enter_context(orderly_end())
        with progress() as tell:
            running = stack.enter_context(start_unattended(guest.startable(config), tell))
        wake = arm()
        machine = running.machine
        elf, socket = shlex.quote(str(running.elf)), shlex.quote(str(machine.gdb_socket))
        click.echo(f"{config}: QEMU is process {machine.pid}; its debug stub is {socket}")
        click.echo(f"  harness attach --elf {elf} --gdb {socket}")
        click.echo(f"  gdb-multiarch {elf} -ex 'target remote {socket}'")
        if not stopped:
            running.resume()
        for text in running.follow(wake):
            click.echo(escape(text, len(text)), nl=False)
        if machine.ended():
            click.echo(f"{config}: QEMU has ended")
