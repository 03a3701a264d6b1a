# SPDX-License-Identifier: MIT
"""A guest that runs for the programs that use its mounted tracefs."""

import math
import select

from harness.errors import HostError
from harness.guest import Guest, Outcome
from harness.mount.mount import Mount
from harness.tracefs import Tracefs
from harness.tracefs.profiles import has_profiler, has_stack_tracer

LOOK = 0.5
"""Seconds between looks at whether QEMU is alive while the guest is stopped."""


def run_mounted(guest: Guest, mount: Mount, wake: int, *, at_once: bool = False) -> str:
    """Serve the files of a guest until ``wake`` is readable or the directory is unmounted.

    The guest begins to run as soon as something is to be recorded, or ``at_once``, and stops for a
    moment for each file.  Its workload's end is the end of trace_pipe; all files stay.  Returns
    what ended it, in words.

    Raises:
        GuestDied: the guest panicked.
        HostError: QEMU or gdb died.
    """
    files = Tracefs(guest)
    begun, over = at_once, False

    def drained() -> bool:
        mount.feed()
        return True

    guest.on_drain = drained
    with select.epoll() as either:
        either.register(mount.fileno(), select.EPOLLIN)
        either.register(wake, select.EPOLLIN)
        while True:
            begun = begun or _records(guest)
            if begun and not over:
                outcome = guest.run("workload_done", timeout=math.inf, wake=either.fileno())
                if outcome is Outcome.REACHED:
                    over = True
                    guest.drain()
                    mount.feed(ended=True)
            else:
                either.poll(LOOK)
                if not guest.machine.alive:
                    raise HostError("QEMU has ended", "", guest.machine.exit_report())
            if mount.ended:
                return "unmounted"
            if select.select([wake], [], [], 0)[0]:
                return "stopped"
            if mount.serve(files) and not over:
                guest.drain()
                mount.feed()


def _records(guest: Guest) -> bool:
    tracer = guest.tracer
    if has_profiler(guest) and tracer.profiler.enabled:
        return True
    if has_stack_tracer(guest) and tracer.stack.enabled:
        return True
    return tracer.on and bool(tracer.current != "nop" or tracer.enabled_events)
