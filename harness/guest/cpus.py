# SPDX-License-Identifier: MIT
"""The CPUs of a stopped guest as the patcher sees them."""

from harness.debugger import Debugger


class StubCpus:
    """CPUs through the debug stub: gdb's threads, numbered from 1, are QEMU's CPUs from 0."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger

    def program_counters(self) -> dict[int, int]:
        """The program counter of every CPU, by its number."""
        return {thread.id - 1: thread.pc for thread in self._debugger.threads()}

    def step(self, cpu: int) -> None:
        """Execute exactly one instruction on one CPU."""
        self._debugger.step_instruction(thread=cpu + 1)
