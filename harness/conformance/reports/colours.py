# SPDX-License-Identifier: MIT
"""The colours of a summary on a terminal."""

import re

import click

COLOURS = (
    (re.compile(r"[\w.+-]+, port .*: 0 findings"), "green"),
    (re.compile(r"[\w.+-]+, port .*: \d+ findings?"), "red"),
    (re.compile(r"\d+\. [CM]\d+[a-z]\b.*"), "red"),
    (re.compile(r"fails no more: .*"), "yellow"),
)
"""The beginnings of lines that have one."""


def coloured(line: str) -> str:
    """A line of `summary_lines` with its colour, if it has one."""
    for begin, colour in COLOURS:
        if found := begin.match(line):
            return click.style(found[0], fg=colour) + line[found.end() :]
    return line
