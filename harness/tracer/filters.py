# SPDX-License-Identifier: MIT
"""Function filters with tracefs globs: ``foo``, ``foo*``, ``*foo``, ``*foo*``, ``f?o``, ``f*o``."""

import difflib
from collections.abc import Sequence
from fnmatch import fnmatchcase

from harness.errors import UsageError

WILDCARDS = "*?["


def matching(glob: str, functions: Sequence[str]) -> set[str]:
    """The functions that ``glob`` matches.

    Raises:
        UsageError: it matches none; the advice names functions that are spelled nearly so.
    """
    matched = {function for function in functions if fnmatchcase(function, glob)}
    if not matched:
        raise UsageError(f"no traceable function matches {glob!r}", _near(glob, functions))
    return matched


def _near(glob: str, functions: Sequence[str]) -> str:
    core = "".join(c for c in glob if c not in WILDCARDS + "]")
    near = [function for function in functions if core and core in function][:3]
    near += difflib.get_close_matches(core, functions, n=3, cutoff=0.5)
    if not near:
        return "List what can be traced: harness list functions -c CONFIG."
    return f"Did you mean {', '.join(dict.fromkeys(near))}?"
