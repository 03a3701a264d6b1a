# SPDX-License-Identifier: MIT
"""What goes of what is kept for later: what nobody has used for longest."""

import time
from collections.abc import Mapping
from typing import TypeVar

IN_USE = 24 * 3600.0
"""Seconds that nothing is removed after it was last asked for: it may be used all that time."""

_Key = TypeVar("_Key")


def unused(used: Mapping[_Key, float], most: int, in_use: float = IN_USE) -> list[_Key]:
    """Those that are more than ``most`` and not in use, the oldest first.

    ``used`` says when each was last asked for, in seconds since 1970; it counts as used for
    ``in_use`` seconds.
    """
    oldest = sorted(used, key=lambda key: used[key])[: max(0, len(used) - most)]
    return [key for key in oldest if used[key] < time.time() - in_use]
