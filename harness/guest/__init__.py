# SPDX-License-Identifier: MIT
"""A live guest in one object: boot it, run it, trace it, ask it where it is."""

from harness.guest.boot import boot, prove_identity, run_kernel
from harness.guest.guest import TIMEOUT, Guest, Outcome

__all__ = ["TIMEOUT", "Guest", "Outcome", "boot", "prove_identity", "run_kernel"]
