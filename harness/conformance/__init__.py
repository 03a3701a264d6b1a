# SPDX-License-Identifier: MIT
"""Clauses of the specification: what each requires, where it applies, and which test checks it."""

from harness.conformance.catalogue import (
    Build,
    Catalogue,
    Clause,
    Document,
    Judge,
    load_catalogue,
)
from harness.conformance.coverage import Check, Covered, covered, load_checks

__all__ = [
    "Build",
    "Catalogue",
    "Check",
    "Clause",
    "Covered",
    "Document",
    "Judge",
    "covered",
    "load_catalogue",
    "load_checks",
]
