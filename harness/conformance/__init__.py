# SPDX-License-Identifier: MIT
"""The clauses of the specification, and the checks of them."""

from harness.conformance.catalogue import (
    BuildKind,
    Catalogue,
    Clause,
    Document,
    Judge,
    load_catalogue,
)

__all__ = ["BuildKind", "Catalogue", "Clause", "Document", "Judge", "load_catalogue"]
