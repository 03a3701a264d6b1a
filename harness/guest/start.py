# SPDX-License-Identifier: MIT
"""From a config's name to a live guest, and back to nothing."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypedDict, Unpack

from harness.config import MachineConfig
from harness.debugger import Debugger
from harness.errors import GdbError, HarnessError, HostError, UsageError, WrongGuest
from harness.guest.control import PARTING, TIMEOUT
from harness.guest.guest import Guest
from harness.image import Image, RunningImage
from harness.kbuild import GuestSpec, build_guest
from harness.machine import Machine

PROOF = b"is there memory?"
MAX_TICK = 100_000
"""Ticks a second beyond which a guest under QEMU does little else than handle them."""

TICK_VARIABLE = "HARNESS_TICK"


class Started(TypedDict, total=False):
    """How a guest is started: the keyword arguments of `start`."""

    until: str | None
    deterministic: bool
    plugins: Sequence[str]
    lane: str
    tick: int | None
    timeout: float
    progress: Callable[[str], None] | None


def boot(
    config: str | Path | MachineConfig,
    workload: str | Path = "calls",
    *,
    port: str | Path | None = None,
    modules: Sequence[str | Path] = (),
    features: Sequence[str] | None = None,
    cflags: Sequence[str] = (),
    compiler: str | None = None,
    **started: Unpack[Started],
) -> AbstractContextManager[Guest]:
    """Build a guest (or take it from the cache), start it and stop it in front of its workload.

    Args:
        config: the name of a machine config, a path to one, or one already loaded.
        workload: the name of a workload of the harness, or a C file that defines ``workload()``.
        port: the name of a port of the harness, or a port directory; None for the config's own.
        modules: what to load when the guest has stopped: names in ``guests/modules/``, or files.
        features: what of the port is built in, in Kconfig's words; None for all that it has.
            Without ``DYNAMIC_FTRACE`` the guest is a static one.
        cflags: compiler flags that come behind the config's.
        compiler: another than the config's: ``gcc``, ``clang``, or a version such as ``gcc-13``.
        started: what `start` takes.

    When the ``with`` block ends, however it ends, QEMU and gdb are gone.
    """
    spec = GuestSpec.of(
        config,
        workload,
        port=port,
        modules=modules,
        features=features,
        cflags=cflags,
        compiler=compiler,
    )
    return start(spec, **started)


@contextmanager
def start(
    spec: GuestSpec,
    *,
    until: str | None = "workload",
    deterministic: bool = False,
    plugins: Sequence[str] = (),
    lane: str = "auto",
    tick: int | None = None,
    timeout: float = TIMEOUT,
    progress: Callable[[str], None] | None = None,
) -> Iterator[Guest]:
    """A live guest, built or taken from the cache; QEMU and gdb end with the block.

    Args:
        until: the function to stop at; None leaves the guest at its very first instruction, and
            its modules for `Guest.load_module`.
        deterministic: count guest instructions instead of host time, so that runs repeat exactly.
        plugins: QEMU ``-plugin`` arguments.
        lane: how the ring buffer is read: ``stub`` (gdb and the debug stub), or ``auto``, which
            has QEMU itself write large parts to a file.
        tick: timer interrupts a second, on each CPU; 0 for ticks only while threads wait for a
            CPU; None for what the environment variable HARNESS_TICK says, or 0.
        timeout: seconds that the guest may take to come to ``until``.
        progress: told in one line what takes long.
    """
    kernel = build_guest(spec, progress)
    with run_kernel(spec, kernel, deterministic=deterministic, plugins=plugins, lane=lane) as guest:
        set_tick(guest, _default_tick() if tick is None else tick)
        if until is not None:
            guest.run(until=until, timeout=timeout)
            for module in guest.modules.find(*spec.modules):
                guest.load_module(module)
        yield guest


@contextmanager
def run_kernel(
    spec: GuestSpec,
    kernel: Path,
    *,
    deterministic: bool = False,
    plugins: Sequence[str] = (),
    lane: str = "auto",
) -> Iterator[Guest]:
    """A guest from an image that is already built, stopped at its very first instruction."""
    config = spec.config
    image = RunningImage(kernel.read_bytes(), str(kernel))
    with (
        Machine(config, kernel, deterministic=deterministic, plugins=plugins) as machine,
        Debugger() as debugger,
    ):
        # QEMU stops serving gdb while a console that nobody reads is full.
        debugger.session.attend(machine.console.fileno(), machine.console.drain)
        debugger.symbols.load(kernel)
        debugger.memory.forbid(config.qemu.unreadable)
        try:
            debugger.connect(machine.gdb_socket)
            debugger.memory.linear = image.isa.machine.linear_address
            prove_memory(debugger, image, config)
            check_build_id(debugger, image)
        except HarnessError as error:
            if machine.ended(PARTING):
                raise HostError("QEMU ended at its start", "", machine.exit_report()) from error
            raise
        # Not before somebody has it tick.
        debugger.interrupted = False
        yield Guest(spec, image, machine, debugger, lane)


def prove_memory(debugger: Debugger, image: Image, config: MachineConfig) -> None:
    """Write to the last words that the guest calls its own, which nothing uses yet, and look.

    Raises:
        UsageError: there is no memory: the machine of the config has too little.
    """
    last = image.address_of("_end") - len(PROOF)
    try:
        debugger.write_memory(last, PROOF)
        found = debugger.read_memory(last, len(PROOF))
        debugger.write_memory(last, bytes(len(PROOF)))
    except GdbError:
        found = b""
    if found != PROOF:
        raise UsageError(
            f"{config.qemu.memory} is too little memory for the guest: there is none at {last:#x}",
            f"Raise memory in the table [qemu] of the config {config.name}.",
        )


def set_tick(guest: Guest, hz: int) -> None:
    """Have the guest's timers tick so often; before the guest's first instruction only."""
    if not 0 <= hz <= MAX_TICK:
        raise UsageError(f"{hz} ticks a second are not possible", f"Choose 0 to {MAX_TICK}.")
    if hz:
        data = hz.to_bytes(4, guest.image.byteorder)
        guest.debugger.write_memory(guest.address_of("tick_hz"), data)
        guest.debugger.interrupted = True


def _default_tick() -> int:
    text = os.environ.get(TICK_VARIABLE, "0")
    if not text.isdecimal():
        raise UsageError(f"{TICK_VARIABLE} is {text!r}, not a number of ticks a second")
    return int(text)


def check_build_id(debugger: Debugger, image: Image) -> None:
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
