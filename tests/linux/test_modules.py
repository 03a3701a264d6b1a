# SPDX-License-Identifier: MIT
"""Modules of a Linux kernel, and the texts of its trace_printk(); trace-cmd reads both."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from harness.guest import Guest
from tests.linux.test_controls import check_no_warning, names
from tests.linux.test_function import booted, console

SAMPLE = "trace_events_sample"

PUTS = "This is a static string that will use trace_bputs"
PRINTED = "This is a static string that will use trace_bprintk()"


def reported(guest: Guest, path: Path) -> str:
    """What trace-cmd prints of the trace."""
    if shutil.which("trace-cmd") is None:
        pytest.skip("trace-cmd is not installed")
    with path.open("wb") as stream:
        guest.tracer.write(stream)
    command = ["trace-cmd", "report", "-i", str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return done.stdout + done.stderr


def loads(guest: Guest) -> None:
    """Let the guest load its module; without modules in its root file system, skip."""
    guest.run(["do_init_module", *guest.ends], timeout=600.0)  # type: ignore[attr-defined]
    if "do_init_module" not in guest.describe():
        pytest.skip("there is no such module for this kernel")


def test_trace_printk_is_text_for_trace_cmd(linux_config: Path, tmp_path: Path) -> None:
    with booted(linux_config, "load:trace-printk,work:1") as guest:
        guest.collector.configure()
        guest.tracer.set_filter("vfs_open")
        guest.tracer.current = "function"
        loads(guest)
        guest.run(timeout=600.0)
        guest.drain()
        printed = [one for one in guest.tracer.events() if one.name in ("bputs", "bprint")]
        shown = [one.message.partition(": ")[2] for one in printed]
        assert PUTS in shown
        assert PRINTED in shown
        text = reported(guest, tmp_path / "x.dat")
        # libtraceevent does not turn around the addresses of the other byte order.
        assert PUTS in text or guest.image.byteorder != sys.byteorder
        assert "This is a %s" not in text
        assert PRINTED in text
        assert "UNKNOWN" not in text
        check_no_warning(guest)


def test_a_module_that_is_loaded_while_the_tracer_is_on(linux_config: Path, tmp_path: Path) -> None:
    steps = "load:trace-events-sample,work:20,tracer:function,work:1,tracer:nop"
    with booted(linux_config, steps) as guest:
        guest.collector.configure()
        guest.tracer.current = "function"
        loads(guest)
        guest.run("vfs_open", timeout=600.0)
        found = {name for name in names(guest) if name.endswith(f"[{SAMPLE}]")}
        assert found
        guest.tracer.current = "nop"
        assert guest.tracer.enabled_functions == []
        # Its own functions and events, by name.
        traced = guest.tracer.functions_of(f"*:mod:{SAMPLE}")
        assert f"simple_thread [{SAMPLE}]" in traced
        guest.tracer.set_filter(f"*:mod:{SAMPLE}")
        guest.tracer.set_event("sample-trace:*")
        guest.tracer.current = "function"
        guest.collector.clear()
        guest.run("tracing_set_tracer", timeout=600.0)
        guest.drain()
        events = list(guest.tracer.events())
        functions = {one.message.partition(" <-")[0] for one in events if one.name == "function"}
        assert functions <= set(traced)
        text = reported(guest, tmp_path / "x.dat")
        shown = [line for line in text.splitlines() if "foo_bar:" in line]
        assert len(shown) == len([one for one in events if one.name == "foo_bar"])
        assert "UNKNOWN" not in text
        guest.run(timeout=600.0)
        check_no_warning(guest)


def test_threads_have_their_names(linux_config: Path) -> None:
    with booted(linux_config, "load:trace-events-sample,work:1") as guest:
        guest.collector.configure()
        loads(guest)
        guest.run(timeout=600.0)
        found = guest.tracer.remember_names()
        assert found[1] == "init"
        assert "event-sample" in found.values()
        assert "init: done" not in console(guest) or len(found) > 5
