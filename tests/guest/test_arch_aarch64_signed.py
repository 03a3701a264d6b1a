# SPDX-License-Identifier: MIT
"""Stacks of guests whose functions sign their return addresses, as gdb unwinds them."""

import re

import pytest

from harness import boot
from harness.kbuild import GuestSpec, build_guest
from support.command import harness

pytestmark = pytest.mark.unsliced

CONFIGS = ["aarch64-virt-bti-pac", "aarch64-virt-bti-pac-patchable"]

OOPS = """
__attribute__((noipa)) static int bad(volatile int *place)
{
	*place = 5;
	__asm__ volatile("nop");
	return 1;
}
__attribute__((noipa)) static int outer(volatile int *place)
{
	return bad(place) + 1;
}
int workload(void);
int workload(void)
{
	return outer((volatile int *)8) + 1;
}
"""


def test_a_backtrace_comes_home(config):
    with boot(config, until="do_inner") as guest:
        names = [frame.function for frame in guest.debugger.frames.backtrace()]
        addresses = [frame.address for frame in guest.debugger.frames.backtrace()]
        assert names[:4] == ["do_inner", "do_middle", "do_nested", "workload"]
        assert names[-1] == "_start"
        assert all(guest.image.function_at(address - 4) for address in addresses[1:])
        assert len(guest.debugger.frames.backtrace(2)) == 2


def test_a_panic_says_who_has_called(config, tmp_path):
    source = tmp_path / "oops.c"
    source.write_text(OOPS)
    build_guest(GuestSpec.of(config, source))
    done = harness("shell", "-c", config, "--workload", source, input="c\n")
    shown = done.stderr
    assert re.search(r"panicked: store to 0x8 in bad\+0x\w+ \(oops\.c:\d+\) <- outer", shown)
    stack = shown[: shown.index("Registers there")]
    places = [stack.find(f" in {name} at") for name in ("bad", "outer", "workload", "_start")]
    assert -1 not in places
    assert places == sorted(places)
