# SPDX-License-Identifier: MIT
"""The report of a panic at the prompt: what happened, where, and how the guest got there."""

import re

import pytest

from harness.kbuild import GuestSpec, build_guest
from support.terminal import Terminal
from tests.support.configs import others

CONFIGS = ["mips-malta", "mips64el-malta", "aarch64-virt", *others()]

OOPS = """#include <linux/bug.h>
int workload(void);
__attribute__((noipa)) static long bad(volatile long *p, long value)
{
	value = *p;	/* the fault */
	__asm__ volatile("nop");	/* the fault is not in a delay slot */
	return value + 1;
}
int workload(void)
{
	return bad((volatile long *)8, 7) + 1;
}
"""


@pytest.mark.parametrize(
    ("body", "what"),
    [
        ("*p = value", "store to 0x8"),
        ("value = *p", "load from 0x8"),
        ('panic("no way out %ld", value)', "no way out 7"),
    ],
    ids=["store", "load", "panic"],
)
def test_the_headline_says_what_happened(config, tmp_path, body, what):
    source = tmp_path / "oops.c"
    source.write_text(OOPS.replace("value = *p", body))
    build_guest(GuestSpec.of(config, source))
    options = ("-c", config, "--workload", source)
    with Terminal("shell", *options, state_home=tmp_path, lines=60) as terminal:
        terminal.wait("or help.")
        terminal.do("current_tracer function", "tracer function")
        shown = terminal.do("c", "can be inspected", " | ")
        # The compiler's lines of a volatile asm begin early.
        headline = rf"the guest panicked: {what} in bad\+0x[0-9a-f]+ \(oops\.c:[56]\) <- workload"
        assert re.search(headline, shown), shown
        order = [
            "in bad at workload/oops.c:",
            "/* the fault",
            "in workload at",
            "Registers there",
        ]
        order += ["Code there", "=>", "The last events", " bad <-workload", "CPUs:", "Console:"]
        places = [shown.find(text) for text in order]
        missing = [text for text in order if text not in shown]
        assert not missing, f"{missing} in\n{shown}"
        assert places == sorted(places)
        if "panic" not in body:
            there = shown[shown.index("Registers there") : shown.index("Code there")]
            assert re.search(r" 0+8\b", there), "the registers are those of the code at fault"
        # gdb itself sees through the exception.
        terminal.do("bt", " bad (p=", "in workload () at", "run_workload")


JUMPS = """
int workload(void);
__attribute__((noipa)) static void jumps(void (*to)(void))
{
	to();
	__asm__ volatile("" ::: "memory");
}
int workload(void)
{
	jumps((void (*)(void))0x12340);
	return 0;
}
"""


def test_a_jump_to_nowhere_names_the_caller(config, tmp_path):
    source = tmp_path / "jumps.c"
    source.write_text(JUMPS)
    build_guest(GuestSpec.of(config, source))
    with Terminal("shell", "-c", config, "--workload", source, state_home=tmp_path) as terminal:
        terminal.wait("or help.")
        shown = terminal.do("c", "can be inspected", " | ")
        assert re.search(r"panicked: jump to 0x12340 in 0x0*12340 <- jumps", shown), shown
