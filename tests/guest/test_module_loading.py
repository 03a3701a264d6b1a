# SPDX-License-Identifier: MIT
"""Modules in a live guest: loading, unloading, and refused requests."""

import json

import pytest

from harness import boot
from harness.config import load_config
from harness.errors import GuestDied, GuestError, SiteMismatch, UsageError
from harness.kbuild import GuestSpec, build_guest, module_beside
from harness.trace import Symbols
from support.command import harness

ONE = "mips-malta"
REFUSES = """\
#include <linux/module.h>
static int refuse(void) { return -1; }
module_init(refuse);
"""
PANICS = """\
#include <linux/bug.h>
#include <linux/module.h>
static int start(void) { panic("in a module"); }
module_init(start);
"""
LEAF = """\
#include <linux/module.h>
__attribute__((noipa)) int leaf(int x) { return x + 1; }
static long run(long x) { return leaf(x); }
module_run(run);
"""


@pytest.fixture
def source(tmp_path):
    def write(name, text):
        path = tmp_path / f"{name}.c"
        path.write_text(text)
        return path

    return write


def names(guest):
    return [name for name in guest.tracer.available_filter_functions if "[" in name]


@pytest.mark.guest(workload="modules")
def test_everything_knows_it_and_forgets_it(config, guest):
    before = (
        guest.image.kallsyms(),
        len(guest.tracer.sites()),
        guest.debugger.breakpoints.addresses(),
    )
    module = guest.load_module("callbacks")
    leaf = guest.address_of("mod_leaf")
    assert guest.image.symbolize(leaf + 4) == "mod_leaf+0x4 [callbacks]"
    assert "mod_leaf [callbacks]" in names(guest)
    assert Symbols(guest.image.kallsyms()).name(leaf) == "mod_leaf [callbacks]"
    assert len(guest.tracer.sites()) == before[1] + len(module.image.sites)
    assert guest.modules.loaded == [module]
    guest.run(until="mod_leaf")
    assert "mod_leaf [callbacks]" in guest.describe()
    assert guest.debugger.frames.backtrace()[0].function == "mod_leaf"
    assert "callbacks.c:" in guest.describe()
    guest.run(until="run_modules")
    guest.debugger.breakpoints.insert("mod_middle")
    guest.unload_module("callbacks")
    assert before == (
        guest.image.kallsyms(),
        len(guest.tracer.sites()),
        guest.debugger.breakpoints.addresses(),
    )
    assert names(guest) == []
    assert guest.modules.loaded == []
    assert "mod_leaf" not in guest.image.symbols
    assert "mod_leaf" not in guest.debugger.cli(f"info symbol {leaf:#x}")
    # The next one may have its place.
    guest.load_module("callbacks")
    guest.tracer.current = "function"
    guest.run(until="mod_leaf")
    assert guest.workload_status == 0


@pytest.mark.guest(workload="modules", modules=["callbacks"])
def test_a_filter_is_of_the_sites_that_it_found(config, guest):
    tracer = guest.tracer
    tracer.set_filter("mod_leaf", "strlen")
    tracer.set_notrace("mod_middle")
    tracer.current = "function"
    assert tracer.enabled_functions == ["strlen", "mod_leaf [callbacks]"]
    guest.unload_module("callbacks")
    assert tracer.enabled_functions == ["strlen"]
    # As in the kernel, a module that comes back is a new one: the filter does not know it.
    guest.load_module("callbacks")
    assert tracer.enabled_functions == ["strlen"]
    tracer.set_filter("mod_n*:mod:callbacks")
    assert tracer.enabled_functions == ["mod_nested [callbacks]"]
    # A filter that has lost its last function is still one.
    guest.unload_module("callbacks")
    assert tracer.enabled_functions == []
    guest.load_module("callbacks")
    assert tracer.enabled_functions == []
    tracer.set_filter()
    assert {"mod_leaf [callbacks]", "mod_middle [callbacks]"} <= set(tracer.enabled_functions)


@pytest.mark.guest(config=ONE, workload="modules", modules=["callbacks"])
def test_a_graph_function_that_goes_takes_no_others_place(guest):
    graph = guest.tracer.graph
    graph.set_graph_function(":mod:callbacks")
    guest.unload_module("callbacks")
    guest.load_module("callbacks")
    guest.tracer.current = "function_graph"
    guest.run(until="workload_done")
    assert list(guest.tracer.events()) == []


@pytest.mark.guest(config=ONE, workload="modules", modules=["callbacks"])
def test_words_about_modules_that_are_wrong(guest):
    tracer = guest.tracer
    for glob, said in (
        (":mod:callback", r"no loaded module matches 'callback'\nLoaded: callbacks\."),
        ("leaf:mod:callbacks", "no traceable function matches 'leaf'"),
    ):
        with pytest.raises(UsageError, match=said):
            tracer.set_filter(glob)
    with pytest.raises(UsageError, match="callbacks is loaded already"):
        guest.load_module("callbacks")
    with pytest.raises(UsageError, match="numbers is not loaded\nLoaded: callbacks"):
        guest.unload_module("numbers")
    with pytest.raises(UsageError, match="There is no module 'callback'"):
        guest.load_module("callback")
    assert tracer.current == "nop"
    guest.run(until="mod_leaf")
    with pytest.raises(UsageError, match=r"CPU 0 runs mod_leaf \[callbacks\]\nLet the guest run"):
        guest.unload_module("callbacks")
    guest.run(until="strlen")
    with pytest.raises(UsageError, match=r"a CPU will return to mod_kernel_string\+0x"):
        guest.unload_module("callbacks")


@pytest.mark.guest(config=ONE, workload="modules")
def test_a_module_of_another_kernel_is_refused(guest, tmp_path):
    config = load_config(ONE)
    other = module_beside(
        build_guest(GuestSpec.of(config, "calls", modules=["callbacks"])), "callbacks"
    )
    with pytest.raises(UsageError, match="linked against another kernel than the guest's"):
        guest.load_module(other)
    same = module_beside(
        build_guest(GuestSpec.of(config, "modules", modules=["callbacks"])), "callbacks"
    )
    assert guest.load_module(same).name == "callbacks"
    with pytest.raises(UsageError, match="is not a module"):
        guest.load_module(kernel_as(tmp_path / "kernel.ko", other))
    with pytest.raises(UsageError, match="cannot be read: No such file"):
        guest.load_module(tmp_path / "absent.ko")


def kernel_as(path, module):
    path.write_bytes(module.with_name("vmlinux").read_bytes())
    return path


def test_a_module_for_another_machine_is_refused():
    other = build_guest(GuestSpec.of("aarch64-virt", "modules", modules=["callbacks"]))
    with (
        boot(ONE, "modules") as guest,
        pytest.raises(UsageError, match="is a module for <Isa aarch64"),
    ):
        guest.load_module(module_beside(other, "callbacks"))


@pytest.mark.guest(config=ONE, workload="modules")
def test_a_module_that_refuses_leaves_nothing(guest, source):
    guest.tracer.current = "function"
    before = guest.tracer.enabled_functions
    with pytest.raises(GuestError, match="the module no: its init function refused"):
        guest.load_module(source("no", REFUSES))
    assert guest.tracer.enabled_functions == before
    assert guest.modules.loaded == []
    assert guest.image.modules == {}
    guest.run(until="workload_done")
    assert guest.workload_status == 0


@pytest.mark.guest(config=ONE, workload="modules")
def test_a_module_whose_sites_the_tracer_cannot_take_leaves_nothing(guest, monkeypatch):
    def refuse():
        raise SiteMismatch("somebody was here")

    monkeypatch.setattr(guest.tracer, "module_came", refuse)
    with pytest.raises(SiteMismatch):
        guest.load_module("callbacks")
    monkeypatch.undo()
    assert guest.call("run_modules", 1) == 0
    guest.load_module("callbacks")
    assert guest.call("run_modules", 1) == 7


@pytest.mark.parametrize("place", ["strlen", "mod_leaf"])
@pytest.mark.guest(workload="modules", modules=["callbacks"])
def test_a_module_that_will_be_returned_to_stays(config, guest, place):
    guest.tracer.set_filter(":mod:callbacks")
    guest.tracer.current = "function_graph"
    guest.run(until=place)
    with pytest.raises((UsageError, GuestError), match="callbacks"):
        guest.unload_module("callbacks")
    guest.tracer.current = "nop"
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    guest.unload_module("callbacks")


SLEEPS = """\
#include <linux/module.h>
#include <linux/thread.h>
__attribute__((noipa)) int nap(int ms) { msleep(ms); return ms + 1; }
static int work(void *argument) { return nap(300); }
static long run(long x)
{
	return kthread_join(kthread_run(work, NULL, "napper"));
}
module_run(run);
"""


@pytest.mark.parametrize("tracer", ["nop", "function_graph"])
@pytest.mark.guest(workload="modules")
def test_a_module_that_a_sleeping_thread_returns_to_stays(config, guest, source, tracer):
    """Neither the thread that the debugger has stopped, nor one that runs on a CPU."""
    guest.load_module(source("sleeps", SLEEPS))
    guest.tracer.set_filter("nap")
    guest.tracer.current = tracer
    guest.run(until="cpu_idle")
    for _ in range(2):
        with pytest.raises(GuestError, match="sleeps: a thread will return to it"):
            guest.unload_module("sleeps")
    guest.run(until="workload_done")
    assert guest.workload_status == 0
    guest.unload_module("sleeps")


@pytest.mark.guest(config=ONE, workload="modules")
def test_a_module_that_panics_kills_the_guest(guest, source):
    with pytest.raises(GuestDied, match=r"panicked in do_init_module\(\)") as caught:
        guest.load_module(source("bad", PANICS))
    assert "in a module" in caught.value.evidence


@pytest.mark.guest(workload="modules")
def test_modules_that_come_one_after_the_other_lie_apart(config, guest, source):
    texts = [
        guest.load_module(module).image.text
        for module in ("callbacks", source("mine", LEAF), "numbers")
    ]
    assert len({text.start >> 20 for text in texts}) == 3
    guest.tracer.set_filter("leaf")
    guest.tracer.current = "function"
    guest.run(until="workload_done")
    assert [event.function for event in guest.tracer.events()] == ["leaf [mine]"] * 3


@pytest.mark.guest(config=ONE, workload="modules")
def test_a_buffer_that_fills_up_does_not_stop_a_call(guest):
    guest.collector.configure(16 * 1024)
    guest.load_module("callbacks")
    guest.tracer.current = "function_graph"
    for _ in range(20):
        assert guest.call("run_modules", 3) == 7
    guest.run(until="workload_done")
    assert guest.workload_status == 0


@pytest.mark.parametrize("features", [["FUNCTION_TRACER", "FTRACE_MCOUNT_RECORD"]])
@pytest.mark.parametrize("machine", [ONE, "mips64el-malta", "aarch64-virt"])
def test_modules_of_a_static_guest(machine, features):
    with boot(machine, "modules", features=features, modules=["callbacks"]) as guest:
        assert {str(now.state) for now in guest.tracer.sites()} == {"boot"}
        guest.tracer.current = "function"
        guest.run(until="mod_nested")
        guest.run(until="run_modules")
        assert "mod_leaf [callbacks]" in [event.function for event in guest.tracer.events()]
        guest.unload_module("callbacks")
        guest.run(until="workload_done")


def test_the_commands(config, tmp_path):
    file = tmp_path / "x.dat"
    chosen = ["-c", config, "--workload", "modules", "--module", "callbacks"]
    done = harness("record", *chosen, "-l", "mod_*:mod:callbacks", "-o", file)
    assert done.returncode == 0, done.stderr
    events = json.loads(harness("report", file, "-f", "json").stdout)["events"]
    assert {event["symbols"]["ip"].split()[1] for event in events} == {"[callbacks]"}
    sites = {}
    for more in ([], ["--as-built"]):
        listed = harness("list", "sites", *chosen, *more, "--json")
        assert listed.returncode == 0, listed.stderr
        rows = {row["function"]: row for row in json.loads(listed.stdout)}
        sites[len(more)] = rows["mod_leaf [callbacks]"]
    assert sites[0]["address"] == sites[1]["address"]
    assert (sites[0]["state"], sites[1]["state"]) == ("nop", "boot")


def test_the_command_and_wrong_modules(tmp_path):
    file = tmp_path / "x.dat"
    for more, said in (
        (["--module", "nothing"], "There is no module 'nothing'."),
        (["--module", "callbacks", "-l", ":mod:nothing"], "no loaded module matches"),
        (["--module", tmp_path / "x.c"], "x.c does not exist"),
    ):
        done = harness("record", "-c", ONE, *more, "-o", file)
        assert done.returncode == 2
        assert said in done.stderr
        assert not file.exists()
