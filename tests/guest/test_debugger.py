# SPDX-License-Identifier: MIT
"""gdb on live guests: memory, registers, breakpoints, steps, and ends."""

import os
import re
import select
import shutil
from dataclasses import dataclass
from itertools import pairwise

import pytest

from harness.config import load_config
from harness.debugger import Debugger
from harness.errors import DeadlineMissed, DebuggerDied, GdbError, UsageError
from harness.image import Image
from harness.kbuild import GuestSpec, build_guest
from harness.machine import Machine
from tests.support.configs import one_per_architecture

ONE_PER_ARCHITECTURE = one_per_architecture()
BRANCH = re.compile(r"(b|j|cb|tb|ret|call)")
UNMAPPED = 0x1000

ATOMIC = """\
static int counter;
__attribute__((noipa)) int bump(void)
{
	return __atomic_add_fetch(&counter, 1, __ATOMIC_SEQ_CST);
}
int workload(void)
{
	return bump() != 1;
}
"""


@dataclass
class Live:
    """A guest at the first instruction of its workload."""

    machine: Machine
    debugger: Debugger
    image: Image

    def run_to(self, symbol):
        number = self.debugger.breakpoints.insert(self.image.symbols[symbol])
        self.debugger.resume()
        stop = self.debugger.wait_stop(60)
        assert stop is not None
        assert (stop.reason, stop.breakpoint) == ("breakpoint-hit", number)
        assert stop.address == self.image.symbols[symbol]
        self.debugger.breakpoints.delete(number)
        return stop

    def status(self):
        raw = self.debugger.read_memory(self.image.symbols["workload_status"], 4)
        return int.from_bytes(raw, self.image.byteorder, signed=True)


@pytest.fixture
def live():
    """A function that boots the guest of a config."""
    open_debuggers, open_machines = [], []

    def boot(name, workload="calls"):
        config = load_config(name)
        kernel = build_guest(GuestSpec.of(config, workload))
        machine = Machine(config, kernel)
        open_machines.append(machine)
        machine.start()
        debugger = Debugger()
        open_debuggers.append(debugger)
        debugger.session.add_reader(machine.console.fileno(), machine.console.drain)
        debugger.symbols.load(kernel)
        debugger.memory.forbid(config.qemu.unreadable)
        debugger.connect(machine.gdb_socket)
        guest = Live(machine, debugger, Image(kernel.read_bytes(), name))
        guest.run_to("workload")
        return guest

    yield boot
    for opened in (*open_debuggers, *open_machines):
        (opened.close if isinstance(opened, Debugger) else opened.stop)()


def test_memory(config, live):
    guest = live(config)
    debugger, image = guest.debugger, guest.image
    # The guest has made nops of its call sites; in front of the first one it is as built.
    start, size = image.text.start, image.sites[0].address - image.text.start
    assert debugger.dump_memory(start, size) == image.read(start, size)
    assert debugger.read_memory(start + 5, 64) == image.read(start + 5, 64)

    heap = image.symbols["__heap_start"] + 0x10000
    for address, size in ((heap, 4), (heap + 1, 3), (heap + 1021, 7), (heap + 5, 100_001)):
        data = os.urandom(size)
        debugger.write_memory(address, data)
        assert debugger.read_memory(address, size) == data
        assert debugger.dump_memory(address, size) == data
        data = data[::-1]
        debugger.restore_memory(address, data)
        assert debugger.dump_memory(address, size) == data
        assert debugger.read_memory(address, size) == data
    assert debugger.read_memory(heap, 0) == debugger.dump_memory(heap, 0) == b""


def test_memory_that_is_not_there(config, live):
    debugger = live(config).debugger
    for read in (debugger.read_memory, debugger.dump_memory):
        with pytest.raises(GdbError, match=f"cannot read 16 bytes at {UNMAPPED:#x}"):
            read(UNMAPPED, 16)


INTERRUPT_CONTROLLER, COHERENCE_MANAGER = 0x1BDC0000, 0x1FBF8000
"""Where they lie in a Malta: guests/arch/mips/include/asm/cps.h."""


@pytest.mark.parametrize("name", ["mips-malta-smp", "mips64-malta-smp"])
def test_memory_that_must_not_be_read(name, live):
    """Neither gdb nor QEMU dies: address 0 before such a range, and the range itself."""
    guest = live(name)
    debugger, text = guest.debugger, guest.image.text.start
    debugger.memory.linear = guest.image.isa.cpu.linear_address
    ranges = load_config(name).qemu.unreadable
    firsts = [int(addresses.split("-")[0], 16) for addresses in ranges]
    physical = [guest.image.isa.cpu.linear_address(first) for first in firsts]
    assert physical == [INTERRUPT_CONTROLLER, COHERENCE_MANAGER]
    for address in (0, *(first + offset for first in firsts for offset in (0, 0x1000, -4))):
        for read in (debugger.read_memory, debugger.dump_memory):
            with pytest.raises(GdbError, match="cannot read 8 bytes"):
                read(address, 8)
    debugger.forget()
    assert debugger.read_memory(text, 16) == guest.image.read(text, 16)


def test_registers(config, live):
    guest = live(config)
    debugger, image = guest.debugger, guest.image
    names = [*image.isa.abi.general_registers, image.isa.abi.pc_register]
    registers = debugger.registers()
    assert set(names) <= set(registers)
    assert registers[image.isa.abi.pc_register] == image.symbols["workload"]
    for name in image.isa.abi.status_registers:
        debugger.read_register(name)
    name = image.isa.abi.general_registers[9]
    for value in (0, 0x12345678, (1 << image.bits) - 1):
        debugger.write_register(name, value)
        assert debugger.read_register(name) == debugger.registers()[name] == value
    with pytest.raises(UsageError, match="is not a register"):
        debugger.read_register("nonsense")


def test_what_was_read_is_read_again_after_a_run(config, live):
    guest = live(config)
    before = guest.debugger.registers(), guest.status()
    assert guest.debugger.registers() == before[0]
    guest.debugger.write_memory(guest.image.symbols["workload_status"], b"\xff" * 4)
    assert guest.status() == -1
    guest.run_to("workload_done")
    assert guest.status() == 0
    assert guest.debugger.registers() != before[0]


def test_where_it_is(config, live):
    guest = live(config)
    threads = guest.debugger.threads()
    assert [thread.id for thread in threads] == [*range(1, load_config(config).qemu.smp + 1)]
    thread = threads[0]
    assert (thread.id, thread.pc) == (1, guest.image.symbols["workload"])
    assert thread.name.startswith("CPU#0")
    frames = guest.debugger.frames.backtrace(5)
    assert 1 <= len(frames) <= 5
    assert frames[0].function == "workload"
    assert frames[0].file == "guests/workloads/calls.c"
    for thread in reversed(threads):
        guest.debugger.cli(f"thread {thread.id}")
        assert guest.debugger.selected_thread == thread.id


def test_breakpoint_on_text_that_changes(config, live):
    """QEMU keeps breakpoints outside of the guest's memory: neither change may undo the other."""
    guest = live(config)
    debugger, isa = guest.debugger, guest.image.isa
    leaf = guest.image.symbols["leaf"]
    size = len(isa.sites.nop)
    old = debugger.read_memory(leaf, size)
    number = debugger.breakpoints.insert(leaf)
    debugger.resume()
    assert debugger.wait_stop(30).breakpoint == number
    assert debugger.read_memory(leaf, size) == old
    for write in (debugger.write_memory, debugger.restore_memory):
        write(leaf, isa.sites.nop)
        assert debugger.read_memory(leaf, size) == isa.sites.nop
        write(leaf, old)
        debugger.resume()
        stop = debugger.wait_stop(30)
        assert (stop.breakpoint, stop.address) == (number, leaf)
        assert debugger.dump_memory(leaf, size) == old
    debugger.breakpoints.delete(number)
    guest.run_to("workload_done")
    assert guest.status() == 0


def test_changed_text_runs(config, live):
    """A function that is replaced by a jump to itself loops until it is restored."""
    guest = live(config)
    debugger, isa = guest.debugger, guest.image.isa
    leaf = guest.image.symbols["leaf"]
    number = debugger.breakpoints.insert(leaf)
    debugger.resume()
    assert debugger.wait_stop(30).breakpoint == number
    debugger.breakpoints.delete(number)
    loop = isa.sites.encode_jump(leaf, leaf) + isa.sites.nop
    old = debugger.read_memory(leaf, len(loop))
    debugger.write_memory(leaf, loop)
    debugger.resume()
    assert debugger.wait_stop(0.2) is None
    debugger.interrupt()
    assert debugger.wait_stop(30).signal == "SIGINT"
    # With several CPUs the stub may tell of another one.
    (stays,) = [thread for thread in debugger.threads() if thread.pc in (leaf, leaf + 4)]
    debugger.select_thread(stays.id)
    debugger.write_register(isa.abi.pc_register, leaf)
    debugger.write_memory(leaf, old)
    guest.run_to("workload_done")
    assert guest.status() == 0


@pytest.mark.parametrize("name", ONE_PER_ARCHITECTURE)
def test_temporary_breakpoint_by_name(name, live):
    guest = live(name)
    guest.debugger.breakpoints.insert("leaf", temporary=True)
    guest.debugger.resume()
    assert guest.debugger.wait_stop(30).address == guest.image.symbols["leaf"]
    guest.run_to("workload_done")


def test_steps_are_exact(config, live, tmp_path):
    """Also through an atomic sequence, which gdb's own step would skip, and through branches."""
    source = tmp_path / "atomic.c"
    source.write_text(ATOMIC)
    guest = live(config, source)
    guest.run_to("bump")
    debugger, isa = guest.debugger, guest.image.isa
    seen = [debugger.stop.address]
    for _ in range(40):
        stop = debugger.step_instruction()
        assert stop.reason == "step"
        seen.append(stop.address)
    assert debugger.read_register(isa.abi.pc_register) == seen[-1]

    def instruction(address):
        return isa.split(debugger.read_memory(address, isa.longest))[0]

    def branches(address):
        code = instruction(address)
        returns = isa.cpu.is_return(code)
        return returns or BRANCH.match(isa.disassemble(code, address)[0].text) is not None

    def in_delay_slot(address):
        size = isa.cpu.delay_slot
        return size and branches(address - size)

    for before, after in pairwise(seen):
        # Out of order only behind a branch, or behind the delay slot of one.
        behind = before + len(instruction(before))
        assert after == behind or branches(before) or in_delay_slot(before), hex(before)
    guest.run_to("workload_done")
    assert guest.status() == 0


def test_steps_and_breakpoints(config, live):
    guest = live(config)
    debugger = guest.debugger
    isa, workload = guest.image.isa, guest.image.symbols["workload"]
    first, second = isa.split(guest.image.read(workload, 2 * isa.longest))[:2]
    offsets = (0, len(first), len(first) + len(second))
    numbers = [debugger.breakpoints.insert(workload + offset) for offset in offsets]
    assert debugger.step_instruction().address == workload + len(first)
    # Now at a breakpoint that was not hit: stepping goes on all the same.
    assert debugger.step_instruction().address != workload + len(first)
    for number in numbers:
        debugger.breakpoints.delete(number)
    guest.run_to("workload_done")


def test_step_moves_one_cpu_only():
    config = load_config("mips-malta")
    kernel = build_guest(GuestSpec.of(config))
    config = config.model_copy(update={"qemu": config.qemu.model_copy(update={"smp": 2})})
    with Machine(config, kernel) as machine, Debugger() as debugger:
        debugger.symbols.load(kernel)
        debugger.connect(machine.gdb_socket)
        first, second = (thread.pc for thread in debugger.threads())
        for thread, expected in ((2, (first, second + 4)), (1, (first + 4, second + 4))):
            stop = debugger.step_instruction(thread=thread)
            assert (stop.thread, stop.address) == (thread, expected[thread - 1])
            assert tuple(thread.pc for thread in debugger.threads()) == expected
            assert debugger.read_register("pc") == stop.address
        debugger.select_thread(2)
        assert debugger.read_register("pc") == second + 4


@pytest.mark.parametrize("name", ONE_PER_ARCHITECTURE)
def test_interrupt_of_an_idle_guest_whose_cpu_sleeps(name, live):
    guest = live(name)
    guest.run_to("workload_done")
    debugger = guest.debugger
    for _ in range(20):
        debugger.resume()
        assert debugger.running
        debugger.interrupt()
        stop = debugger.wait_stop(30)
        assert (stop.reason, stop.signal) == ("signal-received", "SIGINT")
    debugger.resume()
    guest.machine.console.drain()
    debugger.wait_stop(0.1)
    debugger.interrupt()
    assert debugger.wait_stop(30).signal == "SIGINT"
    with pytest.raises(DeadlineMissed, match="did not finish one instruction"):
        debugger.step_instruction()
    assert debugger.read_register(guest.image.isa.abi.pc_register) == debugger.stop.address
    debugger.resume()
    debugger.interrupt()
    assert debugger.wait_stop(30).signal == "SIGINT"


@pytest.mark.parametrize("name", ONE_PER_ARCHITECTURE)
def test_running_guest_refuses_what_needs_a_stopped_one(name, live):
    guest = live(name)
    guest.run_to("workload_done")
    guest.debugger.resume()
    with pytest.raises(GdbError, match="running"):
        guest.debugger.read_memory(guest.image.symbols["leaf"], 4)
    with pytest.raises(GdbError, match="running"):
        guest.debugger.dump_memory(guest.image.symbols["leaf"], 4)
    with pytest.raises(UsageError, match="Interrupt it first"):
        guest.debugger.breakpoints.insert(guest.image.symbols["leaf"])


@pytest.mark.parametrize("name", ONE_PER_ARCHITECTURE)
def test_killed_qemu(name, live):
    guest = live(name)
    guest.run_to("workload_done")
    guest.debugger.resume()
    os.kill(guest.machine.pid, 9)
    with pytest.raises(DebuggerDied, match="closed the connection"):
        guest.debugger.wait_stop(30)
    assert not guest.machine.alive


def test_qemu_that_ends_by_itself(live):
    guest = live("mips-malta")
    guest.run_to("workload_done")
    guest.debugger.resume()
    guest.machine.qmp("quit")
    with pytest.raises(DebuggerDied, match="closed the connection"):
        guest.debugger.wait_stop(30)
    assert guest.machine.ended(timeout=30)
    assert "exit status 0" in guest.machine.exit_report()


def test_killed_qemu_is_seen_through_its_process(live):
    guest = live("mips-malta")
    guest.run_to("workload_done")
    guest.debugger.resume()
    os.kill(guest.machine.pid, 9)
    assert select.select([guest.machine.process_fd], [], [], 30)[0]


def test_killed_gdb(live):
    guest = live("mips-malta")
    os.kill(guest.debugger.session.pid, 9)
    with pytest.raises(DebuggerDied, match="was killed by SIGKILL"):
        guest.debugger.command("-thread-info")
    assert guest.machine.alive


@pytest.mark.parametrize("name", ONE_PER_ARCHITECTURE)
def test_leaving_and_coming_back(name, live):
    guest = live(name)
    guest.debugger.breakpoints.insert(guest.image.symbols["leaf"])
    guest.debugger.disconnect(resume=True)
    guest.machine.console.expect("workload: returned 0", 30)
    with Debugger() as other:
        other.symbols.load(build_guest(GuestSpec.of(name)))
        other.connect(guest.machine.gdb_socket)
        assert other.stop is not None
        assert not other.running
        other.disconnect()
    assert guest.machine.qmp("query-status")["running"] is False
    guest.debugger.connect(guest.machine.gdb_socket)
    assert guest.status() == 0


def test_awkward_names_and_nothing_strange_is_run(tmp_path, monkeypatch):
    config = load_config("mips-malta")
    directory = tmp_path / "a \"b\" 'c' d:e,f\\g $h"
    directory.mkdir()
    kernel = directory / "vm linux"
    shutil.copy(build_guest(GuestSpec.of(config)), kernel)
    trap = tmp_path / "trap"
    for name in ("vm linux-gdb.gdb", ".gdbinit", "vm linux-gdb.py"):
        (directory / name).write_text(
            f"open({str(trap)!r}, 'w')\n" if name.endswith("py") else f"shell touch {trap}\n"
        )
    monkeypatch.setenv("HOME", str(directory))
    monkeypatch.setenv("TMPDIR", str(directory))
    monkeypatch.chdir(directory)
    with Machine(config, kernel) as machine, Debugger() as debugger:
        link = directory / "so cket:1"
        link.symlink_to(machine.gdb_socket)
        debugger.symbols.load(kernel)
        debugger.connect(str(link))
        debugger.breakpoints.insert("workload")
        debugger.resume()
        assert debugger.wait_stop(30).reason == "breakpoint-hit"
        assert len(debugger.dump_memory(debugger.stop.address, 5000)) == 5000
    assert not trap.exists()


def test_no_stub_at_the_socket(tmp_path):
    import socket

    with socket.socket(socket.AF_UNIX) as nobody, Debugger() as debugger:
        nobody.bind(str(tmp_path / "s"))
        with pytest.raises(GdbError, match="cannot connect to the stub"):
            debugger.connect(tmp_path / "s")
