# SPDX-License-Identifier: MIT
"""harness matrix as a person uses it; cells are trivial here too."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.matrix import matrix
from harness.errors import UsageError
from harness.matrix import runner, versions
from harness.matrix.history import History

DECLARED = """
configs = ["mips-malta"]
modes = ["dynamic"]
[limits]
time = 20
[compiler]
gcc = { program = "gcc" }
[optimise]
O2 = ["-O2"]
[frame]
fp = []
[work]
good = { kind = "workload", workload = "calls" }
bad = { kind = "workload", workload = "calls" }
out = { kind = "conform" }
[[exclude]]
work = ["out"]
reason = "this one is not wanted here"
"""
CELL = "mips-malta/dynamic/gcc-O2-fp/{}"

FINDINGS = (
    "import json, sys; from pathlib import Path\n"
    "work = json.loads(Path(sys.argv[1]).read_text())['work']\n"
    "bad = work == 'bad' and not Path('mended').exists()\n"
    "found = [{'name': 'answer', 'verdict': 'fail' if bad else 'pass', 'message': ''}]\n"
    "number = 1000 + 100 * Path('slow').exists()\n"
    "text = json.dumps({'verdicts': found, 'instructions': number})\n"
    "Path(sys.argv[2], 'findings.json').write_text(text)\n"
    "sys.exit(bad)"
)


@pytest.fixture
def use(tmp_path, monkeypatch):
    """Run ``harness matrix`` with the small matrix; the exit status has to be the expected one."""
    monkeypatch.chdir(tmp_path)
    Path("m.toml").write_text(DECLARED)
    monkeypatch.setenv("XDG_STATE_HOME", str(tmp_path / "state"))
    monkeypatch.setattr(
        *(runner, "cell_command"),
        lambda file, where: [sys.executable, "-c", FINDINGS, str(file), str(where)],
    )

    def use(verb, *arguments, status=0, given=None):
        declared = ["--matrix", "m.toml"] if verb in ("list", "run", "shard") else []
        done = CliRunner().invoke(matrix, [verb, *declared, *arguments], input=given)
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        assert done.exit_code == status, done.output
        return done.output

    return use


def test_list_shows_cells_and_reasons(use):
    assert use("list").split() == [CELL.format("good"), CELL.format("bad")]
    assert use("list", "*/bad").split() == [CELL.format("bad")]
    (first, _) = json.loads(use("list", "--json"))
    assert first["name"] == CELL.format("good")
    assert (
        first["command"]
        == f"harness matrix cell --matrix {Path('m.toml').resolve()} {first['name']}"
    )
    assert "1 cells, such as mips-malta/dynamic/gcc-O2-fp/out: this one is not" in use(
        "list", "--excluded"
    )
    assert json.loads(use("list", "--excluded", "--json")) == [
        {"name": CELL.format("out"), "reason": "this one is not wanted here", "rule": 1}
    ]


def test_a_run_its_resumption_and_what_the_report_says_of_the_next_one(use):
    said = use("run", "-o", "one", "--revision", "1111", "-j", "2", status=1)
    assert "2 cells: 1 pass, 1 fail" in said
    assert f"harness matrix cell --matrix {Path('m.toml').resolve()} {CELL.format('bad')}" in said
    assert "0 of 2 cells to run" in use("run", "-o", "one", "--revision", "1111", status=1)
    Path("mended").touch()
    Path("slow").touch()
    assert "1 of 2 cells to run" in use("run", "-o", "one", "--revision", "1111", "--failed")
    use("run", "-o", "two", "--revision", "2222")
    said = use("report", "--markdown", "r.md", "--junit", "r.xml", "--html", "pages", status=1)
    assert f"slower: {CELL.format('good')}: 1000 to 1100 guest instructions, +10.0%" in said
    assert "1 flaky" in use("report", "--at", "1111")
    assert "+10.0%" in Path("r.md").read_text()
    assert "+10.0 %" in Path("pages/index.html").read_text()
    assert 'failures="0"' in Path("r.xml").read_text()
    assert use("report", "--slower", "20").splitlines()[-1].startswith("2222 against 1111: 2 of 2")


def test_shards_through_a_pipe_and_merged_are_the_whole(use):
    for part in ("1/3", "2/3", "3/3"):
        names = use("shard", part)
        use(
            *("run", "-o", f"part{part[0]}", "--revision", "1111", "-"),
            *("--history", f"h{part[0]}"),
            given=names,
            status=1 if "bad" in names else 0,
        )
    assert use("shard", "3/3") == ""
    for _ in range(2):
        assert "2 cells: 1 pass, 1 fail" in use("merge", "part1", "part2", "part3", "-o", "whole")
    with History(Path("state/ftrace-harness/matrix.sqlite")) as base:
        assert len(base.attempts()) == 2


@pytest.mark.parametrize("part", ["", "1", "0/2", "3/2", "a/b", "1/2/3", "-1/2", "1/" + "9" * 5000])
def test_a_part_that_is_none(use, part):
    with pytest.raises(UsageError):
        use("shard", "--", part)


def git(*arguments):
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    subprocess.run(["git", *who, *arguments], check=True, capture_output=True)


def test_the_revision_says_what_is_not_committed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(versions.resources, "root", lambda: tmp_path)
    assert versions.revision() == f"v{versions.__version__}"
    git("init", "-q")
    Path("a").write_text("1")
    git("add", "a")
    git("commit", "-q", "-m", "x")
    head = versions.revision()
    assert len(head) == 40
    seen = {head}
    for name, text in (("a", "2"), ("b", "new"), ("b", "newer")):
        Path(name).write_text(text)
        seen.add(versions.revision())
    assert len(seen) == 4
    assert all(one.startswith(head) for one in seen)
    assert versions.changed_files("HEAD") == ["a", "b"]
    for wrong in ("nonsense", "--output=x"):
        with pytest.raises(UsageError, match=r"nonsense|no revision"):
            versions.changed_files(wrong)
