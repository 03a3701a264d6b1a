# SPDX-License-Identifier: MIT
"""trace_marker: the guest writes an event with a given text, by its own clock.

The stopped CPU calls ``tracing_mark_write()`` (guests/kernel/trace/trace_marker.c) with interrupts
masked, and no other CPU runs during the call.
"""

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

from harness.debugger import Debugger
from harness.errors import GuestError, UsageError
from harness.guest.calls import Calls
from harness.guest.cpus import StubCpus
from harness.image import Image
from harness.tracer.control_block import ControlBlock

WRITE = "tracing_mark_write"

ENTERS = ("handle_irq", "do_syscall")
"""Functions that a CPU calls on entry from user mode."""

STEPS, COMING = 500, 5.0
"""Maximum instructions and seconds until the kernel can be called."""

_EBADF = -9


class TracingOff(UsageError):
    """Nothing is recorded: tracing_on is 0."""


class TraceMarker:
    """Writes events into the ring buffer of one guest, whose ``run`` lets it run to a function."""

    def __init__(
        self,
        image: Image,
        debugger: Debugger,
        cpus: StubCpus,
        calls: Calls,
        run: Callable[[list[str]], object],
    ) -> None:
        self._isa = image.isa
        self._debugger = debugger
        self._cpus = cpus
        self._calls = calls
        self._run = run
        self._places = [name for name in ENTERS if name in image.symbols]
        self._write = image.address_of(WRITE)
        self._control = ControlBlock(image, debugger, "trace_marker_control")

    def write(self, text: str) -> None:
        """Write a text as one event, or as several if it is long.

        The ring buffer must have room, and no event may be unfinished.

        Raises:
            TracingOff: tracing_on is 0.
            GuestError: no process is in the kernel, or the guest refuses.
        """
        data = text.encode(errors="backslashreplace").removesuffix(b"\n") + b"\n"
        most = self._control.room("text") - 1
        self._come_to_kernel()
        with self._alone():
            for start in range(0, len(data), most):
                part = data[start : start + most] + b"\0"
                self._control.write(size=len(part), text=list(part))
                error = self._calls.call(self._write)
                if error == _EBADF:
                    raise TracingOff("the ring buffer is off", "Write 1 to tracing_on.")
                if error:
                    raise GuestError(f"{WRITE}() returned {error}")

    def _come_to_kernel(self) -> None:
        end = time.monotonic() + COMING
        debugger, cpu = self._debugger, self._isa.cpu
        steps = 0
        while steps < STEPS and time.monotonic() < end:
            debugger.select_thread(debugger.stop.thread if debugger.stop else 1)
            if not cpu.runs_kernel(debugger.read_register):
                self._run(self._places)
            elif self._is_ready:
                return
            else:
                debugger.step_instruction()
                steps += 1
        raise GuestError(
            "the CPU does not come to where the kernel can be called",
            "Let the guest run to a function of the kernel.",
        )

    @property
    def _is_ready(self) -> bool:
        """Whether the stopped CPU has a thread, and is in no delay slot and no exception's entry.

        QEMU's state of a taken branch is not visible to a debugger.  Nor is it in a block of
        conditional instructions, whose conditions would hold for the first ones of the call.
        """
        debugger, isa = self._debugger, self._isa
        pc = debugger.read_register(isa.abi.pc_register) & isa.mask
        cpu = (debugger.selected_thread or 1) - 1
        if self._cpus.enters(pc) or cpu not in self._cpus.current():
            return False
        if isa.cpu.in_block(debugger.read_register(isa.abi.status_registers[0])):
            return False
        size = isa.cpu.delay_slot
        return not size or not isa.cpu.has_delay_slot(
            debugger.read_memory((pc - size) & isa.mask, size)
        )

    @contextmanager
    def _alone(self) -> Iterator[None]:
        """Only the stopped CPU runs in the block, and takes no interrupts."""
        debugger, register = self._debugger, self._isa.abi.status_registers[0]
        locking = debugger.cli('output $_gdb_setting_str("scheduler-locking")').strip().strip('"')
        before = debugger.read_register(register)
        debugger.cli("set scheduler-locking on")
        debugger.write_register(register, self._isa.cpu.with_interrupts_masked(before))
        try:
            yield
        finally:
            debugger.write_register(register, before)
            debugger.cli(f"set scheduler-locking {locking}")
