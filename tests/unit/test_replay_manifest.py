# SPDX-License-Identifier: MIT
"""The manifest of a replay: what it says comes from a file, and is checked."""

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from functools import partial

import pytest

from harness.config import load_config
from harness.debugger.writes import MemoryWrite, RegisterWrite
from harness.errors import UsageError
from harness.replay.manifest import (
    MANIFEST,
    LoggedRegister,
    LoggedWrite,
    Manifest,
    digest,
    move_recording,
    read_manifest,
    replay_directory,
    write_manifest,
)
from tests.unit.isa_kinds import every_isa

WRITES = [
    LoggedWrite(icount=3, address=0x80001000, data="00ff"),
    LoggedRegister(icount=3, name="a0", value=(1 << 64) - 1),
    LoggedRegister(icount=4, name="v2.d.u[1]", value="0x70e1d2c3b4a59687"),
    LoggedRegister(icount=4, name="fa0.double", value="3.5"),
    LoggedRegister(icount=4, name="d0.u64", value="0x123456789abcdef"),
]


@pytest.fixture
def trace(tmp_path):
    """A trace with the directory of its replay."""
    file = tmp_path / "x.dat"
    file.write_bytes(b"events")
    replay_directory(file).mkdir()
    manifest = Manifest(
        qemu="7.2.0",
        machine=load_config("mips-malta"),
        build_id="ab",
        trace=digest(file),
        end=5,
        writes=WRITES,
    )
    write_manifest(replay_directory(file), manifest)
    return file


def change(of, /, **values):
    file = replay_directory(of) / MANIFEST
    file.write_text(json.dumps(json.loads(file.read_text()) | values))


def test_what_is_written_is_read(trace):
    assert [one.write for one in read_manifest(trace).writes] == [
        MemoryWrite(0x80001000, b"\0\xff"),
        RegisterWrite("a0", (1 << 64) - 1),
        RegisterWrite("v2.d.u[1]", "0x70e1d2c3b4a59687"),
        RegisterWrite("fa0.double", "3.5"),
        RegisterWrite("d0.u64", "0x123456789abcdef"),
    ]


@pytest.mark.parametrize("isa", every_isa(), ids=str)
def test_the_patterns_of_all_registers_can_be_logged(isa):
    for number, register in enumerate((*isa.abi.float_scratch, *isa.abi.float_saved)):
        for name, value in isa.abi.float_parts(register, 100 + number).items():
            write = LoggedRegister(icount=1, name=name, value=value).write
            assert write == RegisterWrite(name, value)


@pytest.mark.parametrize(
    ("values", "place"),
    [
        ({"version": 2}, "version"),
        ({"end": -1}, "end"),
        ({"build_id": "xyz"}, "build_id"),
        ({"more": 1}, "more"),
        ({"writes": [{"icount": 1, "address": 1 << 64, "data": "00"}]}, "writes.0"),
        ({"writes": [{"icount": 1, "address": 0, "data": "0"}]}, "writes.0"),
        # Names and constants become words of a command of gdb.
        ({"writes": [{"icount": 1, "name": "a0 = 1, $pc", "value": 1}]}, "writes.0"),
        ({"writes": [{"icount": 1, "name": "a0\n", "value": 1}]}, "writes.0"),
        ({"writes": [{"icount": 1, "name": "a0", "value": "system(1)"}]}, "writes.0"),
        ({"writes": [{"icount": 1, "name": "a0", "value": "1.5\n"}]}, "writes.0"),
        ({"writes": [{"icount": 1, "name": "v0", "value": "{(long)0x1, $pc}"}]}, "writes.0"),
        ({"writes": [{"icount": 1, "name": "a0", "value": 1 << 64}]}, "writes.0"),
        ({"writes": [{"icount": 1, "name": "a0", "value": True}]}, "writes.0"),
    ],
)
def test_what_is_no_manifest_is_refused(trace, values, place):
    change(trace, **values)
    with pytest.raises(UsageError, match=rf"manifest.json is damaged: {place}"):
        read_manifest(trace)


def test_a_replay_belongs_to_its_trace(trace):
    trace.write_bytes(b"other events")
    with pytest.raises(UsageError, match="is not the trace that was recorded"):
        read_manifest(trace)
    trace.unlink()
    with pytest.raises(UsageError, match="is not the trace that was recorded"):
        read_manifest(trace)
    change(trace, trace="")
    assert read_manifest(trace).end == 5


def test_a_file_that_is_not_there(tmp_path):
    with pytest.raises(UsageError, match=r"x.dat cannot be read: No such file"):
        read_manifest(tmp_path / "x.dat")


def test_a_recording_takes_the_place_of_another(trace, tmp_path):
    other = tmp_path / "y.dat"
    other.write_bytes(b"old")
    replay_directory(other).mkdir()
    (replay_directory(other) / "old").touch()
    move_recording(trace, other)
    assert read_manifest(other).end == 5
    assert not (replay_directory(other) / "old").exists()
    assert not trace.exists()


def test_recordings_that_are_moved_to_one_place_at_once_are_whole(trace, tmp_path):
    """As when two commands write the report of the same port."""
    target = tmp_path / "reports" / "x.dat"
    target.parent.mkdir()
    sources = []
    for number in range(40):
        one = tmp_path / str(number) / "x.dat"
        shutil.copytree(replay_directory(trace), replay_directory(one))
        shutil.copy(trace, one)
        sources.append(one)
    with ThreadPoolExecutor(8) as threads:
        list(threads.map(partial(move_recording, new=target), sources))
    assert read_manifest(target).end == 5
    assert not any(one.exists() or replay_directory(one).exists() for one in sources)
