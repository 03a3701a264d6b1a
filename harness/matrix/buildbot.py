# SPDX-License-Identifier: MIT
"""The matrix on Buildbot, for a ``master.cfg`` such as docs/ci/master.cfg.

Every cell is a builder.  A night is one build of the builder ``matrix`` on the master: it
determines the revision, triggers all cells at it, waits for them, and reports.  A cell's build runs
``harness matrix run`` on any worker, uploads the directory of the run to the master, and merges it
into the night's directory and the history.  If a worker is lost, Buildbot gives the cell to another
one, at most ``attempts`` times, in case the cell itself kills workers.  An attempt that was not
uploaded is not counted, one uploaded twice is counted once.

Only masters import this module: it needs the package's extra ``buildbot``.
"""

import json
import sys
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from buildbot.plugins import schedulers, steps, util, worker

from harness.errors import HostError, UsageError
from harness.matrix.rundir import new_id
from harness.process import NotRun, run

NIGHT = "matrix"
"""The builder of a whole night."""

HERE = "master"
"""The worker in the master, for nights."""

HARNESS = (sys.executable, "-P", "-c", "from harness.cli import main; main()")
"""The command of the master's own harness."""

LISTING = 60.0
"""Timeout in seconds of listing the matrix."""

KEEPALIVE = 60
"""Seconds between keepalive messages, to detect lost workers."""

TAKE = '"$@" && rm -rf -- "$0"'
"""Remove the uploaded directory after it was merged."""


def configuration(
    directory: str | Path,
    *,
    workers: Mapping[str, str],
    listen: str = "tcp:9989",
    web: str = "",
    hour: int = 2,
    minute: int = 0,
    repository: str = "",
    branch: str = "main",
    harness: Sequence[str] = ("harness",),
    matrix: str = "",
    attempts: int = 3,
) -> dict[str, Any]:
    """The ``BuildmasterConfig`` of a master in ``directory``.

    It will contain ``runs/`` with a directory for each night, ``history.sqlite``, ``report/`` with
    the last night's pages, ``report.md`` and ``junit.xml``.

    Args:
        directory: the master's, ``basedir`` in a master.cfg.
        workers: passwords by name.  A worker runs one cell at a time.
        listen: where workers connect, as an endpoint of Twisted.
        web: where the pages of Buildbot are served; nowhere unless given.  It needs the packages
            of Buildbot's web interface.
        hour: when a night begins, local time; ``minute`` likewise.
        repository: what Git clones, on the workers and on the master.  Without one, what is
            tested is the harness that is installed on the workers.
        branch: of the repository.
        harness: the command on the workers.  It runs in the clone, whose package it imports.
        matrix: a declaration, by a path that is the same on all machines.
        attempts: how many workers a cell may lose, or nearly lose, before the night goes on
            without it.

    Raises:
        UsageError: the matrix cannot be listed; HostError when that takes too long.
    """
    root = Path(directory).resolve()
    declared = ["--matrix", matrix] if matrix else []
    cells = cell_names(declared)
    # Merging and reading the history exclude each other.
    turn = util.MasterLock("history").access("exclusive")
    source = _source(repository, branch)
    config: dict[str, Any] = {
        "title": "Matrix",
        "protocols": {"pb": {"port": listen}},
        "buildbotNetUsageData": None,
        # Two requests for a cell belong to two runs.
        "collapseRequests": False,
        "workers": [worker.LocalWorker(HERE, max_builds=1)],
        "builders": [
            util.BuilderConfig(
                name=NIGHT,
                workernames=[HERE],
                factory=util.BuildFactory(_night(root, source, turn)),
            )
        ],
        "schedulers": [
            schedulers.Triggerable("cells", builderNames=cells),
            schedulers.Nightly(
                "nightly", builderNames=[NIGHT], branch=branch, hour=hour, minute=minute
            ),
            schedulers.ForceScheduler("force", builderNames=[NIGHT, *cells]),
        ],
    }
    for name, password in workers.items():
        config["workers"].append(
            worker.Worker(name, password, max_builds=1, keepalive_interval=KEEPALIVE)
        )
    for cell in cells:
        run = [*harness, "matrix", "run", *declared, "-j", "1", cell]
        config["builders"].append(
            util.BuilderConfig(
                name=cell,
                workernames=list(workers),
                # One clone on each worker, whatever the number of cells.
                workerbuilddir="cell",
                factory=util.BuildFactory(_cell(root, source, run, cell, turn, attempts)),
            )
        )
    if web:
        config["www"] = {"port": web}
    return config


def cell_names(declared: Iterable[str] = ()) -> list[str]:
    """The output of ``harness matrix list --json``; UsageError if it fails, HostError after a
    timeout.
    """
    try:
        done = run([*HARNESS, "matrix", "list", "--json", *declared], LISTING)
    except NotRun as error:
        raise HostError(f"the matrix cannot be listed: {error}") from error
    if done.returncode != 0:
        printed = done.stderr.decode(errors="replace").strip()
        raise UsageError(f"the matrix cannot be listed: {printed}")
    return [cell["name"] for cell in json.loads(done.stdout)]


def _source(repository: str, branch: str) -> list[Any]:
    if not repository:
        return []
    return [steps.Git(repourl=repository, branch=branch, mode="incremental", haltOnFailure=True)]


def _night(root: Path, source: Sequence[Any], turn: Any) -> list[Any]:
    report: list[Any] = ["matrix", "report", "--history", str(root / "history.sqlite")]
    if source:
        report += ["--tree", util.Interpolate("%(prop:builddir)s/build")]
    report += ["--html", str(root / "report"), "--markdown", str(root / "report.md")]
    report += [
        "--junit",
        str(root / "junit.xml"),
        "--run",
        util.Interpolate(f"{root}/runs/%(prop:run)s"),
    ]
    return [
        *source,
        steps.SetProperty(name="name", property="run", value=util.Transform(new_id)),
        steps.Trigger(
            name="cells",
            schedulerNames=["cells"],
            waitForFinish=True,
            updateSourceStamp=bool(source),
            set_properties={"run": util.Property("run")},
            # The report decides about the night, not a single failed cell.
            flunkOnFailure=False,
            warnOnFailure=True,
        ),
        steps.MasterShellCommand(
            [*HARNESS, *report], name="report", locks=[turn], alwaysRun=True, flunkOnFailure=True
        ),
    ]


@util.renderer  # type: ignore[untyped-decorator]
def _builds_of_request(properties: Any) -> Any:
    """The number of builds of this cell for this night, as a Deferred."""
    build = properties.getBuild()
    builds = build.master.data.get(("buildrequests", build.requests[0].id, "builds"))
    return builds.addCallback(len)


def _cell(
    root: Path, source: Sequence[Any], run: Sequence[str], cell: str, turn: Any, attempts: int
) -> list[Any]:
    safe = cell.replace("/", "~")
    sent = util.Interpolate(
        "%(kw:root)s/incoming/%(kw:cell)s-%(prop:buildnumber)s", root=str(root), cell=safe
    )
    # A forced build of a cell belongs to no night.
    whole = util.Interpolate(
        "%(kw:root)s/runs/%(kw:run)s",
        root=str(root),
        run=util.Property(
            "run", default=util.Interpolate("%(kw:cell)s-%(prop:buildnumber)s", cell=safe)
        ),
    )
    where = ["-o", "../run", "--history", "../run/history.sqlite"]
    if source:
        where += ["--revision", util.Property("got_revision")]
    merge = [*HARNESS, "matrix", "merge", "--history", str(root / "history.sqlite")]
    clone = util.Interpolate("%(prop:builddir)s/build")

    def is_tried(step: Any) -> bool:
        return bool(step.getProperty("attempt") <= attempts)

    return [
        steps.SetProperty(name="attempt", property="attempt", value=_builds_of_request),
        steps.Assert(
            util.Property("attempt") <= attempts,
            name=f"at most {attempts} attempts",
            haltOnFailure=True,
        ),
        *source,
        # Remove the results of an earlier build.
        steps.RemoveDirectory("run", name="clean", haltOnFailure=True),
        steps.ShellCommand(
            name="run",
            command=[*run, *where],
            env={"PYTHONPATH": clone} if source else {},
            decodeRC={0: util.SUCCESS, 1: util.FAILURE, 3: util.EXCEPTION},
            # The matrix has a limit of its own.
            timeout=None,
            flunkOnFailure=True,
        ),
        steps.DirectoryUpload(
            name="send",
            workersrc="../run",
            masterdest=sent,
            alwaysRun=True,
            doStepIf=is_tried,
            haltOnFailure=True,
        ),
        steps.MasterShellCommand(
            ["sh", "-c", TAKE, sent, *merge, "-o", whole, sent],
            name="merge",
            locks=[turn],
            alwaysRun=True,
            doStepIf=is_tried,
            flunkOnFailure=True,
        ),
    ]
