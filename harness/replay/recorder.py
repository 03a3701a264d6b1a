# SPDX-License-Identifier: MIT
"""Keeps of a run what its replay needs: QEMU's log, and each write of the debugger."""

import shutil
from contextlib import suppress
from pathlib import Path
from typing import Any

from harness.config import LinuxConfig
from harness.debugger.writes import MemoryWrite, Write
from harness.errors import HarnessError, UsageError
from harness.guest import Guest, Startable
from harness.kbuild import GuestSpec, write_source_paths
from harness.machine import AttachedMachine, Machine, ReplayLog, ReplayMode
from harness.replay.manifest import (
    IMAGE,
    INPUTS,
    MANIFEST,
    LoggedRegister,
    LoggedWrite,
    Manifest,
    digest,
    module_file,
    replay_directory,
    write_manifest,
)

BEYOND = 0.05
"""Seconds to run after the recording: at the end of its log a replay ends QEMU."""


class Recorder:
    """Records one run, for a trace.dat if one is written meanwhile.

    The order of calls is `begins`, `ends`, and, without QEMU, `save` or `discard`.
    """

    def __init__(self, spec: Startable, trace: Path) -> None:
        """UsageError if such a guest cannot be replayed, or the directory not be made."""
        self._spec = check_replayable(spec)
        self._trace = trace
        self.directory = _new_directory(replay_directory(trace))
        self.log = ReplayLog(ReplayMode.RECORD, self.directory / INPUTS)
        self._guest: Guest | None = None
        self._writes: list[LoggedWrite | LoggedRegister] = []
        self._at = (-1, 0)
        self._end = 0
        self._qemu = ""

    def begins(self, guest: Guest) -> None:
        """The guest is in front of its first instruction: log all writes from now on."""
        self._guest = guest
        self._qemu = qemu_version(guest.machine)
        shutil.copyfile(guest.image.name, self.directory / IMAGE)
        write_source_paths(self._spec, self.directory / IMAGE)
        guest.debugger.journal = self._log

    def ends(self) -> None:
        """The recording is over; the stopped guest runs on for a moment."""
        guest = self._guest
        assert guest is not None
        self._end = self._icount()
        with suppress(HarnessError):
            guest.debugger.resume()
            if guest.debugger.wait_stop(BEYOND) is None:
                guest.control.interrupt()

    def save(self) -> bool:
        """Complete the directory: the trace.dat is written, QEMU and its log are closed.

        False, and no files, unless the recording has begun and ended.
        """
        if self._guest is None or not self._end:
            self.discard()
            return False
        modules = self._guest.image.modules.values()
        for number, module in enumerate(modules):
            shutil.copyfile(module.name, module_file(self.directory, number))
        manifest = Manifest(
            qemu=self._qemu,
            machine=self._spec.effective_config,
            build_id=self._guest.image.build_id.hex(),
            trace=digest(self._trace) if self._trace.exists() else "",
            end=self._end,
            writes=self._writes,
            modules=len(modules),
        )
        write_manifest(self.directory, manifest)
        return True

    def discard(self) -> None:
        """Remove the directory."""
        shutil.rmtree(self.directory, ignore_errors=True)

    def _log(self, write: Write) -> None:
        here = self._icount()
        if isinstance(write, MemoryWrite):
            address, data, physical = write
            logged = LoggedWrite(icount=here, address=address, data=data.hex(), physical=physical)
            self._writes.append(logged)
        else:
            name, value = write
            self._writes.append(LoggedRegister(icount=here, name=name, value=value))

    def _icount(self) -> int:
        """The number of executed instructions; QEMU is asked once for each stop."""
        assert self._guest is not None
        resumptions = self._guest.debugger.resumptions
        if self._at[0] != resumptions:
            self._at = resumptions, icount_of(self._guest.machine)
        return self._at[1]


def icount_of(machine: Machine | AttachedMachine) -> int:
    """The number of instructions that a stopped machine has executed since it was started."""
    answer: Any = machine.qmp("query-replay")
    return int(answer["icount"])


def qemu_version(machine: Machine | AttachedMachine) -> str:
    """QEMU's version, with that of its package."""
    answer: Any = machine.qmp("query-version")
    numbers = answer["qemu"]
    version = f"{numbers['major']}.{numbers['minor']}.{numbers['micro']}"
    return f"{version} {answer['package']}".rstrip()


def check_replayable(spec: Startable) -> GuestSpec:
    """The guest itself; UsageError if QEMU cannot replay it."""
    if isinstance(spec, LinuxConfig):
        raise UsageError(
            f"{spec.name} is a Linux kernel, and only guests of the harness are replayed",
            "Record without --replayable.",
        )
    config = spec.effective_config
    if config.qemu.smp != 1:
        raise UsageError(
            f"{config.name} has {config.qemu.smp} CPUs, and QEMU replays machines with one",
            "Choose a config with one CPU.",
        )
    if not config.qemu.snapshots or not config.saves_clock:
        missing = "a snapshot" if not config.qemu.snapshots else "the clock"
        raise UsageError(
            f"QEMU cannot restore {missing} of {config.name}, as a replay needs",
            "Choose another config.",
        )
    return spec


def _new_directory(directory: Path) -> Path:
    """An empty directory; that of an earlier recording is replaced."""
    try:
        if (directory / MANIFEST).is_file() or not any(directory.glob("*")):
            shutil.rmtree(directory, ignore_errors=True)
        directory.mkdir(mode=0o700)
    except FileExistsError as error:
        raise UsageError(
            f"{directory} is there and is no replay of the harness", "Choose another output file."
        ) from error
    except OSError as error:
        raise UsageError(f"{directory} cannot be made: {error.strerror}") from error
    return directory
