# SPDX-License-Identifier: MIT
"""Raise an interrupt in a stopped guest from outside, in the way that its machine config names."""

from harness.config import MachineConfig
from harness.debugger import Debugger
from harness.errors import UsageError


class _Stub:
    """`harness.isa.Injector` through the debug stub."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger

    def set_bits(self, cpu: int, register: str, bits: int) -> None:
        """The CPU that was selected is selected again."""
        debugger = self._debugger
        with debugger.selection_kept():
            debugger.select_thread(cpu + 1)
            debugger.write_register(register, debugger.read_register(register) | bits)

    def store(self, address: int, data: bytes) -> None:
        """As one access."""
        self._debugger.write_physical(address, data)


def inject(config: MachineConfig, debugger: Debugger, cpu: int, *, nmi: bool = False) -> None:
    """Make the interrupt pending: the CPU takes it as soon as it runs with interrupts open.

    Raises:
        UsageError: the config names no way, or the machine has no such CPU or no NMI.
    """
    way = config.injection
    if way is None:
        raise UsageError(
            f"the machine config {config.name} names no way to inject an interrupt",
            "Set qemu.inject (docs/configs.rst).",
        )
    if not 0 <= cpu < config.qemu.smp:
        raise UsageError(f"{config.name} has no CPU {cpu}")
    if nmi and not way.nmi:
        raise UsageError("this machine can raise no NMI in a running kernel")
    way.inject(_Stub(debugger), cpu, nmi)
