# SPDX-License-Identifier: MIT
"""Clauses of the specification, the checks of them, and the faults that show what checks find."""

from harness.conformance.catalogue import (
    Build,
    Catalogue,
    Clause,
    Document,
    Judge,
    load_catalogue,
)

__all__ = ["Build", "Catalogue", "Clause", "Document", "Judge", "load_catalogue"]
