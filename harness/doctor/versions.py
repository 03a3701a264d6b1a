# SPDX-License-Identifier: MIT
"""The tested versions of other programs."""

import re
from dataclasses import dataclass

Version = tuple[int, ...]

_VERSION = re.compile(r"(?<![\w.])\d+(?:\.\d+)+")
_PACKAGE = re.compile(r"\([^()]*\)")


@dataclass(frozen=True, slots=True)
class TestedVersions:
    """The oldest and the newest tested version of a program, and what depends on it."""

    oldest: str
    newest: str
    use: str

    def note(self, program: str, text: str) -> str:
        """A note about the version in ``text``, a program's output; empty if it was tested."""
        version = version_in(text)
        if not version:
            return ""
        shown = f"{program} {'.'.join(map(str, version))}"
        if _begins(version, self.oldest) < _numbers(self.oldest):
            return f"{shown} is older than {self.oldest}, the oldest that was tested: {self._risk}"
        if _begins(version, self.newest) > _numbers(self.newest):
            return f"{shown} is newer than {self.newest}, the newest that was tested: {self._risk}"
        return ""

    @property
    def _risk(self) -> str:
        return f"{self.use} may not work"


TESTED = {
    "QEMU": TestedVersions("7.2", "10.0", "running guests, and the plugin of conform and matrix,"),
    "gdb": TestedVersions("13", "16", "running guests"),
    "gcc": TestedVersions("12", "14", "building guests"),
    "Python": TestedVersions("3.11", "3.13", "all of the harness"),
    "trace-cmd": TestedVersions("3.1", "3.3", "reading recordings with trace-cmd"),
}
"""By program name.  README.rst has the same table."""


def version_in(text: str) -> Version:
    """The version in a program's first line, without the package's version in parentheses."""
    found = _VERSION.search(_PACKAGE.sub("", text))
    return _numbers(found[0]) if found else ()


def _begins(version: Version, other: str) -> Version:
    """The first parts of a version, as many as ``other`` has: 10.0.2 is a 10.0."""
    return version[: len(_numbers(other))]


def _numbers(text: str) -> Version:
    return tuple(map(int, text.split(".")))
