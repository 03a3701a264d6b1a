# SPDX-License-Identifier: MIT
"""The oracle against gdb: a breakpoint at every site, the caller from the return register."""

import pytest

from harness.debugger import return_address


def breakpoint_trace(guest, sites):
    """Sites in the order of gdb's stops, and the return address at each stop.

    At a site the return register still has its value of the function's entry: no call comes before
    it.
    """
    debugger, isa = guest.debugger, guest.image.isa
    done = guest.address_of("workload_done")
    # gdb would take all of them out at each stop, and put them in again.
    debugger.cli("set breakpoint always-inserted on")
    for address in (*sites, done):
        debugger.breakpoints.insert(address)
    trace = []
    # The guest may stand on a site already: with patchable entries, in front of a function.
    while (pc := debugger.read_register(isa.abi.pc_register) & isa.mask) != done:
        if pc in sites:
            trace.append((pc, return_address(debugger, isa.abi)))
        debugger.resume()
        assert debugger.wait_stop(30) is not None
    return trace


@pytest.mark.parametrize("workload", ["calls", "flow"])
def test_oracle_sees_what_gdb_sees(watch, workload):
    """Without ticks: with breakpoints everywhere QEMU executes single instructions, and many ticks
    would leave no time for the workload.
    """
    with watch(workload, tick=0) as watched:
        watched.oracle.window(True)
        expected = breakpoint_trace(watched.guest, watched.oracle.sites)
        assert len(expected) > 30
        assert watched.executed == expected
