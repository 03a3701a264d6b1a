# SPDX-License-Identifier: MIT
"""The nightly matrix: many guests, each checked in its own process, and compared over time."""

from harness.matrix.cells import Cell, Expansion, expand, pick, shard
from harness.matrix.model import DEFAULT, load_matrix
from harness.matrix.result import Result

__all__ = [
    "DEFAULT",
    "Cell",
    "Expansion",
    "Result",
    "expand",
    "load_matrix",
    "pick",
    "shard",
]
