# SPDX-License-Identifier: MIT
"""The port's own patching, called in the guest, against the patching from outside."""

import pytest

from harness import boot
from harness.config import list_configs, load_config
from harness.isa import SiteState
from harness.tracer import has_call_ops, has_one_slot

pytestmark = [pytest.mark.guest(workload="calls"), pytest.mark.every_config]

EINVAL = -22

MIPS = [name for name in list_configs() if load_config(name).architecture == "mips"]


def text(guest):
    where = guest.image.text
    return guest.debugger.dump_memory(where.start, len(where))


def site_of(guest, function):
    return guest.tracer.sites_of(function)[0]


def switch_ops(guest, ops, on):
    """As the kernel: what the port will write in front of functions is of the list."""
    function = "register_ftrace_function" if on else "unregister_ftrace_function"
    return guest.call(function, guest.address_of(ops))


def switch_function(guest, on):
    """As the kernel would: by the slot, or by the ops of the sites that will be on."""
    if has_call_ops(guest.image.symbols):
        return switch_ops(guest, "global_ops", on)
    return guest.port.update_ftrace_func("function_trace_call" if on else "ftrace_stub")


def test_inside_and_outside_leave_the_same_text(config, guest):
    off = text(guest)
    guest.tracer.current = "function"
    on = text(guest)
    guest.tracer.current = "nop"
    assert switch_function(guest, True) == 0
    assert all(guest.port.make_call(site) == 0 for site in guest.image.sites)
    assert text(guest) == on != off
    assert all(guest.port.make_nop(site) == 0 for site in guest.image.sites)
    assert switch_function(guest, False) == 0
    assert text(guest) == off


def changed(before, after):
    """Offsets of the bytes that differ."""
    return {offset for offset in range(len(before)) if before[offset] != after[offset]}


def bytes_of(guest, sites):
    """Offsets in the text of what the port may write at these sites."""
    isa, start = guest.image.isa, guest.image.text.start
    own = {
        site.literal - start + offset
        for site in sites
        for offset in range(guest.image.literal_size)
    }
    return own | {
        site.address - start + offset
        for site in sites
        for offset in range(len(isa.sites.code_for(site, SiteState.NOP, 0)))
    }


def test_only_the_words_of_the_site_change(config, guest):
    """All text is compared after each call, for the sites of the workload's functions."""
    off = text(guest)
    for site in guest.tracer.sites_of("do_*", "leaf", "tail_*"):
        assert guest.port.make_call(site) == 0
        on = text(guest)
        assert set() < changed(off, on) <= bytes_of(guest, [site])
        assert guest.port.make_nop(site) == 0
        assert text(guest) == off


def test_after_boot_all_text_but_the_sites_is_as_built(config, guest):
    where = guest.image.text
    built = guest.image.read(where.start, len(where))
    assert (
        set() < changed(built, text(guest)) <= bytes_of(guest, guest.image.sites) | ignored(guest)
    )


def ignored(guest):
    """Patchable entries of overridden weak functions: records like any other."""
    start = guest.image.text.start
    return {at - start for entry in guest.image.ignored_sites for at in entry}


@pytest.mark.parametrize("machine", MIPS)
def test_mcount_and_ftrace_caller_are_one_gate(machine):
    with boot(machine) as guest:
        gate, stub = guest.address_of("ftrace_caller"), guest.address_of("ftrace_stub")
        assert gate == guest.address_of("_mcount")
        closed = [f"j {stub:#x}", "nop"]
        assert listed(guest, guest.image.read(gate, 8), gate) == closed
        assert listed(guest, guest.debugger.read_memory(gate, 8), gate) == closed
        for tracer in ("function", "function_graph"):
            guest.tracer.current = tracer
            open_gate = guest.debugger.read_memory(gate, 8)
            assert listed(guest, open_gate, gate) == ["nop", "nop"]
            guest.tracer.current = "nop"
            assert listed(guest, guest.debugger.read_memory(gate, 8), gate) == closed


def listed(guest, code, address):
    return [instruction.text for instruction in guest.image.isa.disassemble(code, address)]


def test_inside_and_outside_leave_the_same_text_in_a_module(config, guest):
    module = guest.load_module("callbacks").image
    kernel = text(guest)

    def found():
        assert text(guest) == kernel
        return guest.debugger.dump_memory(module.text.start, len(module.text))

    if has_call_ops(guest.image.symbols):
        # The port writes the ops of the tracer that is on; without one the list function's.
        assert switch_ops(guest, "global_ops", True) == 0
    off = found()
    states = {}
    for site in module.sites:
        assert guest.port.make_call(site) == 0
        states[site] = found()
        assert guest.port.make_nop(site) == 0
        assert found() == off
        assert guest.port.make_nop(site) < 0
    guest.tracer.current = "function"
    guest.tracer.set_filter(":mod:callbacks")
    on = guest.debugger.dump_memory(module.text.start, len(module.text))
    guest.tracer.current = "nop"
    assert found() == off != on
    for site, inside in states.items():
        start = (site.literal or site.address) - module.text.start
        own = slice(start, site.address - module.text.start + len(site.as_built))
        assert inside[own] == on[own] != off[own]
        assert inside[: own.start] + inside[own.stop :] == off[: own.start] + off[own.stop :]


def switch_graph(guest, on):
    """As the kernel would: by the graph tracer's own slot, in the only one, or as an ops."""
    if has_call_ops(guest.image.symbols):
        return switch_ops(guest, "graph_ops", on)
    if has_one_slot(guest.image.symbols):
        return guest.port.update_ftrace_func("ftrace_graph_func" if on else "ftrace_stub")
    return guest.port.enable_graph_caller() if on else guest.port.disable_graph_caller()


def test_the_graph_caller_is_enabled_alike(config, guest):
    guest.tracer.set_filter("leaf")
    guest.tracer.current = "function_graph"
    on = text(guest)
    guest.tracer.current = "nop"
    off = text(guest)
    assert switch_graph(guest, True) == 0
    assert guest.port.make_call(site_of(guest, "leaf")) == 0
    assert text(guest) == on
    assert guest.port.make_nop(site_of(guest, "leaf")) == 0
    assert switch_graph(guest, False) == 0
    assert text(guest) == off


def test_a_site_that_is_not_what_it_must_be_is_refused(config, guest):
    site = site_of(guest, "leaf")
    size = len(guest.image.isa.sites.code_for(site, SiteState.NOP, 0))
    guest.debugger.write_memory(site.address, b"\xde\xad\xbe\xef" * (size // 4))
    before = text(guest)
    assert guest.port.make_call(site) == EINVAL
    assert guest.port.make_nop(site) == EINVAL
    assert text(guest) == before


def test_a_target_out_of_reach_is_refused(config, guest):
    site = site_of(guest, "leaf")
    before = text(guest)
    isa = guest.image.isa
    far = (isa.sites.reach(isa.sites.call_address(site))[1] + 0x1000_0000) & isa.mask
    assert guest.port.make_call(site, far) < 0
    assert text(guest) == before


def test_make_nop_of_a_nop_and_make_call_of_a_call_are_refused(config, guest):
    site = site_of(guest, "leaf")
    assert guest.port.make_nop(site) < 0
    assert guest.port.make_call(site) == 0
    assert guest.port.make_call(site) < 0
