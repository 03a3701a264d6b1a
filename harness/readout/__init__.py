# SPDX-License-Identifier: MIT
"""Bring the guest's ring buffer to the host: lanes to its memory, and the draining of its pages."""

from harness.readout.collector import Collector
from harness.readout.lanes import Lane, MonitorLane, StubLane
from harness.readout.linux import LinuxCollector
from harness.readout.spools import CollectorState, EventBuffer, Spool

__all__ = [
    "Collector",
    "CollectorState",
    "EventBuffer",
    "Lane",
    "LinuxCollector",
    "MonitorLane",
    "Spool",
    "StubLane",
]
