# SPDX-License-Identifier: MIT
"""A running Linux kernel, stopped at any moment; and buffers smaller than the trace."""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count, pairwise
from pathlib import Path

import pytest

from harness.config import LinuxConfig, load_any_config
from harness.errors import WrongGuest
from harness.guest import Guest, LinuxGuest, attach
from harness.guest.linux_start import command_line
from harness.linux import open_image
from harness.machine import Machine
from tests.linux.test_function import WARNINGS, booted, rows

MOMENTS = 40

TIMEOUT = 600.0
"""Seconds until what comes by chance must have come, on a machine with other work."""

LOOP = {"aarch64": (0x14000000,), "mips": (0x1000FFFF, 0)}
"""A branch to itself, with its delay slot."""

HANGING = 2.0
"""Seconds in which a kernel comes to where it hangs, and is there."""


@contextmanager
def running(config: Path, do: str) -> Iterator[tuple[Path, Machine]]:
    """The vmlinux, and a machine whose init has begun its work."""
    loaded = load_any_config(config)
    assert isinstance(loaded, LinuxConfig)
    table = loaded.linux
    append = command_line(f"{table.append} do={do},poweroff", 256 << 10)
    with Machine(loaded, table.boot_file, append=append, initrd=table.initrd) as machine:
        machine.qmp("cont")
        machine.console.expect("Run /init as init", 600.0)
        yield table.vmlinux, machine


def in_user_mode(guest: Guest) -> bool:
    return not guest.image.isa.linux.runs_kernel(guest.debugger.read_register)


def test_attach_traces_a_running_kernel_from_any_moment(linux_config: Path) -> None:
    with running(linux_config, "work:1,work:1000000") as (vmlinux, machine):
        endpoint = str(machine.gdb_socket)
        with attach(vmlinux, endpoint) as guest:
            assert isinstance(guest, LinuxGuest)
            guest.tracer.set_filter("vfs_*")
            found: set[str] = set()
            end = time.monotonic() + TIMEOUT
            for moment in count():
                guest.tracer.current = "nop" if moment % 2 else "function"
                guest.run(None, seconds=0.02)
                if moment >= MOMENTS and not moment % 10:
                    found = {row[2] for row in rows(list(guest.tracer.events()))}
                    if found >= {"vfs_open", "vfs_read"}:
                        break
                    assert time.monotonic() < end
            guest.tracer.current = "nop"
            assert found <= set(guest.tracer.functions_of("vfs_*"))
        # It goes on, and nothing of the tracer is left.
        machine.console.drain()
        text = machine.console.log.read_text(errors="replace")
        assert not [word for word in WARNINGS if word in text]


def test_a_kernel_that_is_left_with_the_tracer_on_can_switch_it_off(linux_config: Path) -> None:
    with running(linux_config, "work:100000,tracer:nop,tracer:function,work:1") as (
        vmlinux,
        machine,
    ):
        with attach(vmlinux, str(machine.gdb_socket)) as guest:
            guest.run(None, seconds=0.05)
            guest.tracer.set_filter("vfs_*")
            guest.tracer.set_notrace("vfs_write")
            guest.tracer.current = "function"
        end = time.monotonic() + TIMEOUT
        while machine.alive:
            assert time.monotonic() < end
            time.sleep(0.05)
            machine.console.drain()
        text = machine.console.log.read_text(errors="replace")
        assert "init: ready" in text
        assert not [word for word in WARNINGS if word in text]


def test_a_cpu_in_user_mode_hides_nothing(linux_config: Path) -> None:
    with booted(linux_config, "work") as guest:
        guest.collector.configure()
        guest.run("version_proc_show", timeout=600.0)
        end = time.monotonic() + TIMEOUT
        while not in_user_mode(guest):
            assert time.monotonic() < end
            guest.run(None, seconds=0.01)
        guest.tracer.set_filter("vfs_*")
        guest.tracer.current = "function"
        # One round may be half over.
        for _ in range(2):
            guest.run("version_proc_show", timeout=600.0)
        guest.drain()
        assert "vfs_open" in {row[2] for row in rows(list(guest.tracer.events()))}


def test_attach_reads_a_kernel_that_hangs(linux_config: Path) -> None:
    with running(linux_config, "work") as (vmlinux, machine):
        with attach(vmlinux, str(machine.gdb_socket)) as guest:
            guest.tracer.set_filter("vfs_*")
            guest.tracer.current = "function"
            # It could already be on its way to the loop, and call nothing more that is traced.
            guest.run("vfs_read", timeout=TIMEOUT)
            isa = guest.image.isa
            loop = isa.encode(*LOOP[isa.name])
            guest.debugger.write_memory(guest.image.address_of("version_proc_show"), loop)
        time.sleep(HANGING)
        with attach(vmlinux, str(machine.gdb_socket)) as guest:
            assert guest.tracer.current == "function"
            guest.drain()
            found = rows(list(guest.tracer.events()))
            assert found[-1][2] == "vfs_read"
            guest.run(None, seconds=0.5)
            guest.drain()
            assert rows(list(guest.tracer.events())) == found


def test_the_event_that_is_being_written_is_read_later(linux_config: Path) -> None:
    with booted(linux_config, "work:5") as guest:
        guest.collector.configure()
        guest.tracer.set_filter("vfs_*")
        guest.tracer.current = "function"
        for _ in range(5):
            guest.run("ring_buffer_unlock_commit", timeout=600.0)
            assert guest.collector.writing() == [0]
            guest.collector.drain()
            counts = guest.collector.counts
            before = counts.entries
            guest.run(guest.debugger.read_register(guest.image.isa.abi.return_register), seconds=60)
            assert guest.collector.writing() == []
            guest.collector.drain()
            assert guest.collector.counts.entries == before + 1
        guest.run(timeout=600.0)
        guest.drain()
        events = list(guest.tracer.events())
        assert (guest.collector.counts.lost, guest.collector.counts.entries) == (0, len(events))
        assert not any(event.lost for event in events)


def test_attach_finds_the_tracer_that_is_on(linux_config: Path) -> None:
    with running(linux_config, "work:1,work:1000000") as (vmlinux, machine):
        with attach(vmlinux, str(machine.gdb_socket)) as guest:
            guest.tracer.set_filter("vfs_read", "vfs_open")
            guest.tracer.current = "function"
        with attach(vmlinux, str(machine.gdb_socket)) as guest:
            assert guest.tracer.current == "function"
            assert guest.tracer.filter_functions == ["vfs_open", "vfs_read"]
            guest.tracer.current = "nop"
            assert guest.tracer.enabled_functions == []


def test_another_kernel_is_refused(linux_config: Path, tmp_path: Path) -> None:
    loaded = load_any_config(linux_config)
    assert isinstance(loaded, LinuxConfig)
    data = loaded.linux.vmlinux.read_bytes()
    other = tmp_path / "vmlinux"
    build_id = open_image(data, "vmlinux").build_id
    # One that no other kernel has: gdb keeps an index by it.
    other.write_bytes(data.replace(build_id, build_id[::-1]))
    with (
        running(linux_config, "work:1,work:1000000") as (_, machine),
        pytest.raises(WrongGuest, match="is not"),
        attach(other, str(machine.gdb_socket)),
    ):
        pass


def test_nothing_is_lost_that_is_larger_than_the_buffer(linux_config: Path) -> None:
    with booted(linux_config, "work:20", 64 << 10) as guest:
        guest.collector.configure()
        guest.tracer.current = "function"
        guest.run(timeout=600.0)
        guest.tracer.current = "nop"
        guest.drain()
        counts = guest.collector.counts
        events = list(guest.tracer.events())
        assert (counts.lost, counts.entries) == (0, len(events))
        assert not any(event.lost for event in events)
        assert len(events) * 24 > 4 * (64 << 10)
        assert all(one.stamp <= other.stamp for one, other in pairwise(events))


def test_overwriting_keeps_the_newest(linux_config: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with booted(linux_config, "work:1", 64 << 10) as guest:
        guest.collector.configure(overwrite=True)
        guest.tracer.current = "function"
        with monkeypatch.context() as patch:
            # Nobody reads meanwhile.
            patch.setattr(guest.collector, "drain", lambda *arguments: True)
            guest.run(timeout=600.0)
        guest.tracer.current = "nop"
        guest.drain()
        counts = guest.collector.counts
        events = list(guest.tracer.events())
        assert counts.lost > 0
        assert counts.entries - counts.lost == len(events)
        assert any(event.lost for event in events)
