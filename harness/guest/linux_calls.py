# SPDX-License-Identifier: MIT
"""Calls of a Linux kernel's own functions, in the process that runs in it."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from typing import NamedTuple, Protocol

from harness.debugger import Debugger
from harness.errors import GuestError, HarnessError, UsageError
from harness.linux import Kernel
from harness.readout import EventBuffer, LinuxCollector

FROM_USER = ("vfs_read", "vfs_write", "do_sys_openat2")
"""Functions of system calls: a call from there ends also if other processes hang."""

CALLABLE = (*FROM_USER, "schedule_timeout")
"""Functions that may sleep: their callers hold no spinlock and are not in an RCU read-side section.

One of them is called soon.
"""

ENDS = ("kernel_power_off", "kernel_restart", "kernel_halt")
"""The functions in which a kernel ends on request."""

SWITCHED = "tracing_set_tracer"
"""Called when the kernel is about to switch tracers by itself."""

RARE = ("free_initmem", "vfs_open", SWITCHED, *ENDS)
"""Others, where users may have stopped the kernel."""

REACHING, TRIES = 5.0, 10
"""Seconds to reach one of them, and how often they may be called with preemption disabled."""

MAX_ROOM = 4096
"""Bytes of the stack that are used; a stack has at least 8 KB."""

ALIGNMENT = 16


class CallKernel(Protocol):
    """Calls a function of the stopped kernel by its name."""

    def __call__(self, function: str, *arguments: int, returns: str) -> int: ...


class GuestMeans(NamedTuple):
    """The methods of a guest that its `GuestCaller` needs.

    ``run`` lets it run to one of some functions, or for some seconds.
    """

    buffer: Callable[[], EventBuffer]
    call: CallKernel
    run: Callable[[list[str], float], object]
    describe: Callable[[], str]


class GuestCaller:
    """Calls functions of a stopped kernel.

    No events are recorded during a call, because a full buffer cannot be drained.
    """

    def __init__(self, kernel: Kernel, debugger: Debugger, means: GuestMeans) -> None:
        self._kernel = kernel
        self._debugger = debugger
        self._means = means

    @property
    def ready(self) -> bool:
        """Whether a process enters a function that may sleep, with interrupts enabled.

        In other functions a spinlock may be held, which only CONFIG_PREEMPT_COUNT makes visible.
        """
        debugger, isa = self._debugger, self._kernel.image.isa
        debugger.select_thread(debugger.stop.thread if debugger.stop else 1)
        if debugger.read_register(isa.abi.pc_register) & isa.mask not in self._entries:
            return False
        if not isa.linux.runs_kernel(debugger.read_register):
            return False
        info = debugger.read_register(isa.abi.current_register)
        count = self._kernel.layouts["thread_info"].first("preempt.count", "preempt_count")
        return self._kernel.number(info + count.offset, 4) == 0

    @cached_property
    def _entries(self) -> frozenset[int]:
        symbols, mask = self._kernel.image.symbols, self._kernel.image.isa.mask
        names = [*CALLABLE, *RARE]
        return frozenset(symbols[name] & mask for name in names if name in symbols)

    def prepare(self) -> None:
        """Let the kernel run to where it can be called, if it is not there.

        GuestError if no process enters the kernel in time.
        """
        places = [name for name in CALLABLE if self._kernel.has(name)]
        for _ in range(TRIES):
            if self.ready:
                return
            self._means.run(places, REACHING / TRIES)
        raise GuestError(
            "no process is in the kernel, and none has entered it, so the kernel cannot be called",
            "Let it run to a function that processes call, such as vfs_read.",
            self._means.describe(),
        )

    @property
    def task(self) -> int:
        """The address of the ``struct task_struct`` of the stopped CPU."""
        kernel = self._kernel
        info = self._debugger.read_register(kernel.image.isa.abi.current_register)
        layout = kernel.layouts["thread_info"]
        # Without such a member it is the beginning of the task.
        if "task" not in layout:
            return info
        return kernel.pointer(info + layout.place("task").offset)

    @property
    def cpu(self) -> int:
        """The number of the stopped CPU; gdb counts from 1."""
        return (self._debugger.selected_thread or 1) - 1

    def call(self, function: str, *arguments: int, returns: str = "int") -> int:
        """Call a function; the kernel may empty its buffer in it without a loss."""
        buffer = self._means.buffer()
        assert isinstance(buffer, LinuxCollector)
        was = buffer.recording
        buffer.recording = False
        try:
            result = self._means.call(function, *arguments, returns=returns)
        except HarnessError:
            # The call may have caused a panic.
            with suppress(HarnessError):
                buffer.recording = was
            raise
        buffer.expect_reset()
        buffer.recording = was
        return result

    @contextmanager
    def room(self, size: int) -> Iterator[int]:
        """Bytes below the stack of the stopped process, for the calls in the block."""
        if size > MAX_ROOM:
            raise UsageError(f"{size} bytes are too many for the stack of the kernel")
        debugger, register = self._debugger, self._kernel.image.isa.abi.stack_register
        stack = debugger.read_register(register)
        below = (stack - size) & -ALIGNMENT & self._kernel.image.isa.mask
        debugger.write_register(register, below)
        try:
            yield below
        finally:
            debugger.write_register(register, stack)
