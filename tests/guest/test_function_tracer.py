# SPDX-License-Identifier: MIT
"""The function tracer, switched on and off in a live guest."""

import re
from itertools import accumulate

import pytest

from harness.errors import SiteMismatch, UsageError, WrongGuest
from harness.guest import check_build_id
from harness.image import Image
from harness.isa import SiteState
from harness.kbuild import GuestSpec, build_guest
from harness.tracefs import Tracefs
from support.interrupts import outside

pytestmark = [pytest.mark.guest(workload="calls"), pytest.mark.every_config]


def traced(guest):
    return [event.function for event in outside(guest.tracer.events())]


def site_states(guest):
    isa, symbols = guest.image.isa, guest.image.symbols
    # A port with patchable entries has no _mcount, and no site that calls it.
    mcount = symbols.get(isa.sites.mcount, 0)
    states = set()
    for site in guest.image.sites:
        size = len(isa.sites.code_for(site, SiteState.NOP, 0))
        code = guest.debugger.read_memory(site.address, size)
        states.add(isa.sites.state(site, code, mcount, symbols["ftrace_caller"]))
    return states


def text(guest):
    where = guest.image.text
    return guest.debugger.dump_memory(where.start, len(where))


def test_every_site_is_a_nop_after_boot(config, guest):
    assert site_states(guest) == {SiteState.NOP}


def test_a_filter_traces_only_what_it_matches(config, guest):
    guest.tracer.set_filter("do_*", "leaf")
    guest.tracer.current = "function"
    guest.run(until="workload_done")
    functions = traced(guest)
    assert "leaf" in functions
    assert all(name == "leaf" or name.startswith("do_") for name in functions)


def test_switching_off_leaves_the_text_as_it_was(config, guest):
    before = text(guest)
    guest.tracer.current = "function"
    assert text(guest) != before
    guest.tracer.current = "nop"
    assert text(guest) == before


def test_nothing_is_recorded_while_off(config, guest):
    guest.run(until="workload_done")
    assert traced(guest) == []


def test_notrace_wins_over_the_filter(config, guest):
    guest.tracer.set_filter("*")
    guest.tracer.set_notrace("leaf")
    guest.tracer.current = "function"
    guest.run(until="workload_done")
    functions = traced(guest)
    assert functions
    assert "leaf" not in functions


def test_a_filter_can_change_while_the_tracer_is_on(config, guest):
    guest.tracer.current = "function"
    guest.tracer.set_filter("leaf")
    assert guest.tracer.enabled_functions == ["leaf"]
    guest.tracer.set_filter("do_*", append=True)
    assert "leaf" in guest.tracer.enabled_functions
    guest.run(until="workload_done")
    assert guest.workload_status == 0


def test_tracing_on_stops_recording_without_touching_the_text(config, guest):
    guest.tracer.current = "function"
    before = text(guest)
    guest.tracer.on = False
    guest.run(until="workload_done")
    assert traced(guest) == []
    assert text(guest) == before


def test_clear_forgets_the_events(config, guest):
    guest.tracer.current = "function"
    guest.run(until="leaf")
    assert traced(guest)
    guest.tracer.clear()
    assert traced(guest) == []
    guest.run(until="workload_done")
    assert traced(guest)[0] == "leaf"


@pytest.mark.parametrize(("file", "written"), [("trace", ""), ("buffer_size_kb", "64")])
def test_an_event_that_is_being_written_does_not_bring_others_back(config, guest, file, written):
    guest.tracer.current = "function"
    guest.run(until="leaf")
    guest.run(until="leaf")
    while not guest.collector.writing():
        guest.debugger.step_instruction()
    guest.tracer.on = False
    Tracefs(guest).write(file, written, append=False)
    guest.run(until="workload_done")
    assert traced(guest) == []


def test_a_corrupted_site_is_refused_and_nothing_changes(config, guest):
    (site,) = (site for site in guest.image.sites if site.function == "leaf")
    guest.debugger.write_memory(site.address, b"\xde\xad\xbe\xef")
    before = text(guest)
    with pytest.raises(SiteMismatch, match="call site of leaf") as caught:
        guest.tracer.current = "function"
    assert text(guest) == before
    assert guest.tracer.current == "nop"
    assert f"{site.address:x}" in caught.value.evidence


def test_a_cpu_inside_a_site_is_moved_out_before_it_is_patched(config, guest):
    (site,) = (site for site in guest.image.sites if site.function == "leaf")
    isa = guest.image.isa
    places = accumulate(map(len, isa.split(isa.sites.code_for(site, SiteState.NOP, 0))), initial=0)
    for number, place in enumerate(places):
        guest.run(until=site.address + place if number else "leaf")
        guest.tracer.current = "nop" if number % 2 else "function"
    guest.run(until="workload_done")
    assert guest.workload_status == 0


@pytest.mark.guest(config="mips-malta", workload="calls")
def test_wrong_names_are_refused(guest):
    with pytest.raises(UsageError, match="no tracer 'funktion'"):
        guest.tracer.current = "funktion"
    with pytest.raises(UsageError, match="no traceable function matches 'laef'"):
        guest.tracer.set_filter("laef")
    with pytest.raises(UsageError, match="no symbol 'workload_don'"):
        guest.run(until="workload_don")


@pytest.mark.guest(config="mips-malta", workload="calls")
def test_another_elf_is_not_taken_for_the_guest(guest):
    other = build_guest(GuestSpec.of("mips-malta", "sort"))
    with pytest.raises(WrongGuest, match="build id"):
        check_build_id(guest.debugger, Image(other.read_bytes(), other.name))


def test_an_attribute_that_is_not_there_is_an_error(config, guest):
    with pytest.raises(AttributeError, match="Did you mean current"):
        guest.tracer.curent = "function"
    with pytest.raises(AttributeError, match="Did you mean max_graph_depth"):
        guest.tracer.graph.max_depth = 3
    guest.tracer.set_filter("leaf")
    guest.tracer.current = "function"
    assert repr(guest) == f"<Guest {config}, workload calls>"
    assert re.fullmatch(r"<Tracer function, 1 of \d+ call sites on>", repr(guest.tracer))
    [site] = [site for site in guest.image.sites if site.function == "leaf"]
    assert repr(site) == f"<CallSite leaf {site.address:#x} {site.form}>"
