# SPDX-License-Identifier: MIT
"""Clauses of the specification, the checks of them, and the faults that show what checks find."""

from harness.conformance.catalogue import (
    BuildKind,
    Catalogue,
    Clause,
    Document,
    Judge,
    load_catalogue,
)

__all__ = ["BuildKind", "Catalogue", "Clause", "Document", "Judge", "load_catalogue"]
