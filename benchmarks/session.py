# SPDX-License-Identifier: MIT
"""What somebody at the prompt waits for.

For each config: the time from the start of ``harness shell`` (with a guest that is built already)
to its prompt, and the time that each verb which only reads takes on a stopped guest that has traced
the workload ``calls``; the median and the worst of several, in milliseconds.  To be reached: 1500
for the prompt, 100 for a verb.

    python benchmarks/session.py [CONFIG...]
"""

import contextlib
import io
import statistics
import sys
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import pexpect

from harness import boot
from harness.config import list_configs
from harness.kbuild import GuestSpec, build_guest
from harness.shell import Session

STARTS, TIMES = 5, 7

READING = (
    *("available_tracers", "current_tracer", "available_filter_functions", "set_ftrace_filter"),
    *("set_ftrace_notrace", "set_graph_function", "enabled_functions", "tracing_on", "trace"),
    *("trace_options", "set_event", "available_events", "report", "report -f graph", "stat"),
    *("report -f chrome", "sites", "disasm leaf", "slots", "ret_stack", "ring", "ring 0 0"),
    *("threads", "console", "where", "help", "snapshot", "lsmod", "bt", "x/8i $pc"),
    *("info registers", "info threads"),
)


def prompt(config: str) -> float:
    """Seconds from the start of the command to the prompt that takes a line."""
    began = time.perf_counter()
    program = [str(Path(sys.executable).with_name("harness")), "shell", "-c", config]
    child = pexpect.spawn(program[0], program[1:], timeout=120, dimensions=(40, 160))
    # It asks where the cursor is, and waits for the answer.
    while child.expect([r"\x1b\[6n", r"\d+ lost[^\n]*\x1b\[\?25h"]) == 0:
        child.send("\x1b[1;1R")
    took = time.perf_counter() - began
    child.sendline("quit")
    child.expect(pexpect.EOF)
    child.close()
    return took


def verb(session: Session, line: str) -> float:
    """Seconds that a line takes, with the bar at the bottom."""
    began = time.perf_counter()
    with contextlib.redirect_stdout(io.StringIO()):
        session.execute(line)
        _ = session.state
    return time.perf_counter() - began


def show(name: str, measure: Callable[[], float], times: int) -> None:
    """One line: the median and the worst."""
    taken = [measure() * 1000 for _ in range(times)]
    print(f"{name:36}{statistics.median(taken):10.1f}{max(taken):10.1f}", flush=True)


def main() -> None:
    """Print a table for each config."""
    for config in sys.argv[1:] or list_configs():
        build_guest(GuestSpec.of(config))
        print(f"{config:36}{'median':>10}{'worst':>10}")
        show("prompt", partial(prompt, config), STARTS)
        session = Session(partial(boot, config))
        try:
            with contextlib.redirect_stdout(io.StringIO()):
                session.execute("current_tracer function_graph")
                session.execute("run")
                session.execute("current_tracer function")
            for line in READING:
                show(line, partial(verb, session, line), TIMES)
        finally:
            session.close()
        print()


if __name__ == "__main__":
    main()
