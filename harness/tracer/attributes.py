# SPDX-License-Identifier: MIT
"""Controls whose attributes are known."""

from difflib import get_close_matches
from typing import TYPE_CHECKING


class KnownAttributes:
    """Setting an attribute that the class does not have is an error, also a misspelt one."""

    # mypy finds them by itself, unless there is such a method.
    if not TYPE_CHECKING:

        def __setattr__(self, name: str, value: object) -> None:
            if not name.startswith("_") and not hasattr(type(self), name):
                near = get_close_matches(name, [one for one in dir(self) if one[0] != "_"])
                advice = f". Did you mean {' or '.join(near)}?" if near else ""
                raise AttributeError(f"{type(self).__name__} has no {name!r}{advice}", name=name)
            super().__setattr__(name, value)
