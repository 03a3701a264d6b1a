# SPDX-License-Identifier: MIT
"""The port's own patching, called in the guest, against the patching from outside."""

import pytest

from harness.isa import SiteState

pytestmark = pytest.mark.guest(workload="calls")

EINVAL = -22


def text(guest):
    where = guest.image.text
    return guest.debugger.dump_memory(where.start, len(where))


def site_of(guest, function):
    return guest.tracer.sites_of(function)[0]


@pytest.mark.clause("C9a", "C9b", "C9c", "C10a", "C10b", "M4a", "M4b", "M5c")
@pytest.mark.clause("M4c", configs=["mips-malta", "mips-malta-ra", "mipsel-malta"])
def test_inside_and_outside_leave_the_same_text(config, guest):
    off = text(guest)
    guest.tracer.current = "function"
    on = text(guest)
    guest.tracer.current = "nop"
    tracer = "function_trace_call"
    assert guest.port.update_ftrace_func(tracer) == 0
    assert all(guest.port.make_call(site) == 0 for site in guest.image.sites)
    assert text(guest) == on != off
    assert all(guest.port.make_nop(site) == 0 for site in guest.image.sites)
    assert guest.port.update_ftrace_func("ftrace_stub") == 0
    assert text(guest) == off


@pytest.mark.clause("C11c", "C11d")
def test_the_graph_caller_is_enabled_alike(config, guest):
    guest.tracer.set_filter("leaf")
    guest.tracer.current = "function_graph"
    on = text(guest)
    guest.tracer.current = "nop"
    off = text(guest)
    assert guest.port.enable_graph_caller() == 0
    assert guest.port.make_call(site_of(guest, "leaf")) == 0
    assert text(guest) == on
    assert guest.port.make_nop(site_of(guest, "leaf")) == 0
    assert guest.port.disable_graph_caller() == 0
    assert text(guest) == off


@pytest.mark.clause("C9e")
def test_a_site_that_is_not_what_it_must_be_is_refused(config, guest):
    site = site_of(guest, "leaf")
    words = guest.image.isa.site_words(site, SiteState.NOP, 0)
    junk = guest.image.isa.words_to_bytes([0xDEADBEEF] * len(words))
    guest.debugger.write_memory(site.address, junk)
    before = text(guest)
    assert guest.port.make_call(site) == EINVAL
    assert guest.port.make_nop(site) == EINVAL
    assert text(guest) == before


@pytest.mark.clause("C9b", "C9f")
def test_a_target_out_of_reach_is_refused(config, guest):
    site = site_of(guest, "leaf")
    before = text(guest)
    far = (site.address + 0x2000_0000) & guest.image.isa.mask
    assert guest.port.make_call(site, far) < 0
    assert text(guest) == before


@pytest.mark.clause("C9e")
def test_make_nop_of_a_nop_and_make_call_of_a_call_are_refused(config, guest):
    site = site_of(guest, "leaf")
    assert guest.port.make_nop(site) < 0
    assert guest.port.make_call(site) == 0
    assert guest.port.make_call(site) < 0
