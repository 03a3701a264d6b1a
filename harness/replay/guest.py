# SPDX-License-Identifier: MIT
"""A guest that repeats a recorded run."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.debugger import Debugger
from harness.errors import HostError, UsageError
from harness.files import ScratchDirectory
from harness.guest import Guest, debugged
from harness.image import RunningImage
from harness.machine import Machine, ReplayLog, ReplayMode
from harness.process.run import NotRun, run
from harness.replay.events import RecordedEvents
from harness.replay.manifest import (
    IMAGE,
    INPUTS,
    Manifest,
    module_file,
    read_manifest,
    replay_directory,
)
from harness.replay.recorder import qemu_version
from harness.replay.run import Replay

DISK = "snapshots.qcow2"
MAKING = 10.0
"""Timeout in seconds of qemu-img."""


class ReplayedGuest(Guest):
    """A guest under replay.  Nothing is read from its ring buffer, and nothing is written to it."""

    def __init__(
        self,
        image: RunningImage,
        machine: Machine,
        debugger: Debugger,
        manifest: Manifest,
        trace: Path,
    ) -> None:
        super().__init__(None, image, machine, debugger, "stub")
        self.trace = trace
        timer = image.symbols.get(image.isa.cpu.unsaved_timer)
        self.replay = Replay(machine, debugger, manifest, self.control.leave_delay_slot, timer)
        self.events = RecordedEvents(self.replay, image, debugger, trace)

    @property
    def name(self) -> str:
        """The file's."""
        return self.trace.name

    def _watch(self) -> None:
        self.replay.arm()

    def _drained(self, give_up: Callable[[], bool]) -> bool:
        self.replay.arrived()
        self.replay.arm()
        return self.replay.icount < self.replay.end

    def drain(self, give_up: Callable[[], bool] = lambda: False) -> None:
        """Nothing is read: the events are in the recording."""


@contextmanager
def open_replay(
    trace: Path, progress: Callable[[str], None] = lambda line: None
) -> Iterator[ReplayedGuest]:
    """The guest of a recording made with ``--replayable``, at the end of the recording.

    Raises:
        UsageError: the trace cannot be replayed, or not with this QEMU.
        HostError: QEMU, gdb or the disk failed.
    """
    manifest = read_manifest(trace)
    directory = replay_directory(trace)
    kernel = directory / IMAGE
    modules = [module_file(directory, number) for number in range(manifest.modules)]
    for file in (kernel, directory / INPUTS, *modules):
        if not file.is_file():
            raise UsageError(f"{trace} cannot be replayed: there is no {file}")
    with ScratchDirectory() as scratch:
        log = ReplayLog(ReplayMode.REPLAY, directory / INPUTS, scratch.path / DISK)
        _make_disk(scratch.path / DISK)
        machine = Machine(manifest.machine, kernel, replay=log)
        with machine, debugged(machine, manifest.machine, kernel) as (image, debugger):
            if image.build_id.hex() != manifest.build_id:
                raise UsageError(f"{kernel} is not the image that was recorded")
            version = qemu_version(machine)
            if version != manifest.qemu:
                raise UsageError(
                    f"{trace} was recorded with QEMU {manifest.qemu}, and this is {version}",
                    "QEMU replays what the same version has recorded.",
                )
            guest = ReplayedGuest(image, machine, debugger, manifest, trace)
            # Of every moment of the run: nothing else is at their addresses before.
            guest.modules.restore(guest.modules.find(*modules))
            progress(f"replaying {manifest.end} instructions")
            guest.replay.prepare(guest.events.visited)
            yield guest


def _make_disk(file: Path) -> None:
    command = ["qemu-img", "create", "-q", "-f", "qcow2", str(file), "0"]
    try:
        done = run(command, MAKING)
    except NotRun as error:
        raise HostError(
            f"snapshots need a disk image: {error}", "Install the package qemu-utils."
        ) from error
    if done.returncode:
        raise HostError(f"qemu-img failed: {done.stderr.decode(errors='replace').strip()}")
