# SPDX-License-Identifier: MIT
"""One QEMU: its start, its errors, and that it leaves nothing behind."""

import os
import select
import stat
import subprocess
import sys
import time

import pytest

from harness import boot
from harness.config import load_config
from harness.debugger import Debugger
from harness.errors import GuestDied, HostError, UsageError
from harness.image import Image
from harness.isa import cpu_of
from harness.kbuild import GuestSpec, build_guest
from harness.machine import Machine
from harness.machine.console import WINDOW
from tests.support.configs import one_per_architecture

ONE_PER_ARCHITECTURE = one_per_architecture()

FLOOD = """\
#include <stdio.h>
int workload(void)
{
	for (;;)
		printf("all work and no play makes this guest a dull guest, again and again\\n");
}
"""
FAULT = """\
int workload(void)
{
	int *volatile nowhere = (int *)8;

	return *nowhere;
}
"""


def with_qemu(config, **changes):
    return config.model_copy(update={"qemu": config.qemu.model_copy(update=changes)})


@pytest.fixture
def kernel_of(tmp_path):
    """A guest around the text of a workload."""

    def build(config, source):
        file = tmp_path / "mine.c"
        file.write_text(source)
        return build_guest(GuestSpec.of(config, file))

    return build


def test_life(config):
    config = load_config(config)
    machine = Machine(config, build_guest(GuestSpec.of(config)))
    with machine:
        assert machine.alive
        assert machine.qmp("query-status")["status"] == "prelaunch"
        assert stat.S_IMODE(machine.directory.stat().st_mode) == 0o700
        assert machine.gdb_socket.is_socket()
        machine.qmp("cont")
        machine.console.expect(r"workload: returned 0", 30)
        machine.qmp("stop")
        assert machine.qmp("query-status")["status"] == "paused"
        with pytest.raises(HostError, match="QEMU refused no-such-command"):
            machine.qmp("no-such-command")
        process = os.pidfd_open(machine.pid)
    try:
        assert select.select([process], [], [], 0)[0]
    finally:
        os.close(process)
    assert not machine.directory.exists()
    assert not machine.alive
    machine.stop()


def test_a_plugin_that_qemu_refuses_is_named(tmp_path):
    """As the oracle's, by a QEMU with a later interface."""
    plugin = tmp_path / "later.so"
    source = "int qemu_plugin_version = 1000000; int qemu_plugin_install(void) { return 0; }"
    compiler = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", plugin]
    subprocess.run(compiler, input=source, text=True, check=True)
    config = load_config("mips-malta")
    with pytest.raises(HostError, match="does not load the plugin") as caught:
        Machine(config, build_guest(GuestSpec.of(config)), plugins=[str(plugin)]).start()
    assert "API version 1000000" in str(caught.value)


def test_failed_start_is_told_in_full():
    config = load_config("mips-malta")
    kernel = build_guest(GuestSpec.of(config))
    with pytest.raises(HostError, match="QEMU did not start") as caught:
        Machine(with_qemu(config, cpu="no such"), kernel).start()
    evidence = caught.value.evidence
    assert "exit status 1" in evidence
    assert "-cpu 'no such'" in evidence
    assert "unable to find CPU model" in evidence
    machine = Machine(config, kernel, plugins=["/nowhere/plugin.so"])
    with pytest.raises(HostError) as caught:
        machine.start()
    assert "/nowhere/plugin.so" in caught.value.evidence
    assert not machine.directory.exists()


def test_qemu_that_is_not_installed_names_the_package():
    config = load_config("aarch64-virt")
    with pytest.raises(HostError, match="qemu-nowhere is not installed") as caught:
        Machine(with_qemu(config, binary="qemu-nowhere"), build_guest(GuestSpec.of(config))).start()
    assert "qemu-system-arm" in caught.value.advice


@pytest.mark.parametrize("attribute", ["vectors_symbol", "fatal_entry"])
def test_a_symbol_that_only_the_host_knows_is_named(attribute, monkeypatch):
    cpu = cpu_of(load_config(ONE_PER_ARCHITECTURE[0]).architecture)
    monkeypatch.setattr(cpu, attribute, "nowhere")
    with (
        pytest.raises(UsageError, match=f"no symbol nowhere, which is {cpu.__name__}.{attribute}"),
        boot(ONE_PER_ARCHITECTURE[0], "calls"),
    ):
        pass


def test_killed_qemu_is_noticed():
    config = load_config("mips-malta")
    with Machine(config, build_guest(GuestSpec.of(config))) as machine:
        os.kill(machine.pid, 9)
        assert select.select([machine.process_fd], [], [], 30)[0]
        assert not machine.alive
        assert "was killed by SIGKILL" in machine.exit_report()
        with pytest.raises(HostError) as caught:
            machine.qmp("query-status")
        assert "SIGKILL" in caught.value.evidence


def test_nothing_outlives_a_killed_harness(tmp_path):
    script = """\
import time
from harness.kbuild import GuestSpec, build_guest
from harness.config import load_config
from harness.debugger import Debugger
from harness.machine import Machine
config = load_config("mips-malta")
kernel = build_guest(GuestSpec.of(config))
with Machine(config, kernel) as machine, Debugger() as debugger:
    debugger.symbols.load(kernel)
    debugger.connect(machine.gdb_socket)
    debugger.resume()
    print(machine.pid, debugger.session.pid, flush=True)
    time.sleep(600)
"""
    # Killed, it cannot remove its private directories: they go with the test's own.
    environment = os.environ | {"TMPDIR": str(tmp_path), "XDG_RUNTIME_DIR": ""}
    parent = subprocess.Popen(
        [sys.executable, "-c", script], stdout=subprocess.PIPE, env=environment
    )
    processes = []
    try:
        processes = [os.pidfd_open(int(pid)) for pid in parent.stdout.readline().split()]
        assert len(processes) == 2
        parent.kill()
        for process in processes:
            assert select.select([process], [], [], 30)[0]
    finally:
        for process in processes:
            os.close(process)
        parent.kill()
        parent.wait()
        parent.stdout.close()


@pytest.mark.parametrize("name", ONE_PER_ARCHITECTURE)
@pytest.mark.parametrize("step", ["connect", "write_memory"])
def test_qemu_that_dies_at_its_start_is_said_to_be_dead(name, step, monkeypatch):
    """Before gdb is connected, and after: the guest is not at fault."""
    started = []
    start, do = Machine.start, getattr(Debugger, step)

    def kill_and_do(debugger, *arguments):
        os.kill(started[0].pid, 9)
        assert started[0].ended(30)
        return do(debugger, *arguments)

    def begin(machine):
        started.append(machine)
        start(machine)

    monkeypatch.setattr(Machine, "start", begin)
    monkeypatch.setattr(Debugger, step, kill_and_do)
    with pytest.raises(HostError, match="QEMU ended at its start") as caught, boot(name):
        raise AssertionError("the guest was started")
    assert "was killed by SIGKILL" in caught.value.evidence


@pytest.mark.parametrize("name", ONE_PER_ARCHITECTURE)
def test_death_of_the_guest(name, kernel_of):
    config = load_config(name)
    with Machine(config, kernel_of(config, FAULT)) as machine:
        machine.qmp("cont")
        with pytest.raises(GuestDied) as caught:
            machine.console.expect("workload: returned", 30)
        assert machine.console.died == "Unhandled exception"
        assert "Kernel panic - not syncing" in caught.value.evidence
        assert machine.alive


@pytest.mark.parametrize("name", ONE_PER_ARCHITECTURE)
def test_guest_that_prints_for_ever(name, kernel_of, tmp_path):
    config = load_config(name)
    kernel = kernel_of(config, FLOOD)
    with Machine(config, kernel, keep=tmp_path / "kept") as machine, Debugger() as debugger:
        debugger.session.add_reader(machine.console.fileno(), machine.console.drain)
        debugger.symbols.load(kernel)
        debugger.connect(machine.gdb_socket)
        debugger.resume()
        while machine.console.received < 4 * WINDOW:
            assert debugger.wait_stop(30, also=[machine.console.fileno()]) is None
        debugger.interrupt()
        assert debugger.wait_stop(30).reason == "signal-received"
        assert len(machine.console.tail(1_000_000)) <= 2 * WINDOW
        machine.qmp("query-status")
    log = (tmp_path / "kept/console.log").read_bytes()
    assert len(log) == machine.console.received
    assert log.count(b"again and again") > 1000


@pytest.mark.parametrize("name", ONE_PER_ARCHITECTURE)
def test_stop_although_nobody_reads_the_console(name, kernel_of):
    config = load_config(name)
    machine = Machine(config, kernel_of(config, FLOOD))
    with machine:
        machine.qmp("cont")
        # Until the socket is full, and QEMU's CPU thread perhaps waits for us.
        end, before = time.monotonic() + 5, -1
        while before != (before := _unread(machine)) or not before:
            assert time.monotonic() < end
            select.select([], [], [], 0.1)
    assert not machine.alive


def _unread(machine):
    import fcntl
    import struct
    import termios

    return struct.unpack("i", fcntl.ioctl(machine.console.fileno(), termios.FIONREAD, b"\0" * 4))[0]


@pytest.mark.parametrize("name", ONE_PER_ARCHITECTURE)
def test_deterministic_runs_are_the_same(name):
    config = load_config(name)
    kernel = build_guest(GuestSpec.of(config))
    image = Image(kernel.read_bytes(), name)

    def run():
        with (
            Machine(config, kernel, deterministic=True) as machine,
            Debugger() as debugger,
        ):
            debugger.symbols.load(kernel)
            debugger.connect(machine.gdb_socket)
            debugger.breakpoints.insert(image.symbols["workload_done"])
            debugger.resume()
            assert debugger.wait_stop(60) is not None
            machine.console.drain()
            registers = debugger.registers()
            registers |= {
                name: debugger.read_register(name) for name in image.isa.abi.status_registers
            }
            return registers, machine.console.tail()

    assert run() == run()
