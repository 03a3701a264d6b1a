# SPDX-License-Identifier: MIT
"""What trace-cmd and libkshark read of a Linux kernel's trace, against the kernel's own dump."""

import re
import shutil
import subprocess
from pathlib import Path
from typing import NamedTuple

import pytest

from harness.config import LinuxConfig, load_any_config
from harness.errors import GuestDied
from harness.guest import Guest
from tests.linux.test_function import FILTER, booted, console, dumped, rows, run_to_dump

RULE = "-" * 33
LATENCY = re.compile(r" (\d+)[^\s\d]\S* +(\d+)us[^:]*: (\S+) <-(\S+)")
"""A row of the latency format: CPU and flags, time, function, caller."""


class Row(NamedTuple):
    """An event of the function tracer, as the kernel prints it."""

    cpu: int
    microseconds: int
    function: str
    caller: str


@pytest.fixture
def recorded(linux_config: Path, tmp_path: Path) -> tuple[Path, list[Row], int]:
    """A trace.dat, the kernel's own dump of it, and the number of its task switches."""
    with booted(linux_config, "work:1,dump,work") as guest:
        guest.collector.configure()
        guest.tracer.set_filter(*FILTER)
        guest.tracer.set_event("sched:sched_switch")
        guest.tracer.current = "function"
        kernel = [Row(*row) for row in dumped(run_to_dump(guest))]
        guest.drain()
        switches = sum(one.name == "sched_switch" for one in guest.tracer.events())
        with (tmp_path / "x.dat").open("wb") as stream:
            guest.tracer.write(stream)
    assert len(kernel) > 10
    return tmp_path / "x.dat", kernel, switches


def output(*command: str | Path) -> str:
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=120)
    assert done.stderr == ""
    return done.stdout


def test_trace_cmd_shows_the_events_of_the_kernels_dump(
    recorded: tuple[Path, list[Row], int],
) -> None:
    path, kernel, switches = recorded
    if shutil.which("trace-cmd") is None:
        pytest.skip("trace-cmd is not installed")
    text = output("trace-cmd", "report", "-t", "-O", "parent", "-i", path)
    assert text.count("sched_switch:") == switches > 0
    assert "UNKNOWN" not in text
    found = []
    for line in text.splitlines():
        head, event, call = line.partition(" function: ")
        if event:
            function, caller = call.split(" <-- ")
            cpu, stamp = head.split("[", 1)[1].split("]")
            seconds, nanoseconds = stamp.split()[-1].strip(":").split(".")
            found.append(Row(int(cpu), rounded(seconds, nanoseconds), function.strip(), caller))
    assert found == kernel


def test_libkshark_shows_the_events_of_the_kernels_dump(
    recorded: tuple[Path, list[Row], int], kshark_dump: Path
) -> None:
    path, kernel, switches = recorded
    found, others = [], 0
    for line in output(kshark_dump, path).splitlines():
        cpu, stamp, _, _, event, info = line.split(" ", 5)
        if event == "ftrace/function":
            function, caller = info.split(" <-- ")
            found.append(Row(int(cpu), rounded("0", stamp), function, caller))
        else:
            assert event == "sched/sched_switch"
            assert "==>" in info
            others += 1
    assert others == switches > 0
    # KernelShark orders events of one time stamp in a way of its own.
    assert sorted(found) == sorted(kernel)


def rounded(seconds: str, nanoseconds: str) -> int:
    """In microseconds, as the kernel rounds them."""
    return (int(seconds) * 1_000_000_000 + int(nanoseconds) + 500) // 1000


def test_what_a_dying_kernel_dumps_is_what_was_read(linux_config: Path) -> None:
    loaded = load_any_config(linux_config)
    assert isinstance(loaded, LinuxConfig)
    append = f"{loaded.linux.append} ftrace_dump_on_oops"
    table = loaded.linux.model_copy(update={"append": append})
    config = loaded.model_copy(update={"linux": table})
    with booted(config, "work:1,panic") as guest:
        guest.collector.configure()
        guest.tracer.set_filter(*FILTER)
        guest.tracer.current = "function"
        with pytest.raises(GuestDied, match="panicked"):
            guest.run(timeout=600.0)
        own = [Row(*row) for row in rows(list(guest.tracer.events()))]
        kernel = dumped_on_oops(guest)
    assert len(kernel) > 10
    own = own if kernel.complete else own[: len(kernel)]
    assert [(one.cpu, one.function, one.caller) for one in kernel] == [
        (one.cpu, one.function, one.caller) for one in own
    ]
    # The kernel counts from its first tracer on.
    begin = own[0].microseconds - kernel[0].microseconds
    for one, other in zip(own, kernel, strict=True):
        assert abs(one.microseconds - other.microseconds - begin) <= 1


class Dump(list[Row]):
    """What ftrace_dump() prints; the console may be too slow for all of it."""

    complete = True


def dumped_on_oops(guest: Guest) -> Dump:
    """The whole rows of the kernel's last dump, which lies between two lines of dashes."""
    text = console(guest)
    _, *parts = text[text.index("Dumping ftrace buffer:") :].split(RULE)
    found = Dump(Row(int(cpu), int(us), *names) for cpu, us, *names in LATENCY.findall(parts[0]))
    found.complete = len(parts) > 1
    if not found.complete:
        found.pop()
    return found
