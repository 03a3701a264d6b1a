# SPDX-License-Identifier: MIT
"""Change the text of a live guest as a transaction: all of a plan, or nothing of it."""

from harness.patcher.plan import Patch, PatchPlan
from harness.patcher.transaction import Cpus, Text, apply

__all__ = ["Cpus", "Patch", "PatchPlan", "Text", "apply"]
