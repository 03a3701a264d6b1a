# SPDX-License-Identifier: MIT
"""A real Buildbot master and two real workers on the loopback interface run a small matrix."""

import json
import os
import re
import select
import sys
import time
from contextlib import ExitStack
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from harness.matrix.child import CellLimits, CellProcess
from harness.matrix.history import History
from harness.matrix.rundir import read_run, results
from harness.process.tree import process_tree
from harness.units import MIB
from matrix_drafts import AXES

pytest.importorskip("buildbot", reason="the extra buildbot is not installed")

MATRIX = f"""
configs = ["mips-malta", "aarch64-virt-patchable"]
modes = ["dynamic"]
{AXES}calls = {{ kind = "workload", workload = "calls" }}
wrong = {{ kind = "workload", workload = "wrong.c" }}
"""
WRONG = """
static int __attribute__((noipa)) one(void) { return 2; }
int workload(void) { return one() == 1 ? 0 : 41; }
"""
CELLS = {
    f"{config}/dynamic/gcc-O2-auto/{work}": verdict
    for config in ("mips-malta", "aarch64-virt-patchable")
    for work, verdict in (("calls", "pass"), ("wrong", "fail"))
}
MASTER = """
import sys
from harness.matrix.buildbot import configuration
BuildmasterConfig = configuration(
    basedir,
    workers={"one": "1", "two": "2"},
    listen="tcp:0:interface=127.0.0.1",
    web="tcp:0:interface=127.0.0.1",
    harness=(sys.executable, "-c", "from harness.cli import main; main()"),
    matrix=%r,
    attempts=%d,
)
"""
TWISTD = "from twisted.scripts.twistd import run; run()"
LIMITS = CellLimits(time=600.0, memory=4096 * MIB)
DEADLINE = 240.0
"""Seconds that the slowest step, a build of a guest on a busy machine, may take."""


class Log:
    """The output of a process: one end of a named pipe."""

    def __init__(self, path):
        os.mkfifo(path)
        # The writer opens it without waiting, because a reader is there.
        self.descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK)
        self.text = ""
        self.at = 0

    def until(self, pattern):
        """Read up to a line that matches, and return the match."""
        end = time.monotonic() + DEADLINE
        while True:
            for line in self.text[self.at :].splitlines(keepends=True):
                if not line.endswith("\n"):
                    break
                self.at += len(line)
                found = re.search(pattern, line)
                if found:
                    return found
            ready = select.select([self.descriptor], [], [], max(0.0, end - time.monotonic()))[0]
            assert ready, f"no {pattern!r} in:\n{self.text[-5000:]}"
            piece = os.read(self.descriptor, 1 << 16)
            assert piece, f"it ended before {pattern!r}:\n{self.text[-5000:]}"
            self.text += piece.decode(errors="replace")


class Site:
    """A master with the small matrix, and workers that come and go."""

    def __init__(self, directory, stack, attempts):
        self.directory = directory
        self.stack = stack
        self.master = directory / "master"
        self.workers = {}
        (directory / "matrix.toml").write_text(MATRIX)
        (directory / "wrong.c").write_text(WRONG)
        self.tool("buildbot", "create-master", "-q", "-r", "-n", self.master)
        (self.master / "master.cfg").write_text(MASTER % (str(directory / "matrix.toml"), attempts))
        self.process, self.log = self.twistd(self.master)
        self.web = self.log.until(r"BuildbotSite starting on (\d+)")[1]
        self.port = self.log.until(r"PBServerFactory starting on (\d+)")[1]
        self.log.until("BuildMaster is running")

    def tool(self, name, *arguments):
        module = {"buildbot": "buildbot.scripts", "buildbot-worker": "buildbot_worker.scripts"}
        script = f"from {module[name]}.runner import run; run()"
        command = [sys.executable, "-c", script, *map(str, arguments)]
        child = CellProcess(command, self.directory / "tool.log", LIMITS)
        try:
            assert select.select([child.process_fd], [], [], DEADLINE)[0]
            assert child.status == 0, (self.directory / "tool.log").read_text()
        finally:
            child.close()

    def twistd(self, directory):
        log = Log(directory / "log")
        command = [sys.executable, "-c", TWISTD, "--nodaemon", "--logfile=-", "--pidfile="]
        child = CellProcess(
            [*command, f"--rundir={directory}", f"--python={directory}/buildbot.tac"],
            directory / "log",
            LIMITS,
        )
        self.stack.callback(os.close, log.descriptor)
        self.stack.callback(child.close)
        return child, log

    def attach(self, name, password):
        """Start a worker, and wait until the master knows it."""
        directory = self.directory / name
        where = f"127.0.0.1:{self.port}"
        self.tool("buildbot-worker", "create-worker", "-q", "-n", directory, where, name, password)
        self.workers[name], _ = self.twistd(directory)
        self.log.until(f"Worker {name} attached to ")

    def ask(self, path, data=None):
        """Ask the web interface of Buildbot."""
        request = Request(
            f"http://127.0.0.1:{self.web}/api/v2/{path}",
            data and json.dumps(data).encode(),
            {"Content-Type": "application/json"},
        )
        with urlopen(request, timeout=DEADLINE) as answer:
            return json.load(answer)

    def force(self, builder):
        """Start a build by the button."""
        found = [b for b in self.ask("builders")["builders"] if b["name"] == builder]
        call = {"builderid": found[0]["builderid"], "owner": "test"}
        data = {"jsonrpc": "2.0", "method": "force", "params": call, "id": 1}
        assert "error" not in self.ask("forceschedulers/force", data)

    def night(self):
        """All attempts in the only run directory, by cell."""
        (run,) = (self.master / "runs").iterdir()
        return run, results(run)


@pytest.fixture
def site(tmp_path, request):
    """A master; the parameter is the number of workers of a cell, two by default."""
    with ExitStack() as stack:
        before = set(process_tree(os.getpid()))
        yield Site(tmp_path, stack, getattr(request, "param", 2))
    assert set(process_tree(os.getpid())) <= before


def judged(site):
    """Every cell has one verdict, in the run directory and in the history."""
    run, done = site.night()
    assert {name: [str(r.outcome) for r in attempts] for name, attempts in done.items()} == {
        name: [verdict] for name, verdict in CELLS.items()
    }
    with History(site.master / "history.sqlite") as history:
        kept = history.attempts()
        (kept_run,) = history.runs()
    assert kept_run.id == read_run(run).id
    assert {one.id for one in kept} == {r.id for attempts in done.values() for r in attempts}
    for name, (one,) in done.items():
        where = run / "cells" / name / one.id
        assert {"answer", "events"} == {verdict.name for verdict in one.verdicts}
        assert (where / "trace.dat").stat().st_size > 0
        assert "workload" in (where / "log.txt").read_text()
    assert not list((site.master / "incoming").iterdir())
    assert "the workload returned 41" in (site.master / "report.md").read_text()


def test_a_night_on_two_workers_comes_back_to_the_master(site):
    site.attach("one", "1")
    site.attach("two", "2")
    site.force("matrix")
    site.log.until(r"<Build matrix number:1 results:failure>: build finished")
    judged(site)
    builders = {b["builderid"]: b["name"] for b in site.ask("builders")["builders"]}
    builds = [b for b in site.ask("builds")["builds"] if builders[b["builderid"]] in CELLS]
    assert len(builds) == len(CELLS)
    assert len({b["workerid"] for b in builds}) == 2


def test_what_a_vanished_worker_did_is_done_by_another_once(site):
    site.attach("one", "1")
    site.force("matrix")
    # The cell runs now, and with it the worker and all it has started are gone.
    site.log.until("step 'clean' complete: success")
    site.workers["one"].close()
    site.log.until(r"<Build \S+/\S+ number:1 results:retry>: build finished")
    site.attach("two", "2")
    site.log.until(r"<Build matrix number:1 results:failure>: build finished")
    judged(site)


@pytest.mark.parametrize("site", [1], indirect=True, ids=["one-attempt"])
def test_a_cell_that_takes_its_workers_down_is_given_up(site):
    site.attach("one", "1")
    site.force("matrix")
    site.log.until("step 'clean' complete: success")
    site.workers["one"].close()
    cell = site.log.until(r"<Build (\S+/\S+) number:1 results:retry>: build finished")[1]
    site.attach("two", "2")
    site.log.until(rf"<Build {re.escape(cell)} number:2 results:failure>: build finished")
    site.log.until(r"<Build matrix number:1 results:\w+>: build finished")
    assert set(site.night()[1]) == set(CELLS) - {cell}


def test_a_wrong_password_is_refused(site):
    directory = site.directory / "one"
    where = f"127.0.0.1:{site.port}"
    site.tool("buildbot-worker", "create-worker", "-q", "-n", directory, where, "one", "wrong")
    site.twistd(directory)
    site.log.until("invalid login from user '?one'?")


def test_the_file_that_is_ready_makes_a_builder_of_every_cell(tmp_path):
    from buildbot.config.master import FileLoader

    from harness.matrix import expand, load_matrix

    (tmp_path / "passwords").write_text("one secret\ntwo secret2\n")
    ready = Path(__file__).parents[2] / "docs" / "ci" / "master.cfg"
    (tmp_path / "master.cfg").write_text(ready.read_text())
    config = FileLoader(str(tmp_path), "master.cfg").loadConfig()
    cells = [cell.name for cell in expand(load_matrix()).cells]
    assert [builder.name for builder in config.builders] == ["matrix", *cells]
    assert sorted(config.schedulers) == ["cells", "force", "nightly"]
    assert [one.name for one in config.workers] == ["master", "one", "two"]
    assert config.www["port"] is None
    assert config.buildbotNetUsageData is None
