# SPDX-License-Identifier: MIT
"""Every line of the walk in docs/shell.rst prints what the document shows."""

import doctest
import re
from pathlib import Path

import pytest

from harness import boot
from harness.shell import Session
from harness.shell.line import execute

DOCUMENT = Path(__file__).parents[2] / "docs" / "shell.rst"
PROMPT = "    > "


def steps():
    """Pairs of a line and what it prints, from the chapter of the walk."""
    text = DOCUMENT.read_text()
    walk = text[text.index("\nA walk\n") : text.index("\nWhen something dies\n")]
    found = []
    for line in walk.splitlines():
        if line.startswith(PROMPT):
            found.append((line.removeprefix(PROMPT), []))
        elif found and line.startswith("    "):
            found[-1][1].append(line.strip())
    return found


@pytest.fixture(scope="module")
def session():
    walked = Session(lambda: boot("mips-malta"))
    yield walked
    walked.close()


def test_the_document_has_steps():
    assert len(steps()) > 20


def test_every_step_prints_what_the_document_says(session, capsys):
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    for line, wanted in steps():
        execute(session, line)
        printed = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
        # What was printed without a line in the document is not compared, as with "...".
        expected = "\n".join(wanted) + "\n"
        assert doctest.OutputChecker().check_output(expected, printed, options), (
            f"{line!r} printed:\n{printed}\ninstead of:\n{expected}"
        )
