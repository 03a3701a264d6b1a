# SPDX-License-Identifier: MIT
"""The example files for CI systems: they are YAML, and their commands are valid."""

import re
import shlex
import subprocess
from pathlib import Path

import pytest
import yaml

from harness.cli.command import harness

CI = Path(__file__).parents[2] / "docs" / "ci"
FILES = ["gitlab-ci.yml", "github-actions.yml"]
EXPRESSION = re.compile(r"\$\{\{ (?:matrix\.part|github\.sha) \}\}|\$CI_\w+")
PARTS = 8


def jobs(name):
    """The jobs of a file, and the shell commands of each in their order."""
    found = yaml.safe_load((CI / name).read_text())
    if name.startswith("gitlab"):
        setup = found["default"]["before_script"]
        return {job: setup + found[job]["script"] for job in ("cells", "report")}
    return {
        job: [step["run"] for step in found["jobs"][job]["steps"] if "run" in step]
        for job in ("cells", "report")
    }


def words(script):
    """A shell command as words, with 1 for expressions of the CI system."""
    return shlex.split(re.split(r" (?:\|\||[<>]) ", EXPRESSION.sub("1", script))[0])


@pytest.mark.parametrize("name", FILES)
def test_every_command_is_one_that_the_harness_takes(name):
    matrix = harness.commands["matrix"]
    verbs = []
    for script in (script for scripts in jobs(name).values() for script in scripts):
        command = words(script)
        subprocess.run(["sh", "-nc", EXPRESSION.sub("1", script)], check=True)
        if Path(command[0]).name != "harness":
            continue
        assert command[1] == "matrix"
        verbs.append(command[2])
        # Raises for what the command does not know.
        matrix.commands[command[2]].make_context(command[2], command[3:])
    assert verbs == ["shard", "run", "merge", "report"]


@pytest.mark.parametrize("name", FILES)
def test_files_pass_from_one_command_to_the_next(name):
    cells, report = jobs(name).values()
    assert any(script.endswith("/8 > cells.txt") or "TOTAL" in script for script in cells)
    run = next(script for script in cells if "matrix run" in script)
    # cells.txt lies in the clone: what git says of it would be another revision for each part.
    assert re.search(r" -o \"?part\$.* --revision \S.* - < cells\.txt \|\| \[ \$\? -eq 1 \]$", run)
    assert any(script.endswith("-o whole part*/") for script in report)
    text = (CI / name).read_text()
    assert text.count("history.sqlite") >= 4


def test_the_parts_are_all_there():
    gitlab = yaml.safe_load((CI / "gitlab-ci.yml").read_text())
    assert gitlab["cells"]["parallel"] == PARTS
    github = yaml.safe_load((CI / "github-actions.yml").read_text())
    job = github["jobs"]["cells"]
    assert job["strategy"]["matrix"]["part"] == list(range(1, PARTS + 1))
    assert f"/{PARTS} > cells.txt" in str(job["steps"])


def test_only_a_failed_cell_is_forgiven():
    (script,) = (s for s in jobs("gitlab-ci.yml")["cells"] if "matrix run" in s)
    tail = script.partition(" || ")[2]
    for status in range(4):
        done = subprocess.run(["sh", "-c", f"(exit {status}) || {tail}"], check=False)
        assert (done.returncode == 0) == (status < 2)
