# SPDX-License-Identifier: MIT
"""Raise an interrupt in a stopped guest from outside, in the way that its machine config names."""

from collections.abc import Callable

from harness.config import MachineConfig
from harness.debugger import Debugger
from harness.errors import UsageError
from harness.machine import Machine

SOFTWARE_INTERRUPT_0 = 1 << 8
"""Cause.IP0 (MIPS Architecture For Programmers, volume III, "Cause Register")."""


def inject(config: MachineConfig, machine: Machine, debugger: Debugger, cpu: int) -> None:
    """Make the interrupt pending: the CPU takes it as soon as it runs with interrupts open.

    Raises:
        UsageError: the config names no way, or the way does not lead to that CPU.
    """
    if config.qemu.inject is None:
        raise UsageError(
            f"the machine config {config.name} names no way to inject an interrupt",
            "Set qemu.inject (docs/configs.rst).",
        )
    _WAYS[config.qemu.inject](machine, debugger, cpu)


def _cause(machine: Machine, debugger: Debugger, cpu: int) -> None:
    """QEMU looks at the bits of Cause when gdb writes it, as it does for an mtc0."""
    before = debugger.selected_thread
    debugger.select_thread(cpu + 1)
    cause = debugger.read_register("cause")
    debugger.write_register("cause", cause | SOFTWARE_INTERRUPT_0)
    if before is not None:
        debugger.select_thread(before)


def _powerdown(machine: Machine, debugger: Debugger, cpu: int) -> None:
    """The power button: a pulse on a GPIO line, which the guest has routed to CPU 0."""
    if cpu != 0:
        raise UsageError("the power button interrupts CPU 0 only", "Inject into CPU 0.")
    machine.qmp("system_powerdown")


_WAYS: dict[str, Callable[[Machine, Debugger, int], None]] = {
    "cause": _cause,
    "powerdown": _powerdown,
}
