# SPDX-License-Identifier: MIT
"""Snapshots of a stopped machine: CPUs, devices and memory, in a file of its directory.

QEMU stores the machine's state in a qcow2 image.  It is a block node without a guest device,
created at the first snapshot.  The QMP jobs ``snapshot-save`` and ``snapshot-load`` do the work.
"""

import time
from pathlib import Path
from typing import Any, Protocol

from harness.errors import HostError, UsageError

NODE, FILE_NODE, JOB = "snapshots", "snapshots-file", "snapshot"

DEADLINE = 30.0
"""Timeout in seconds of one job; a guest with 128 MiB usually takes some 10 ms."""


class _Monitor(Protocol):
    def qmp(self, command: str, /, deadline: float = ..., **arguments: object) -> object: ...


class MachineSnapshots:
    """The snapshots of one machine by name.  HostError if QEMU refuses."""

    def __init__(self, machine: _Monitor, file: Path) -> None:
        self._machine = machine
        self._file = file
        self._names: set[str] = set()
        self._ready = False

    def save(self, name: str) -> None:
        """Save the machine's state; an existing snapshot of that name is replaced."""
        self._prepare()
        if name in self._names:
            self._job("snapshot-delete", tag=name, devices=[NODE])
            self._names.discard(name)
        self._job("snapshot-save", tag=name, vmstate=NODE, devices=[NODE])
        self._names.add(name)

    def load(self, name: str) -> None:
        """Load a snapshot; UsageError if there is none of that name."""
        if name not in self._names:
            known = ", ".join(sorted(self._names)) or "none"
            raise UsageError(f"there is no snapshot {name!r}", f"The snapshots are: {known}.")
        self._job("snapshot-load", tag=name, vmstate=NODE, devices=[NODE])

    def _prepare(self) -> None:
        if self._ready:
            return
        self._file.touch(mode=0o600)
        self._add_node(FILE_NODE, driver="file", filename=str(self._file))
        self._job("blockdev-create", options={"driver": "qcow2", "file": FILE_NODE, "size": 0})
        self._add_node(NODE, driver="qcow2", file=FILE_NODE)
        self._ready = True

    def _add_node(self, name: str, **arguments: Any) -> None:
        arguments["node-name"] = name
        self._machine.qmp("blockdev-add", **arguments)

    def _job(self, command: str, **arguments: Any) -> None:
        """Run a QEMU job to its end; QEMU works on it while it is polled."""
        arguments["job-id"] = JOB
        self._machine.qmp(command, **arguments)
        end = time.monotonic() + DEADLINE
        while True:
            jobs: Any = self._machine.qmp("query-jobs")
            job = next((one for one in jobs if one["id"] == JOB), None)
            if job is None:
                raise HostError(f"QEMU has lost its job {command}")
            if job["status"] == "concluded":
                break
            if time.monotonic() > end:
                raise HostError(f"QEMU did not finish {command} within {DEADLINE:g} s")
        self._machine.qmp("job-dismiss", id=JOB)
        if "error" in job:
            raise HostError(f"QEMU refused {command}: {job['error']}")
