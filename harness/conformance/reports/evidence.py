# SPDX-License-Identifier: MIT
"""The evidence of a failure in lines, and its minimal part."""

from collections.abc import Iterator, Mapping

from harness.machine.console import DEATH_STRINGS

GUEST = "guest"
NOT_LEAST = (GUEST, "advice")
"""Titles of dumps, and of values that are not evidence."""

EXPECTED, FOUND = "expected", "found"


def shown_value(value: object) -> Iterator[str]:
    """A piece of evidence, line by line."""
    if isinstance(value, Mapping):
        for name, inner in value.items():
            inner_lines = list(shown_value(inner))
            if len(inner_lines) == 1:
                yield f"{name}: {inner_lines[0]}"
            else:
                yield f"{name}:"
                yield from (f"  {line}" for line in inner_lines)
    elif isinstance(value, list | tuple):
        yield from map(str, value)
    elif value:
        yield from str(value).splitlines()


def least(evidence: Mapping[str, object]) -> list[str]:
    """The differences, one a line, without dumps of the guest.

    Of the expected and the found values only those that differ; if there is nothing else and the
    guest died, its last message.
    """
    left = {title: value for title, value in evidence.items() if title not in NOT_LEAST}
    expected, found = left.get(EXPECTED), left.get(FOUND)
    lines = []
    if isinstance(expected, Mapping) and isinstance(found, Mapping):
        del left[EXPECTED], left[FOUND]
        lines = [
            f"{name}: expected {expected.get(name, 'nothing')}, found {found.get(name, 'nothing')}"
            for name in dict.fromkeys((*expected, *found))
            if expected.get(name) != found.get(name)
        ]
    elif isinstance(expected, list) and isinstance(found, list):
        own = [
            [one for one in a if one not in b] for a, b in ((expected, found), (found, expected))
        ]
        if any(own):
            left |= {EXPECTED: own[0], FOUND: own[1]}
    lines += [f"{title}: {line}" for title, value in left.items() for line in shown_value(value)]
    return lines or [
        f"console: {line}"
        for line in shown_value(evidence.get(GUEST))
        if any(death.decode() in line for death in DEATH_STRINGS)
    ]
