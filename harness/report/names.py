# SPDX-License-Identifier: MIT
"""The texts of a page, each once."""

from harness.units import MIB

MAX_TEXT = 16 * MIB
"""Maximum number of characters of all texts."""

MAX_NAME = 1000
"""Maximum number of characters of one text."""

CUT = "[cut]"


class Names:
    """Texts with numbers from 0 on.  Texts beyond the limit are all the same one, `CUT`."""

    def __init__(self) -> None:
        self._numbers: dict[str, int] = {CUT: 0}
        self._room = MAX_TEXT

    def number(self, name: str) -> int:
        """The number of a text."""
        found = self._numbers.get(name)
        if found is None:
            name = name[:MAX_NAME]
            if len(name) > self._room:
                return 0
            self._room -= len(name)
            found = self._numbers.setdefault(name, len(self._numbers))
        return found

    def list(self) -> list[str]:
        """All texts, by number."""
        return list(self._numbers)
