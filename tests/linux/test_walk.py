# SPDX-License-Identifier: MIT
"""Every line of the walk in docs/linux.rst, typed, and what the document says it prints."""

import doctest
import re
from pathlib import Path

import pytest

from harness import boot
from harness.config import LinuxConfig, load_any_config
from harness.shell import Session
from harness.shell.line import execute

DOCUMENT = Path(__file__).parents[2] / "docs" / "linux.rst"
PROMPT = "    > "
UNTIL = '\n    until = "rest_init"\n'


def steps() -> list[tuple[str, list[str]]]:
    """Pairs of a line and what it prints."""
    text = DOCUMENT.read_text()
    begin = text.index("\nA kernel that hangs in early boot\n")
    walk = text[begin : text.index("\nA kernel that is dead\n")]
    assert UNTIL in walk
    found: list[tuple[str, list[str]]] = []
    for line in walk.splitlines():
        if line.startswith(PROMPT):
            found.append((line.removeprefix(PROMPT), []))
        elif found and line.startswith("    "):
            found[-1][1].append(line.strip())
    return found


def test_every_step_prints_what_the_document_says(
    linux_config: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    loaded = load_any_config(linux_config)
    assert isinstance(loaded, LinuxConfig)
    if loaded.architecture != "aarch64":
        pytest.skip("a kernel for one CPU has no spin locks")
    monkeypatch.chdir(tmp_path)
    table = loaded.linux.model_copy(update={"until": "rest_init"})
    config = loaded.model_copy(update={"linux": table})
    session = Session(lambda: boot(config, timeout=600.0))
    capsys.readouterr()
    options = doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    walk = steps()
    assert len(walk) > 4
    try:
        for line, wanted in walk:
            execute(session, line)
            printed = re.sub(r"\x1b\[[0-9;]*m", "", capsys.readouterr().out)
            expected = "\n".join(wanted) + "\n"
            assert doctest.OutputChecker().check_output(expected, printed, options), (
                f"{line!r} printed:\n{printed}\ninstead of:\n{expected}"
            )
    finally:
        session.close()
