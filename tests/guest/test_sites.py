# SPDX-License-Identifier: MIT
"""The call sites of a live guest: their state, and the output of the command."""

import json

import pytest

from harness import boot
from harness.isa import SiteState
from support.command import harness

STATIC = ["FUNCTION_TRACER", "FTRACE_MCOUNT_RECORD"]


def states(guest):
    return {now.site.function: now.state for now in guest.tracer.sites()}


@pytest.mark.guest(workload="calls")
def test_the_state_is_that_of_now(config, guest):
    found = states(guest)
    assert set(found) == {site.function for site in guest.image.sites}
    assert set(found.values()) == {SiteState.NOP}
    guest.tracer.set_filter("leaf")
    guest.tracer.current = "function"
    assert states(guest) == found | {"leaf": SiteState.CALL}
    (site,) = guest.tracer.sites_of("leaf")
    guest.debugger.write_memory(site.address, b"\xde\xad\xbe\xef")
    (now,) = (now for now in guest.tracer.sites() if now.site == site)
    assert now.state is SiteState.UNKNOWN
    assert now.code[:4] == b"\xde\xad\xbe\xef"


def test_sites_of_a_static_guest_stay_as_built():
    with boot("mips-malta", features=STATIC) as guest:
        assert set(states(guest).values()) == {SiteState.BOOT}
        site = guest.image.sites[0]
        guest.debugger.write_memory(site.address, bytes(4))
        assert guest.tracer.sites()[0].state is SiteState.UNKNOWN


def test_the_command_shows_the_live_guest_or_the_image(config):
    live = harness("list", "sites", "-c", config, "--json")
    built = harness("list", "sites", "-c", config, "--json", "--as-built")
    assert live.returncode == built.returncode == 0, live.stderr + built.stderr
    live, built = json.loads(live.stdout), json.loads(built.stdout)
    assert list(live[0]) == ["address", "function", "form", "state", "disassembly"]
    assert {row["state"] for row in live} == {"nop"}
    assert {row["state"] for row in built} == {"boot"}
    for now, before in zip(live, built, strict=True):
        assert [now[key] for key in ("address", "function", "form")] == [
            before[key] for key in ("address", "function", "form")
        ]
        assert now["disassembly"] != before["disassembly"]
