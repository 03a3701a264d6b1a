# SPDX-License-Identifier: MIT
"""Raise an interrupt in a stopped guest from outside, in the way that its machine config names."""

from collections.abc import Callable

from harness.config import MachineConfig
from harness.debugger import Debugger
from harness.errors import UsageError

SOFTWARE_INTERRUPT_0 = 1 << 8
"""Cause.IP0 (MIPS Architecture For Programmers, volume III, "Cause Register")."""


MESSAGE_REGISTER = 0x08020040
"""MSI_SETSPI_NS of the GICv2m frame of QEMU's virt machine; a physical address."""

MESSAGE_IRQ, MESSAGE_NMI = 80, 88
"""The first of the interrupts that our guests take as injected ones, one for each CPU, and as NMIs
(guests/arch/aarch64/include/asm/gic.h)."""


def inject(config: MachineConfig, debugger: Debugger, cpu: int, *, nmi: bool = False) -> None:
    """Make the interrupt pending: the CPU takes it as soon as it runs with interrupts open.

    Raises:
        UsageError: the config names no way, or the machine has no such CPU or no NMI.
    """
    if config.qemu.inject is None:
        raise UsageError(
            f"the machine config {config.name} names no way to inject an interrupt",
            "Set qemu.inject (docs/configs.rst).",
        )
    if not 0 <= cpu < config.qemu.smp:
        raise UsageError(f"{config.name} has no CPU {cpu}")
    _WAYS[config.qemu.inject](debugger, cpu, nmi)


def _cause(debugger: Debugger, cpu: int, nmi: bool) -> None:
    """QEMU looks at the bits of Cause when gdb writes it, as it does for an mtc0."""
    if nmi:
        raise UsageError("this machine can raise no NMI in a running kernel")
    with debugger.selection_kept():
        debugger.select_thread(cpu + 1)
        cause = debugger.read_register("cause")
        debugger.write_register("cause", cause | SOFTWARE_INTERRUPT_0)


def _message(debugger: Debugger, cpu: int, nmi: bool) -> None:
    """A store to the frame is a message-signalled interrupt: edge triggered, at any rate."""
    number = (MESSAGE_NMI if nmi else MESSAGE_IRQ) + cpu
    debugger.write_physical(MESSAGE_REGISTER, number.to_bytes(4, "little"))


_WAYS: dict[str, Callable[[Debugger, int, bool], None]] = {"cause": _cause, "message": _message}
