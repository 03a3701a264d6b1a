# SPDX-License-Identifier: MIT
"""Bring the guest's ring buffer to the host: lanes to its memory, and the draining of its pages."""

from harness.readout.collector import Collector, CollectorState, Spool
from harness.readout.lanes import Lane, MonitorLane, StubLane

__all__ = ["Collector", "CollectorState", "Lane", "MonitorLane", "Spool", "StubLane"]
