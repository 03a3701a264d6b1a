# SPDX-License-Identifier: MIT
"""Snapshots, with the test as QEMU."""

import pytest

from harness.errors import HostError, UsageError
from harness.machine.snapshots import MachineSnapshots


class Qemu:
    """Answers as QEMU does; a job needs two questions to come to its end."""

    def __init__(self, error=None):
        self.given = []
        self.job = None
        self.error = error

    def qmp(self, command, /, deadline=10.0, **arguments):
        if command == "query-jobs":
            if self.job is None:
                return []
            self.job["status"] = "concluded" if self.job.pop("new", None) is None else "running"
            return [self.job]
        self.given.append((command, arguments.get("tag", arguments.get("node-name", ""))))
        if command == "job-dismiss":
            self.job = None
        elif "job-id" in arguments:
            self.job = {"id": arguments["job-id"], "status": "created", "new": True}
            if self.error and command == "snapshot-load":
                self.job["error"] = self.error
        return {}


def jobs(qemu):
    return [given for given in qemu.given if given[0] not in ("job-dismiss", "blockdev-add")]


def test_the_image_is_made_once_and_a_name_can_be_used_again(tmp_path):
    qemu = Qemu()
    snapshots = MachineSnapshots(qemu, tmp_path / "file")
    snapshots.save("a")
    snapshots.save("b")
    snapshots.save("a")
    snapshots.load("b")
    assert jobs(qemu) == [
        ("blockdev-create", ""),
        ("snapshot-save", "a"),
        ("snapshot-save", "b"),
        ("snapshot-delete", "a"),
        ("snapshot-save", "a"),
        ("snapshot-load", "b"),
    ]
    assert (tmp_path / "file").stat().st_mode & 0o777 == 0o600


def test_a_name_that_is_not_there(tmp_path):
    snapshots = MachineSnapshots(Qemu(), tmp_path / "file")
    with pytest.raises(UsageError, match="no snapshot 'a'\nThe snapshots are: none"):
        snapshots.load("a")


def test_what_qemu_refuses_is_told(tmp_path):
    snapshots = MachineSnapshots(Qemu(error="out of luck"), tmp_path / "file")
    snapshots.save("a")
    with pytest.raises(HostError, match="QEMU refused snapshot-load: out of luck"):
        snapshots.load("a")
