# SPDX-License-Identifier: MIT
"""The nightly matrix: many guests, each checked in its own process, and compared over time."""

from harness.matrix.cells import Cell, Excluded, Expansion, expand, pick, shard
from harness.matrix.model import DEFAULT, MatrixFile, load_matrix
from harness.matrix.result import CellFindings, CellOutcome, CellVerdict, Result

__all__ = [
    "DEFAULT",
    "Cell",
    "CellFindings",
    "CellOutcome",
    "CellVerdict",
    "Excluded",
    "Expansion",
    "MatrixFile",
    "Result",
    "expand",
    "load_matrix",
    "pick",
    "shard",
]
