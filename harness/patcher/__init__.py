# SPDX-License-Identifier: MIT
"""Changes the text of a live guest as a transaction: a whole plan, or nothing."""

from harness.patcher.plan import Patch, PatchPlan
from harness.patcher.transaction import Cpus, Text, apply

__all__ = ["Cpus", "Patch", "PatchPlan", "Text", "apply"]
