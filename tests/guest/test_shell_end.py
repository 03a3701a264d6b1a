# SPDX-License-Identifier: MIT
"""The end of the workload in the session: nothing waits for what cannot come."""

import pytest

from harness.config import load_config
from harness.guest import attach
from harness.kbuild import GuestSpec, build_guest
from harness.machine import Machine
from support.terminal import Terminal
from tests.support.configs import others

CONFIGS = ["mips-malta", "aarch64-virt-smp", *others()]

READY = "or help."

OVER = "the workload has returned 0: reboot, or restore a snapshot"

LONG = """
int workload(void);
__attribute__((noinline)) void never(void) { __asm__ volatile("" ::: "memory"); }
int workload(void)
{
	for (volatile unsigned int i = 0; i < 10u << 20; i++)
		;
	return 7;
}
"""


def test_everything_ends_with_the_workload(config, tmp_path):
    with Terminal("shell", "-c", config, state_home=tmp_path) as terminal:
        terminal.wait(READY)
        terminal.do("snapshot begin")
        terminal.do("current_tracer function", "tracer function")
        terminal.do("c", "stopped at workload_done, CPU 0 | the workload has returned 0 | ")
        for line in ("c", "run", "run leaf", "stubs", "record -p function", "trace_pipe", "gdb c"):
            assert "running" not in terminal.do(line, OVER)
        terminal.do("trace 1", "workload-1", "tracer function")
        # gdb's own commands can still let it run: it does not for ever.
        terminal.do("finish", "the workload has returned 0", " | the workload has returned 0 | ")
        terminal.do("gdb continue 2", "the workload has returned 0", "stopped at")
        terminal.do("current_tracer nop", "tracer nop")
        terminal.do("restore begin", "stopped at workload, CPU 0 | tracer nop")
        terminal.do("delete", "stay")
        terminal.do("continue 2", "the workload has returned 0", "stopped at workload_done")
        terminal.do("reboot", "stopped at workload, CPU 0 | tracer nop")
        terminal.do("record -p function -l leaf", "the workload has returned 0", "8 events")
        terminal.do("restore begin", "no snapshot")
        terminal.do("reboot", "stopped at workload, CPU 0 | tracer nop")
        terminal.do("stubs", "the workload has returned 0 without a call of ")


def test_lines_typed_ahead_are_executed(config, tmp_path):
    """Before the guest runs and while it runs; and the status is what workload() returned."""
    source = tmp_path / "long.c"
    source.write_text(LONG)
    build_guest(GuestSpec.of(config, source))
    with Terminal("shell", "-c", config, "--workload", source, state_home=tmp_path) as terminal:
        terminal.wait(READY)
        terminal.type("run never\rp 6*7\r")
        terminal.wait("running")
        terminal.type("p 6*8\rconsole 2\r")
        terminal.wait("= 42", "= 48", "workload: returned 7", "| the workload has returned 7 |")
        assert terminal.text.index("= 42") < terminal.text.index("= 48")


@pytest.fixture
def ended():
    """A machine whose workload is over: its image, and the socket of its stub."""
    config = load_config("mips-malta")
    with Machine(config, build_guest(GuestSpec.of(config))) as machine:
        with attach(machine.kernel, str(machine.gdb_socket)) as guest:
            guest.run()
            guest.run(until="cpu_idle")
        yield machine.kernel, machine.gdb_socket


def test_attaching_to_a_guest_that_has_ended(tmp_path, ended):
    elf, socket = ended
    with Terminal("attach", "--elf", elf, "--gdb", socket, state_home=tmp_path) as terminal:
        terminal.wait(READY, "the workload has returned 0 | tracer nop")
        terminal.do("c", OVER)
