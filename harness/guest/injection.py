# SPDX-License-Identifier: MIT
"""Raises an interrupt in a stopped guest, by the way in its machine config."""

from harness.config import MachineConfig
from harness.debugger import Debugger
from harness.errors import UsageError


class _Stub:
    """`harness.isa.Injector` through the debug stub."""

    def __init__(self, debugger: Debugger) -> None:
        self._debugger = debugger

    def set_bits(self, cpu: int, register: str, bits: int) -> None:
        """The selected thread stays selected."""
        debugger = self._debugger
        with debugger.preserved_selection():
            debugger.select_thread(cpu + 1)
            debugger.write_register(register, debugger.read_register(register) | bits)

    def store(self, address: int, data: bytes) -> None:
        """One access."""
        self._debugger.write_physical(address, data)


def inject(config: MachineConfig, debugger: Debugger, cpu: int, *, nmi: bool = False) -> None:
    """Make the interrupt pending: the CPU takes it as soon as interrupts are enabled.

    Raises:
        UsageError: the config has no injection, or the machine has no such CPU or no NMI.
    """
    way = config.injection
    if way is None:
        raise UsageError(
            f"the machine config {config.name} has no qemu.inject", "Set it (docs/configs.rst)."
        )
    if not 0 <= cpu < config.qemu.smp:
        raise UsageError(f"{config.name} has no CPU {cpu}")
    if nmi and not way.nmi:
        raise UsageError("this machine cannot raise an NMI in a running kernel")
    way.inject(_Stub(debugger), cpu, nmi)
