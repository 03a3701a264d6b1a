# SPDX-License-Identifier: MIT
"""The checks of the suite: every module of this package has some; there is no other list."""

import pkgutil
from functools import cache
from importlib import import_module

from harness.conformance.registry import Check, check, registered

__all__ = ["Check", "all_checks", "check"]


@cache
def all_checks() -> tuple[Check, ...]:
    """Every check, in the order of the module names, then of the file: quick ones first."""
    for module in sorted(found.name for found in pkgutil.iter_modules(__path__)):
        import_module(f"{__name__}.{module}")
    return tuple(registered)
