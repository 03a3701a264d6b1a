# SPDX-License-Identifier: MIT
"""Record a trace from start to a closed trace.dat."""

from harness.record.recording import Recording, Request, record

__all__ = ["Recording", "Request", "record"]
