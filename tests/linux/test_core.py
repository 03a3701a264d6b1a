# SPDX-License-Identifier: MIT
"""Kernels that are dead: memory dumps of them, their stubs, and recordings that they end."""

import io
import time
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.shell import attach as attach_command
from harness.config import LinuxConfig, load_any_config
from harness.errors import GuestDied, HostError, UsageError
from harness.guest import Guest, attach, open_dump
from harness.record import Request, record
from harness.trace import TraceDatReader
from tests.linux.test_attach import running
from tests.linux.test_function import booted, rows


def vmlinux_of(config: Path) -> Path:
    loaded = load_any_config(config)
    assert isinstance(loaded, LinuxConfig)
    return loaded.linux.vmlinux


def in_file(path: Path) -> list[tuple[int, int, str, str]]:
    return rows(list(TraceDatReader(io.BytesIO(path.read_bytes())).events()))


def dumped_to(guest: Guest, path: Path) -> None:
    try:
        guest.machine.qmp(
            "dump-guest-memory", deadline=120.0, paging=False, protocol=f"file:{path}"
        )
    except HostError as error:
        if "not currently supported" not in error.message:
            raise
        pytest.skip("QEMU writes no memory dumps of this architecture")


def test_a_dump_holds_what_the_stub_reads(linux_config: Path, tmp_path: Path) -> None:
    core, output = tmp_path / "core", tmp_path / "core.dat"
    with booted(linux_config, "work:1") as guest:
        guest.collector.configure(overwrite=True)
        guest.tracer.current = "function"
        guest.run("vfs_read", timeout=600.0)
        dumped_to(guest, core)
        guest.settle()
        guest.drain()
        live = rows(list(guest.tracer.events()))
    with open_dump(vmlinux_of(linux_config), core) as dead:
        assert dead.tracer.current == "function"
        assert dead.image.symbolize(dead.debugger.stop.address) == "vfs_read"
        assert "vfs_read" in dead.describe()
        dead.drain()
        held = rows(list(dead.tracer.events()))
        assert len(held) > 100
        # On a slow host a part of them was read before.
        assert held == live[-len(held) :]
        for change in (dead.run, lambda: setattr(dead.tracer, "current", "nop")):
            with pytest.raises(UsageError, match="a memory dump"):
                change()
    vmlinux = str(vmlinux_of(linux_config))
    script = tmp_path / "script"
    script.write_text(f"record -o {output}\n")
    given = ["--elf", vmlinux, "--core", str(core), "-x", str(script)]
    result = CliRunner().invoke(attach_command, given)
    assert result.exit_code == 0, result.output
    assert in_file(output) == held


def test_attach_reads_a_kernel_that_has_panicked(linux_config: Path) -> None:
    with running(linux_config, "work:1,tracer:function,work:1,tracing:0,panic") as (
        vmlinux,
        machine,
    ):
        machine.console.expect("Kernel panic", 600.0)
        # QEMU does not answer while nobody reads its console.
        end = time.monotonic() + 60.0
        while "end Kernel panic" not in machine.console.tail():
            assert time.monotonic() < end
            time.sleep(0.05)
            machine.console.drain()
        with attach(vmlinux, str(machine.gdb_socket)) as guest:
            assert guest.tracer.current == "function"
            guest.drain()
            assert "vfs_read" in {row[2] for row in rows(list(guest.tracer.events()))}
            # Now and then it is in the handler of an interrupt.
            end = time.monotonic() + 60.0
            while "panic" not in guest.describe():
                assert time.monotonic() < end
                guest.run(None, seconds=0.02)


def test_a_recording_that_a_panic_ends_has_its_last_events(
    linux_config: Path, tmp_path: Path
) -> None:
    loaded = load_any_config(linux_config)
    assert isinstance(loaded, LinuxConfig)
    table = loaded.linux.model_copy(update={"append": f"{loaded.linux.append} do=work:1,panic"})
    output = tmp_path / "panic.dat"
    request = Request(spec=loaded.model_copy(update={"linux": table}), output=output, timeout=600.0)
    with pytest.raises(GuestDied, match="panicked") as raised:
        record(request)
    assert str(output) in raised.value.advice
    names = [row[2] for row in in_file(output)]
    assert "console_verbose" in names[-20:]
    assert "vfs_read" in names
