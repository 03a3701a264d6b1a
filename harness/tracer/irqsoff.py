# SPDX-License-Identifier: MIT
"""The irqsoff tracer of a stopped guest: its switch and tracing_max_latency.

While it is enabled it owns the guest's ring buffer, and the copy of the longest section is read
(guests/kernel/include/linux/irqsoff.h).
"""

from harness.errors import UsageError
from harness.image import Image
from harness.patcher import Text
from harness.readout import Collector
from harness.tracer.control_block import ControlBlock

IRQSOFF = "irqsoff"


class IrqsoffControl:
    """The guest's ``struct irqsoff_control``, and the buffer that the collector reads."""

    def __init__(self, image: Image, memory: Text, collector: Collector) -> None:
        self._control = ControlBlock(image, memory, "irqsoff_control")
        self._collector = collector
        self._max_buffer = image.address_of("max_buffer")

    @property
    def tracing_max_latency(self) -> int:
        """``tracing_max_latency`` in microseconds."""
        return (self._control.read("max_latency") + 500) // 1000

    @tracing_max_latency.setter
    def tracing_max_latency(self, microseconds: int) -> None:
        if not 0 <= microseconds < 1 << 53:
            raise UsageError(f"a latency of {microseconds} us is not possible")
        self._control.write(max_latency=microseconds * 1000)

    def adopt(self) -> None:
        """Read its section: it was enabled by other means."""
        self._collector.follow_snapshot(self._max_buffer)

    def switch(self, on: bool) -> None:
        """Enable it with an empty trace and no maximum, or disable it and keep the section."""
        if on:
            self._collector.keep_snapshot(self._max_buffer)
            self._control.write(enabled=1, max_latency=0)
        else:
            self._control.write(enabled=0)
