# SPDX-License-Identifier: MIT
"""The function tracer of a Linux kernel, from outside, compared with the kernel's own dump."""

import re
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness import boot
from harness.config import LinuxConfig, load_any_config
from harness.guest import Guest
from harness.trace import TraceEvent

FILTER = ("vfs_*", "do_filp_open", "*getname*")
ROW = re.compile(r"\[(\d+)\] \S{5,6} +(\d+)\.(\d{6}): (\S+) <-(\S+)\r?\n")
END_OF_DUMP = "init: trace ends"
NO_LOCKUPS = "nosoftlockup"
"""A traced kernel on a host with other work may need long for what it does in one piece."""

WARNINGS = ("cut here", "WARNING", "BUG:", "ftrace failed", "Oops")


@contextmanager
def booted(config: Path | LinuxConfig, do: str, buffer_size: int = 1 << 20) -> Iterator[Guest]:
    """The kernel, stopped before its init, which runs ``do`` and powers off."""
    loaded = load_any_config(config) if isinstance(config, Path) else config
    assert isinstance(loaded, LinuxConfig)
    words = [word for word in loaded.linux.append.split() if not word.startswith("do=")]
    table = loaded.linux.model_copy(
        update={"append": " ".join([*words, NO_LOCKUPS, f"do={do},poweroff"])}
    )
    with boot(
        loaded.model_copy(update={"linux": table}), buffer_size=buffer_size, timeout=600.0
    ) as guest:
        yield guest


def console(guest: Guest) -> str:
    guest.machine.console.drain()
    text: str = guest.machine.console.log.read_text(errors="replace")  # type: ignore[union-attr]
    return text


def run_to_dump(guest: Guest) -> str:
    """Run a guest with ``do=...,dump,work`` until the console, which is slow, has all of it."""
    end = time.monotonic() + 600.0
    while END_OF_DUMP not in console(guest):
        assert time.monotonic() < end
        guest.run(None, seconds=0.2)
    return console(guest)


def rows(events: list[TraceEvent]) -> list[tuple[int, int, str, str]]:
    """The rows of the kernel's dump: CPU, microseconds, function, caller."""
    found = []
    for event in events:
        function, _, caller = event.message.partition(" <-")
        found.append((event.cpu, (event.stamp + 500) // 1000, function, caller))
    return found


def dumped(text: str) -> list[tuple[int, int, str, str]]:
    found = ROW.findall(text)
    return [(int(cpu), int(s) * 1_000_000 + int(us), one, by) for cpu, s, us, one, by in found]


def test_events_equal_the_kernels_own_dump(linux_config: Path) -> None:
    with booted(linux_config, "work:1,dump,work") as guest:
        guest.collector.configure()
        guest.tracer.set_filter(*FILTER)
        guest.tracer.current = "function"
        kernel = dumped(run_to_dump(guest))
        guest.drain()
        assert len(kernel) > 10
        assert rows(list(guest.tracer.events())) == kernel


def test_the_kernel_switches_tracers_itself_afterwards(linux_config: Path) -> None:
    with booted(linux_config, "work:1,tracer:function,work:1,tracer:nop,dump") as guest:
        untouched = {one.site: one.code for one in guest.tracer.sites()}
        guest.tracer.set_filter(*FILTER)
        guest.tracer.current = "function"
        guest.run("vfs_read", timeout=600.0)
        guest.tracer.current = "nop"
        assert {one.site: one.code for one in guest.tracer.sites()} == untouched
        guest.run(timeout=600.0)
        text = console(guest)
        assert not [word for word in WARNINGS if word in text]


def test_tracing_from_the_earliest_moment_and_beyond_the_end_of_boot_code(
    linux_config: Path,
) -> None:
    loaded = load_any_config(linux_config)
    assert isinstance(loaded, LinuxConfig)
    table = loaded.linux.model_copy(update={"append": f"{loaded.linux.append} do=work:1,poweroff"})
    config = loaded.model_copy(update={"linux": table})
    with boot(config, until="sched_init", timeout=600.0) as guest:
        guest.collector.configure()
        guest.tracer.set_filter("sched_init", "vfs_*", "trace_*")
        guest.tracer.current = "function"
        assert "sched_init" in guest.tracer.enabled_functions
        guest.run("vfs_write", timeout=600.0)
        guest.tracer.current = "nop"
        functions = [row[2] for row in rows(list(guest.tracer.events()))]
        assert functions[0] == "sched_init"
        assert "vfs_open" in functions
        assert "sched_init" not in guest.tracer.available_filter_functions
