# SPDX-License-Identifier: MIT
"""harness matrix as a person uses it; cells are trivial here too."""

import json
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

from harness.cli.matrix import matrix
from harness.config import resources
from harness.errors import UsageError
from harness.matrix import runner, versions
from harness.matrix.history import History
from matrix_drafts import AXES

DECLARED = f"""
configs = ["mips-malta"]
modes = ["dynamic"]
[limits]
time = 20
{AXES}good = {{ kind = "workload", workload = "calls" }}
bad = {{ kind = "workload", workload = "calls" }}
out = {{ kind = "conform" }}
[[exclude]]
work = ["out"]
reason = "this one is not wanted here"
"""
CELL = "mips-malta/dynamic/gcc-O2-auto/{}"

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
    assert "1 cells, such as mips-malta/dynamic/gcc-O2-auto/out: this one is not" in use(
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


def test_a_path_that_is_no_text_is_no_obstacle(use):
    own = os.fsdecode(b"caf\xe9.toml")
    Path(own).write_text(DECLARED)
    said = use("run", "--matrix", own, "-o", os.fsdecode(b"on\xe9"), "*/bad", status=1)
    assert "in on\\udce9" in said
    (command,) = Path(os.fsdecode(b"on\xe9")).rglob("command.txt")
    assert b"caf\xe9.toml" in command.read_bytes()
    assert "caf\\udce9.toml" in use("report", status=1)


@pytest.mark.parametrize("revision", ["a\x1b[31m", "a\nb", "", "x" * 201, "\udce9"])
def test_a_revision_is_one_line_of_text(use, revision):
    named = ("--revision", revision) if revision else ("--revision", "\n")
    with pytest.raises(UsageError, match="revision cannot be"):
        use("run", "-o", "one", *named)
    assert not list(Path("one").rglob("*.json"))


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
    assert versions.work_tree() is None
    assert versions.revision(None) == f"v{versions.__version__}"
    git("init", "-q")
    Path("a").write_text("1")
    git("add", "a")
    git("commit", "-q", "-m", "x")
    assert versions.work_tree() == tmp_path
    head = versions.revision(tmp_path)
    assert len(head) == 40
    seen = {head}
    for name, text in (("a", "2"), ("b", "new"), ("b", "newer")):
        Path(name).write_text(text)
        seen.add(versions.revision(tmp_path))
    assert len(seen) == 4
    assert all(one.startswith(head) for one in seen)
    assert versions.changed_files(tmp_path, "HEAD") == ["a", "b"]
    for wrong in ("nonsense", "--output=x"):
        with pytest.raises(UsageError, match=r"nonsense|no revision"):
            versions.changed_files(tmp_path, wrong)


def test_a_link_to_a_directory_and_another_repository_are_no_obstacle(tmp_path):
    git("init", "-q", str(tmp_path))
    (tmp_path / "a").write_text("1")
    git("-C", str(tmp_path), "add", "a")
    git("-C", str(tmp_path), "commit", "-q", "-m", "x")
    seen = {versions.revision(tmp_path)}
    (tmp_path / "link").symlink_to("/usr")
    seen.add(versions.revision(tmp_path))
    (tmp_path / "link").unlink()
    (tmp_path / "link").symlink_to("/etc")
    seen.add(versions.revision(tmp_path))
    git("init", "-q", str(tmp_path / "other"))
    (tmp_path / "other/b").write_text("2")
    seen.add(versions.revision(tmp_path))
    assert len(seen) == 4


@pytest.fixture
def port():
    """A port in a repository of its own, with a declaration; gives the revision."""
    shutil.copytree(resources.guests_directory() / "ports" / "mips", "mine/port")
    Path("mine/m.toml").write_text(f'port = "port"\n{DECLARED}')
    git("init", "-q", "mine")
    git("-C", "mine", "add", ".")
    git("-C", "mine", "commit", "-q", "-m", "x")
    return versions.revision(Path("mine").resolve())


@pytest.mark.parametrize("named", [("--port", "mine/port"), ("--matrix", "mine/m.toml")])
def test_what_is_tested_is_the_work_tree_of_the_port(use, port, named):
    """And the harness is not."""
    said = use("run", *named, "-o", "one", "--changed-since", "HEAD")
    assert f"0 of 0 cells to run, revision {port}, in one" in said
    with Path("mine/port/mcount.S").open("a") as stream:
        stream.write("/* changed */\n")
    said = use("run", *named, "-o", "two", "--changed-since", "HEAD", "*/good")
    assert f"1 of 1 cells to run, revision {port}+" in said
    # What the port did is in no report but its own.
    assert "1 of 1 cells passed" in use("report", *named)
    with pytest.raises(UsageError, match="is empty"):
        use("report")


def test_a_port_without_git_is_known_by_its_files(use, port):
    shutil.rmtree("mine/.git")
    revisions = set()
    for text in ("", "/* changed */\n"):
        with Path("mine/port/mcount.S").open("a") as stream:
            stream.write(text)
        said = use("run", "--port", "mine/port", "-o", f"run{len(revisions)}", "*/good")
        revisions.add(re.search(r"revision (port-[0-9a-f]{12}), in", said)[1])
    assert len(revisions) == 2
    with pytest.raises(UsageError, match="no git work tree"):
        use("run", "--port", "mine/port", "-o", "three", "--changed-since", "HEAD")


def test_the_command_that_repeats_a_cell_names_the_port(use, port):
    (first, _) = json.loads(use("list", "--port", "mine/port", "--json"))
    assert first["port"] == str(Path("mine/port").resolve())
    command = shlex.split(first["command"])
    assert command[command.index("--port") + 1] == first["port"]
    assert command[-1] == CELL.format("good")
    with pytest.raises(UsageError, match="not a port directory"):
        use("list", "--port", "mine")


@pytest.mark.parametrize("command", ["list", "run", "report"])
def test_a_port_that_is_a_loop_of_links_is_none(use, command):
    Path("loop").symlink_to("loop")
    with pytest.raises(UsageError):
        use(command, "--port", "./loop")
