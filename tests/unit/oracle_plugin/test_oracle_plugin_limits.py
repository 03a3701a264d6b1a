# SPDX-License-Identifier: MIT
"""What the plugin has no room for, and what it refuses to begin with."""

import ctypes
import mmap
import struct

import pytest

from harness.errors import HostError
from harness.oracle import Oracle
from harness.oracle.layout import Control
from support.oracle_plugin import CODES, image, install


def test_no_room(machine):
    page_of_records = mmap.PAGESIZE // 32  # a record too many lies behind the file: SIGBUS
    (cpu,), oracle = machine(capacity=page_of_records)
    for _ in range(page_of_records):
        cpu.site()
    assert len(oracle.records()) == page_of_records
    cpu.site()
    cpu.site()
    assert oracle.dropped == 2
    with pytest.raises(HostError, match="no room for 2 of"):
        oracle.records()


def test_too_deep(machine):
    (cpu,), oracle = machine()
    for _ in range(32768 + 1):
        cpu.call(100)
        cpu.call(200)
    cpu.site()
    with pytest.raises(HostError, match="deeper"):
        oracle.records()


@pytest.mark.parametrize(
    "arguments",
    [(), ("window=1",), ("control=/nonexistent/file",), ("control=/dev/null", "control=/dev/null")],
)
def test_bad_arguments_are_refused(library, capfd, arguments):
    assert install(ctypes.CDLL(str(library)), *arguments) == -1
    assert "oracle: " in capfd.readouterr().err


def test_too_many_cpus_and_user_emulation_are_refused(library, capfd, tmp_path):
    with Oracle(image(CODES["mips"]), tmp_path, capacity=10):
        loaded, argument = ctypes.CDLL(str(library)), f"control={tmp_path / 'oracle'}"
        assert install(loaded, argument, cpus=65) == -1
        assert install(loaded, argument, system=False) == -1


@pytest.mark.parametrize(
    "field",
    [
        *("magic", "version", "size", "nr_patterns", "nr_vectors", "nr_sites", "nr_marks"),
        *("patterns", "vectors", "sites", "marks", "records", "capacity", "nr_slots"),
    ],
)
def test_damaged_control_file_is_refused(library, capfd, tmp_path, field):
    with Oracle(image(CODES["mips"]), tmp_path, capacity=10):
        control = tmp_path / "oracle"
        content = bytearray(control.read_bytes())
        struct.pack_into("=Q", content, getattr(Control, field).offset, 1 << 40)
        control.write_bytes(content)
        assert install(ctypes.CDLL(str(library)), f"control={control}") == -1
        assert "not a control file" in capfd.readouterr().err
