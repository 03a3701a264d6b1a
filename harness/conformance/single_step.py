# SPDX-License-Identifier: MIT
"""Single steps through code that may wait for other CPUs, which stand still meanwhile."""

from harness.conformance.bench import Bench
from harness.debugger import return_address

WAITING = "kick_all_cpus_sync"
"""The kernel's function that waits for all other CPUs."""


def single_step(bench: Bench, here: int) -> int:
    """From an address on execute one instruction, or all of `WAITING`; the next address."""
    isa, debugger = bench.isa, bench.guest.debugger
    waiting = bench.image.symbols.get(WAITING)
    if waiting is not None and here & isa.mask == waiting & isa.mask:
        return bench.run_to(return_address(debugger, isa.abi))
    return debugger.step_instruction().address & isa.mask
