# SPDX-License-Identifier: MIT
"""The clock of MIPS guests, whose counters have 32 bits."""

from itertools import pairwise
from pathlib import Path

import pytest

from harness import boot
from harness.config import list_configs

pytestmark = pytest.mark.unsliced

WORKLOADS = Path(__file__).with_name("workloads")

MIPS = [name for name in list_configs() if name.startswith("mips")]

STEPS_NS = (6, 6.25)
"""A step of Count: QEMU 7.2 rounds it down."""

INTERRUPT_NS = [(1 << 30) * step for step in STEPS_NS]
"""From one timer interrupt of an idle guest to the next: guests/arch/mips/timer.c."""


@pytest.mark.parametrize("name", MIPS)
def test_no_pause_is_too_long(name):
    # After four interrupts Count is where it was; after seven the other counter has come round.
    # The guest counts interrupts of its idle time, of which ticks would leave none.
    with boot(name, workload=str(WORKLOADS / "waits.c"), deterministic=True, tick=0) as guest:
        guest.tracer.set_filter("begin", "after_*")
        guest.tracer.current = "function"
        guest.run(until="workload_done")
        times = [event.stamp for event in guest.tracer.events()]
    pauses = [after - before for before, after in pairwise(times)]
    assert [1, 4, 7] in [[round(pause / period, 2) for pause in pauses] for period in INTERRUPT_NS]


@pytest.mark.parametrize("name", MIPS)
def test_the_clock_is_right(name):
    # With -icount shift=0 an instruction takes a nanosecond: the workload counts them.
    with boot(name, workload=str(WORKLOADS / "mips_instructions.c"), deterministic=True) as guest:
        guest.tracer.set_filter("begin", "after_3_million")
        guest.tracer.current = "function"
        guest.run(until="workload_done")
        before, after = [event.stamp for event in guest.tracer.events()]
    assert after - before == pytest.approx(3_000_000, rel=0.002)
