# SPDX-License-Identifier: MIT
"""Build, start and end a guest."""

import os
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TypedDict, Unpack

from harness.config import LinuxConfig, MachineConfig, load_any_config
from harness.debugger import Debugger
from harness.errors import GdbError, HarnessError, HostError, UsageError, WrongGuest
from harness.guest.control import PARTING, TIMEOUT
from harness.guest.guest import Guest
from harness.guest.linux_start import start_linux
from harness.image import Image, RunningImage
from harness.kbuild import GuestSpec, build_guest
from harness.machine import Machine, ReplayLog

PROOF = b"is there memory?"
MAX_TICK = 100_000
"""Maximum ticks per second; at this rate a guest under QEMU spends most time in the handler."""

TICK_VARIABLE = "HARNESS_TICK"

WORKLOAD = "workload"
"""Where a guest of the harness stops; a Linux kernel stops where its config says."""


Startable = GuestSpec | LinuxConfig
"""What can be started: a guest that is built for a machine, or a Linux kernel."""


class Started(TypedDict, total=False):
    """The keyword arguments of `start`."""

    until: str | None
    deterministic: bool
    replay: ReplayLog | None
    begins: Callable[[Guest], None] | None
    plugins: Sequence[str]
    lane: str
    tick: int | None
    timeout: float
    buffer_size: int | None
    progress: Callable[[str], None] | None


def boot(
    config: str | Path | MachineConfig | LinuxConfig,
    workload: str | Path = "calls",
    *,
    port: str | Path | None = None,
    modules: Sequence[str | Path] = (),
    features: Sequence[str] | None = None,
    cflags: Sequence[str] = (),
    compiler: str | None = None,
    **started: Unpack[Started],
) -> AbstractContextManager[Guest]:
    """Build a guest (or take it from the cache), start it, and stop it before its workload.

    Args:
        config: the name of a machine config, a path to one, or a loaded one.  That of a Linux
            kernel needs none of the other arguments up to ``compiler``.
        workload: the name of a workload of the harness, or a C file that defines ``workload()``.
        port: the name of a port of the harness, or a port directory; default: the config's.
        modules: modules to load after that: names in ``guests/modules/``, or files.
        features: Kconfig names of the port's features to build in; default: all.
            Without ``DYNAMIC_FTRACE`` the guest is a static one.
        cflags: compiler flags, added to the config's.
        compiler: ``gcc``, ``clang``, or a version such as ``gcc-13``; default: the config's.
        started: the arguments of `start`.

    QEMU and gdb end with the ``with`` block.
    """
    if not isinstance(config, MachineConfig | LinuxConfig):
        config = load_any_config(config)
    if isinstance(config, LinuxConfig):
        if started.get("until") == WORKLOAD:
            started["until"] = None
        return start(config, **started)
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
    spec: Startable,
    *,
    until: str | None = WORKLOAD,
    deterministic: bool = False,
    replay: ReplayLog | None = None,
    begins: Callable[[Guest], None] | None = None,
    plugins: Sequence[str] = (),
    lane: str = "auto",
    tick: int | None = None,
    timeout: float = TIMEOUT,
    buffer_size: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[Guest]:
    """A live guest, built or taken from the cache; QEMU and gdb end with the block.

    Args:
        until: the function to stop at, by default the config's for a Linux kernel; None leaves a
            guest of the harness at its first instruction, without modules.
        deterministic: the guest's clock counts instructions, for reproducible runs.
        replay: QEMU's log of the run, for a guest of the harness with one CPU.
        begins: called with a guest of the harness in front of its first instruction.
        plugins: QEMU ``-plugin`` arguments.
        lane: how to read the ring buffer: ``stub`` (gdb and the debug stub), or ``auto``, with
            large parts written to a file by QEMU.
        tick: timer interrupts per second on each CPU; 0 for ticks only while threads wait for a
            CPU; default: the environment variable HARNESS_TICK, or 0.
        timeout: the timeout in seconds until the guest reaches ``until``.
        buffer_size: bytes per CPU of a Linux kernel's ring buffer.
        progress: called with a line about each long operation.
    """
    if isinstance(spec, LinuxConfig):
        if tick is not None:
            raise UsageError("the ticks of a Linux guest are its own: CONFIG_HZ")
        with start_linux(
            spec,
            until=None if until == WORKLOAD else until,
            deterministic=deterministic,
            plugins=plugins,
            lane=lane,
            timeout=timeout,
            buffer_size=buffer_size,
            progress=progress,
        ) as linux:
            yield linux
        return
    kernel = build_guest(spec, progress)
    with run_kernel(
        spec, kernel, deterministic=deterministic, replay=replay, plugins=plugins, lane=lane
    ) as guest:
        if begins is not None:
            begins(guest)
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
    replay: ReplayLog | None = None,
    plugins: Sequence[str] = (),
    lane: str = "auto",
) -> Iterator[Guest]:
    """A guest from a built image, stopped at its first instruction."""
    config = spec.config
    machine = Machine(config, kernel, deterministic=deterministic, replay=replay, plugins=plugins)
    with machine, debugged(machine, config, kernel) as (image, debugger):
        yield Guest(spec, image, machine, debugger, lane)


@contextmanager
def debugged(
    machine: Machine, config: MachineConfig, kernel: Path
) -> Iterator[tuple[RunningImage, Debugger]]:
    """The image and the debugger of a machine of the harness, in front of its first instruction."""
    image = RunningImage(kernel.read_bytes(), str(kernel))
    check_symbols(image, config)
    with Debugger() as debugger:
        # QEMU blocks on a full console that is not read.
        debugger.session.add_reader(machine.console.fileno(), machine.console.drain)
        debugger.symbols.load(kernel, current=True)
        debugger.memory.forbid(config.qemu.unreadable)
        try:
            debugger.connect(machine.gdb_socket)
            debugger.memory.linear = image.isa.cpu.linear_address
            check_memory(debugger, image, config)
            check_build_id(debugger, image)
        except HarnessError as error:
            if machine.ended(PARTING):
                raise HostError("QEMU ended at its start", "", machine.exit_report()) from error
            raise
        # Until a tick is set.
        debugger.interrupted = False
        yield image, debugger


def check_symbols(image: Image, config: MachineConfig) -> None:
    """Look up the symbols that the architecture's `Cpu` names.

    Raises:
        UsageError: the architecture's guests have none of this name.
    """
    cpu = image.isa.cpu
    for attribute in ("vectors_symbol", "fatal_entry"):
        name = getattr(cpu, attribute)
        if name not in image.symbols:
            raise UsageError(
                f"the guest of {config.name} has no symbol {name}, "
                f"which is {type(cpu).__name__}.{attribute}",
                f"Name the one in guests/arch/{config.architecture}.",
            )


def check_memory(debugger: Debugger, image: Image, config: MachineConfig) -> None:
    """Write to the last bytes of the guest's memory, which are not in use yet, and read them back.

    Raises:
        UsageError: the config's machine has too little memory.
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
    """Set the rate of the guest's timers; before its first instruction only."""
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
            f"the running guest has build id {found.hex()}, but {image.name} has "
            f"{image.build_id.hex()}",
            "Attach with the ELF file that the guest was started from.",
        )
