# SPDX-License-Identifier: MIT
"""Record a trace of a guest to a trace.dat."""

from harness.record.recording import Recording, Request, record

__all__ = ["Recording", "Request", "record"]
