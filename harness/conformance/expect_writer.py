# SPDX-License-Identifier: MIT
"""Write the file of expected failures for a run, with the reasons that are known."""

import json
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from glob import escape as escape_glob

from harness.conformance.catalogue import order_of
from harness.conformance.expected import (
    ExpectedFailure,
    ExpectFile,
    failures,
    message_of,
    seen_in,
)
from harness.conformance.verdict import Report

NO_REASON = "TO BE REPLACED: why this fails, and whose fault it is"

ALIKE = 8
"""This many messages that differ in one word become one entry, with a * for that word."""

ADDRESS = re.compile(r"0x[0-9a-f]{6,}")
"""An address in a message: it changes with every change of the port's code."""

HEAD = """\
# Failures that harness conform is to expect of this port: docs/conform.rst, Known failures.
port = {port}
"""

Key = tuple[str, str, str, str]
"""Clause, check, build and pattern of the message."""


def written(port: str, reports: Sequence[Report], old: ExpectFile | None) -> str:
    """The text of the file.

    Entries of ``old`` stay if they match, or if this run does not judge them.
    """
    valid = list(_still_valid(old.failure if old else (), reports))
    found: dict[Key, list[str]] = {}
    for report in reports:
        required = {result.clause for result in report.failed}
        messages: dict[tuple[str, str, str], list[str]] = defaultdict(list)
        for clause, failure in failures(report):
            known = any(one.matches(report.config, clause, failure) for one in valid)
            if clause in required and not known:
                messages[clause, failure.check, failure.variant].append(message_of(failure))
        for (clause, check, build), said in messages.items():
            for pattern in patterns(said):
                found.setdefault((clause, check, build, pattern), []).append(report.config)
    new = [
        ExpectedFailure.model_construct(
            clause=clause,
            check=check,
            build=build,
            message=pattern,
            configs=tuple(configs),
            reason=NO_REASON,
        )
        for (clause, check, build, pattern), configs in found.items()
    ]
    every = sorted((*valid, *new), key=lambda one: order_of(one.clause))
    return HEAD.format(port=_string(port)) + "".join(map(_table, every))


def _still_valid(
    old: Iterable[ExpectedFailure], reports: Sequence[Report]
) -> Iterator[ExpectedFailure]:
    for one in old:
        seen = {report.config: seen_in(one, report) for report in reports}
        left = tuple(name for name in one.configs if seen.get(name) is not False)
        if not any(seen.values()) and False in seen.values():
            # Whether a glob still matches other configs is not known.
            left = tuple(name for name in left if name == escape_glob(name))
        if left:
            yield one if left == one.configs else one.model_copy(update={"configs": left})


def patterns(messages: Sequence[str]) -> list[str]:
    """Globs that match the messages, each once, in their order."""
    distinct = list(dict.fromkeys(messages))
    shapes = Counter(shape for message in distinct for shape in _shapes(message))
    found = dict.fromkeys(_pattern(message, shapes) for message in distinct)
    return list(found)


def _pattern(message: str, shapes: Counter[str]) -> str:
    best = max(_shapes(message), key=shapes.__getitem__, default="")
    return ADDRESS.sub("0x*", best if shapes[best] > ALIKE else escape_glob(message))


def _shapes(message: str) -> Iterator[str]:
    """The message with one word replaced by ``*``, for each word."""
    parts = re.split(r"( )", message)
    for at in range(0, len(parts), 2):
        before, behind = ("".join(part) for part in (parts[:at], parts[at + 1 :]))
        colon = ":" if parts[at].endswith(":") else ""
        yield f"{escape_glob(before)}*{colon}{escape_glob(behind)}"


def _table(one: ExpectedFailure) -> str:
    configs = "" if one.configs == ("*",) else f"configs = [{_strings(one.configs)}]\n"
    return f"""
[[failure]]
clause = {_string(one.clause)}
check = {_string(one.check)}
build = {_string(one.build)}
message = {_string(one.message)}
{configs}reason = {_string(one.reason)}
"""


def _strings(texts: Iterable[str]) -> str:
    return ", ".join(map(_string, texts))


def _string(text: str) -> str:
    """A basic string of TOML; the escapes of JSON are valid there."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")
