# SPDX-License-Identifier: MIT
"""The nightly matrix: many guests, each judged in a process of its own, and compared over time."""

from harness.matrix.cells import Cell, Excluded, Expansion, expand, pick, shard
from harness.matrix.model import DEFAULT, MatrixFile, load_matrix
from harness.matrix.result import Findings, Outcome, Result, Verdict

__all__ = [
    "DEFAULT",
    "Cell",
    "Excluded",
    "Expansion",
    "Findings",
    "MatrixFile",
    "Outcome",
    "Result",
    "Verdict",
    "expand",
    "load_matrix",
    "pick",
    "shard",
]
