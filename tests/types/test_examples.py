# SPDX-License-Identifier: MIT
"""The examples of docs/python.rst under mypy --strict, as a user's own file."""

import re
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

TEXT = (Path(__file__).parents[2] / "docs/python.rst").read_text()
EXAMPLES = [
    textwrap.dedent(block)
    for block in re.findall(r"::\n\n((?:   .*\n|\n)+)", TEXT)
    if "import" in block
]


FILES = {f"example_{number}": text for number, text in enumerate(EXAMPLES)}
WRONG = {
    "misspelt": "def of(guest):\n    guest.tracer.curent = 'nop'\n",
    "unknown": "def of(guest):\n    guest.tracer.nosuch()\n",
}


@pytest.fixture(scope="module")
def errors(tmp_path_factory: pytest.TempPathFactory) -> dict[str, list[str]]:
    """mypy's errors for each file."""
    directory = tmp_path_factory.mktemp("examples")
    for name, text in {**FILES, **WRONG}.items():
        # A fixture has no type, unless the user writes it.
        typed = text.replace("(guest)", "(guest: Guest) -> None")
        (directory / f"{name}.py").write_text(f"from harness.guest import Guest\n{typed}")
    command = [sys.executable, "-m", "mypy", "--strict", "--cache-dir", str(directory), "."]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=directory)
    assert not done.stderr
    return {
        name: [line for line in done.stdout.splitlines() if line.startswith(f"{name}.py:")]
        for name in (*FILES, *WRONG)
    }


@pytest.mark.parametrize("name", FILES)
def test_examples_are_typed(name: str, errors: dict[str, list[str]]) -> None:
    assert errors[name] == []


@pytest.mark.parametrize("name", WRONG)
def test_unknown_attributes_are_errors(name: str, errors: dict[str, list[str]]) -> None:
    [error] = errors[name]
    assert "has no attribute" in error
