# SPDX-License-Identifier: MIT
"""Clauses that no check judges, and what would be needed to see them."""

UNSEEN: dict[str, str] = {}
