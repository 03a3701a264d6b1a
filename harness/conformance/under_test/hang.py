# SPDX-License-Identifier: MIT
"""Errors of a guest under test that does not continue, and how long the suite waits for it.

The time is that of QEMU's threads, so that the load of the host has no influence.  A guest that
only jumps to itself is not waited for.
"""

import time
from collections.abc import Callable, Collection
from pathlib import Path

from harness.conformance.under_test.registers import RegisterFile
from harness.conformance.verdict import FRAME_POINTER, HOME_AREA, UNLOADED, Place
from harness.errors import GdbError, GuestDied, GuestError, HarnessError
from harness.guest import Guest

RUNNING = 0.25
"""Seconds of CPU time that QEMU may use for each CPU of the guest.

The longest runs of all checks take 0.04 on one CPU, 0.09 on two and 0.06 on four.
"""

SLEEPING = 4.0
"""Seconds in a row that QEMU may neither run nor be runnable.  Guests under test sleep for less."""

CLOCK = 20.0
"""Seconds that it may take in all; also the limit on hosts that do not count CPU time."""

HALTED = "halted"
"""In the name that QEMU's stub gives to a CPU that waits for an interrupt."""

_AWAKE = 0.1
"""The share of the time from which on QEMU counts as running; to stop and continue it takes
less."""


class Hang(GuestDied):
    """The guest ran without reaching the expected place."""


class NeverBoots(GuestDied):
    """The guest did not reach its workload, with no tracer on.

    ``place`` is the port's instruction that raised the exception, or at which the guest hung.
    """

    place: Place | None = None


class PortRefused(GuestError):
    """A patching function of the port returned an error for a valid request."""


class NotLoaded(GuestError):
    """The guest refused a module."""


BAD_FRAME_POINTER = "Bad frame pointer: "
"""Of the kernel's panic, with FUNCTION_GRAPH_FP_TEST."""


def subject_of_end(error: HarnessError, seen: str, home: Collection[str] = ()) -> str:
    """What the failures are about of a check that an error has ended; ``seen`` is its evidence.

    ``home`` are the words, in hexadecimal, that are written to the home areas of called functions.
    """
    if isinstance(error, NotLoaded):
        return UNLOADED
    # The guest went where such a word points.
    if any(word in seen.partition("\n")[0] for word in home):
        return HOME_AREA
    return FRAME_POINTER if BAD_FRAME_POINTER in seen else ""


class HangDetector:
    """From now on, distinguishes a guest that hangs from one that gets little CPU time."""

    def __init__(
        self, pid: int, cpus: int = 1, clock: Callable[[], float] = time.monotonic
    ) -> None:
        """``cpus`` are those of the guest."""
        self._pid = pid
        self._enough = RUNNING * cpus
        self._clock = clock
        self._start = self._looked = self._awake = clock()
        self._first = self._last = scheduled(pid)

    @property
    def hangs(self) -> bool:
        """Whether the guest hangs.  Call this several times a second."""
        now, (ran, waited) = self._clock(), scheduled(self._pid)
        busy = ran - self._last[0] + waited - self._last[1]
        if busy > _AWAKE * (now - self._looked):
            self._awake = now
        self._looked, self._last = now, (ran, waited)
        stuck = ran - self._first[0] > self._enough or now - self._awake > SLEEPING
        return now - self._start > CLOCK or (stuck and ran > 0)


def jumps_to_itself(guest: Guest, registers: RegisterFile) -> bool:
    """Whether nothing happens in a stopped guest any more but a jump to itself.

    One CPU masks interrupts, and executes a branch to its own address that leaves all registers as
    they are; the others wait for an interrupt.
    """
    debugger, isa = guest.debugger, guest.image.isa
    try:
        running = [thread for thread in debugger.threads() if HALTED not in thread.name]
        if len(running) != 1:
            return False
        here, thread = running[0].pc, running[0].id
        branch, *behind = isa.disassemble(debugger.read_memory(here, 2 * isa.longest), here)
        if not branch.text.endswith(f"{here & isa.mask:#x}"):
            return False
        if isa.cpu.delay_slot and behind[0].bytes_ != isa.sites.nop:
            return False  # It may look at something that changes.
        debugger.select_thread(thread)
        before = registers.read()
        for _ in range(2 if isa.cpu.delay_slot else 1):
            debugger.step_instruction(thread)
        after = registers.read()
    except (GdbError, GuestError):
        return False
    status = after[isa.abi.status_registers[0]]
    masked = isa.cpu.interrupt_mask(isa.cpu.with_interrupts_masked(status))
    return before == after and isa.cpu.interrupt_mask(status) == masked


def scheduled(pid: int) -> tuple[float, float]:
    """Seconds that the threads of a process have run, and have waited for a CPU.

    From ``/proc/PID/task/*/schedstat`` (Documentation/scheduler/sched-stats.rst of Linux:
    nanoseconds).  0 for a process that is gone, and on hosts that do not count.
    """
    ran = waited = 0
    for file in Path(f"/proc/{pid}/task").glob("*/schedstat"):
        try:
            on_cpu, in_queue, _ = file.read_text().split()
        except (OSError, ValueError):  # the thread ends
            continue
        ran, waited = ran + int(on_cpu), waited + int(in_queue)
    return ran / 1e9, waited / 1e9
