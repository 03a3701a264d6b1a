# SPDX-License-Identifier: MIT
"""From a config's name to a live guest, and back to nothing."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from harness.build import build_guest
from harness.config import MachineConfig, load_config
from harness.debugger import Debugger
from harness.errors import UsageError, WrongGuest
from harness.guest.guest import Guest
from harness.image import Image
from harness.machine import Machine

MAX_TICK = 100_000
"""Ticks a second beyond which a guest under QEMU does little else than handle them."""

TICK_VARIABLE = "HARNESS_TICK"


@contextmanager
def boot(
    config: str | MachineConfig,
    workload: str = "calls",
    *,
    port: str | None = None,
    cflags: Sequence[str] = (),
    features: Sequence[str] | None = None,
    until: str | None = "workload",
    deterministic: bool = False,
    plugins: Sequence[str] = (),
    lane: str = "auto",
    tick: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[Guest]:
    """Build a guest (or take it from the cache), start it and stop it in front of its workload.

    Args:
        config: the name of a machine config, a path to one, or one already loaded.
        workload: the name of a workload of the harness, or a C file that defines ``workload()``.
        port: the name of a port of the harness, or a port directory; None for the config's own.
        features: what of the port is built in, in Kconfig's words; None for all that it has.
            Without ``DYNAMIC_FTRACE`` the guest is a static one.
        until: the function to stop at; None leaves the guest at its very first instruction.
        deterministic: count guest instructions instead of host time, so that runs repeat exactly.
        plugins: QEMU ``-plugin`` arguments.
        lane: how the ring buffer is read: ``stub`` (gdb and the debug stub), or ``auto``, which
            has QEMU itself write large parts to a file.
        tick: timer interrupts a second, on each CPU; 0 for ticks only while threads wait for a
            CPU; None for what the environment variable HARNESS_TICK says, or 0.
        progress: told in one line what takes long.

    When the ``with`` block ends, however it ends, QEMU and gdb are gone.
    """
    if not isinstance(config, MachineConfig):
        config = load_config(config)
    kernel = build_guest(
        config, workload, port=port, cflags=cflags, features=features, progress=progress
    )
    with run_kernel(
        config, kernel, deterministic=deterministic, plugins=plugins, lane=lane
    ) as guest:
        set_tick(guest, _default_tick() if tick is None else tick)
        if until is not None:
            guest.run(until=until)
        yield guest


@contextmanager
def run_kernel(
    config: MachineConfig,
    kernel: Path,
    *,
    deterministic: bool = False,
    plugins: Sequence[str] = (),
    lane: str = "auto",
) -> Iterator[Guest]:
    """A guest from an image that is already built, stopped at its very first instruction."""
    image = Image(kernel.read_bytes(), str(kernel))
    with (
        Machine(config, kernel, deterministic=deterministic, plugins=plugins) as machine,
        Debugger() as debugger,
    ):
        # QEMU stops serving gdb while a console that nobody reads is full.
        debugger.attend(machine.console.fileno(), machine.console.drain)
        debugger.load(kernel)
        for addresses in config.qemu.unreadable:
            first, last = addresses.split("-")
            debugger.forbid(int(first, 16), int(last, 16))
        debugger.connect(machine.gdb_socket)
        debugger.map_linearly(image.isa.linear_address)
        prove_identity(debugger, image)
        yield Guest(config, image, machine, debugger, lane)


def set_tick(guest: Guest, hz: int) -> None:
    """Have the guest's timers tick so often; before the guest's first instruction only."""
    if not 0 <= hz <= MAX_TICK:
        raise UsageError(f"{hz} ticks a second are not possible", f"Choose 0 to {MAX_TICK}.")
    if hz:
        data = hz.to_bytes(4, guest.image.byteorder)
        guest.debugger.write_memory(guest.address_of("tick_hz"), data)


def _default_tick() -> int:
    text = os.environ.get(TICK_VARIABLE, "0")
    if not text.isdecimal():
        raise UsageError(f"{TICK_VARIABLE} is {text!r}, not a number of ticks a second")
    return int(text)


def prove_identity(debugger: Debugger, image: Image) -> None:
    """Compare the build id in the guest's memory with the image's.

    Raises:
        WrongGuest: they differ; nothing has been changed.
    """
    found = debugger.read_memory(image.build_id_address, len(image.build_id))
    if found != image.build_id:
        raise WrongGuest(
            f"the guest that runs has build id {found.hex()}, but {image.name} has "
            f"{image.build_id.hex()}",
            "Attach with the ELF file that the guest was started from.",
        )
