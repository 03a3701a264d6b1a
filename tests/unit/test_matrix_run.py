# SPDX-License-Identifier: MIT
"""Cells that are trivial commands: whatever one does, the others and their results are safe."""

import contextlib
import errno
import json
import os
import select
import signal
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from harness.errors import FormatError, GuestError, HostError, UsageError
from harness.matrix import __main__ as one_cell
from harness.matrix import child, rundir, runner
from harness.matrix.child import CellLimits, CellProcess
from harness.matrix.history import History
from harness.matrix.result import (
    FINDINGS,
    RESULT,
    CellOutcome,
    read_findings,
    read_result,
    write_json,
)
from harness.matrix.runner import Plan, run_cells
from harness.process import process_tree
from harness.units import MIB
from matrix_drafts import cells

GENEROUS = CellLimits(time=60.0, memory=512 * MIB)

SCRIPTS = {
    "good": (
        f'echo \'{{"verdicts": [{{"name": "answer", "verdict": "pass", "message": ""}}],'
        f' "instructions": 7}}\' > {FINDINGS}'
    ),
    "wrong": (
        f'echo \'{{"verdicts": [{{"name": "answer", "verdict": "fail", "message": "is 41"}}],'
        f' "instructions": 7}}\' > {FINDINGS}; exit 1'
    ),
    "host": "echo no qemu; exit 3",
    "hung": "sleep 1000",
    "hung_family": "setsid sleep 1000 & sleep 1000",
    "crash": "echo last words; kill -SEGV $$",
    "odd": "exit 77",
    "lies": f"echo nonsense > {FINDINGS}",
    "hungry": f"{sys.executable} -c 'x = bytearray(200 << 20); import time; time.sleep(1000)'",
    "greedy": f"{sys.executable} -c 'bytearray(100 << 30)'",
}


def command(file, directory):
    script = SCRIPTS[json.loads(file.read_text())["work"]]
    return ["sh", "-c", f'cd "{directory}" && {script}']


def plan(directory, revision="1111", limits=GENEROUS, jobs=4, **options):
    run = rundir.open_run(directory, revision)
    return Plan(directory, run, jobs, limits, command=command, **options)


@pytest.fixture(autouse=True)
def often(monkeypatch):
    monkeypatch.setattr(runner, "LOOK_EVERY", 0.02)


@pytest.fixture
def directory(tmp_path):
    path = tmp_path / "run"
    path.mkdir()
    return path


def test_each_ending_has_its_outcome(directory):
    done = {
        result.cell.rpartition("/")[2]: result
        for result in run_cells(
            cells("good", "wrong", "host", "crash", "odd", "lies"), plan(directory)
        )
    }
    assert {name: str(result.outcome) for name, result in done.items()} == {
        "good": "pass",
        "wrong": "fail",
        "host": "error",
        "crash": "crash",
        "odd": "crash",
        "lies": "crash",
    }
    assert (done["good"].instructions, done["wrong"].instructions) == (7, None)
    assert done["wrong"].message == "answer: is 41"
    assert done["host"].message == "no qemu"
    assert done["crash"].message == "killed by signal 11: last words"
    assert rundir.results(directory) == {result.cell: [result] for result in done.values()}


def test_a_hung_cell_ends_at_its_limit_with_all_it_started_and_holds_nobody_up(directory):
    limits = CellLimits(time=3.0, memory=GENEROUS.memory)
    told = []
    pids = set()

    def tell(progress):
        if progress.result is None and progress.cell.work == "hung_family":
            while len(pids) < 2:
                pids.update(pid for pid in process_tree(os.getpid())[1:] if comm(pid) == "sleep")
        told.append(progress)

    run_cells(
        cells("hung_family", "good", "wrong"), plan(directory, jobs=2, limits=limits, tell=tell)
    )
    over = [p.result for p in told if p.result]
    assert [str(result.outcome) for result in over] == ["pass", "fail", "timeout"]
    assert over[-1].message == "not over after 3 s"
    assert not [pid for pid in pids if comm(pid) == "sleep"]
    assert told[-1].done == told[-1].total == 3


def test_what_takes_long_begins_first(directory):
    every = [
        replace(one, kind=kind)
        for one, kind in zip(
            cells("good", "wrong", "odd"), ("workload", "conform", "mutants"), strict=True
        )
    ]
    begun = []
    run_cells(every, plan(directory, jobs=1, tell=lambda p: p.result or begun.append(p.cell.kind)))
    assert begun == ["mutants", "conform", "workload"]


def comm(pid):
    """The program of a process that has not ended; the dead have none."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text()
    except OSError:
        return ""
    name, _, rest = stat.partition("(")[2].rpartition(")")
    return "" if rest.split()[0] == "Z" else name


def test_a_cell_that_uses_too_much_memory_is_ended(directory):
    limits = CellLimits(time=60.0, memory=100 * MIB)
    done = run_cells(cells("hungry", "greedy"), plan(directory, limits=limits))
    outcomes = {result.cell.rpartition("/")[2]: result for result in done}
    assert outcomes["hungry"].outcome is CellOutcome.MEMORY
    assert outcomes["hungry"].peak > 100 * MIB
    # The kernel refuses what no look would have been in time for.
    assert outcomes["greedy"].outcome is CellOutcome.CRASH
    assert "MemoryError" in outcomes["greedy"].message


def test_finished_cells_are_not_run_again_and_failed_ones_when_asked_to(directory):
    every = cells("good", "wrong", "host")
    run_cells(every, plan(directory))
    done = rundir.results(directory)
    # The host's failure says nothing of the cell.
    assert rundir.unfinished(every, done) == every[2:]
    assert rundir.failed(every, done) == every[1:]
    run_cells(rundir.failed(every, done), plan(directory))
    assert sorted(len(attempts) for attempts in rundir.results(directory).values()) == [1, 2, 2]


def test_an_attempt_without_a_result_is_none(directory):
    (one,) = run_cells(cells("good"), plan(directory))
    (rundir.attempt_directory(directory, one.cell, one.id) / RESULT).unlink()
    assert rundir.unfinished(cells("good"), rundir.results(directory)) == cells("good")


def test_an_interrupted_run_leaves_results_of_what_was_over_and_no_process(directory):
    pids = []

    def tell(progress):
        if progress.result:
            pids.extend(process_tree(os.getpid())[1:])
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_cells(cells("hung", "good", "wrong"), plan(directory, jobs=2, tell=tell))
    assert pids
    assert not [pid for pid in pids if comm(pid)]
    assert len(rundir.results(directory)) == 1


def test_cells_end_when_the_run_is_killed(tmp_path):
    script = (
        "import sys, time; from pathlib import Path\n"
        "from harness.matrix.child import CellLimits, CellProcess\n"
        "c = CellProcess(['sleep', '1000'], Path(sys.argv[1]), CellLimits(100.0, 1 << 29))\n"
        "print(c.pid, flush=True); time.sleep(1000)"
    )
    arguments = [sys.executable, "-c", script, str(tmp_path / "log")]
    with subprocess.Popen(arguments, stdout=subprocess.PIPE, text=True) as process:
        pid = int(process.stdout.readline())
        descriptor = os.pidfd_open(pid)
        process.kill()
    try:
        # It becomes readable when the process has ended.
        assert select.select([descriptor], [], [], 60.0)[0]
    finally:
        with contextlib.suppress(ProcessLookupError):
            signal.pidfd_send_signal(descriptor, signal.SIGKILL)
        os.close(descriptor)


def test_a_full_disk_ends_the_run_and_loses_nothing(directory, monkeypatch):
    every = cells("good", "wrong")
    run_cells(every[:1], plan(directory))
    before = rundir.results(directory)
    real = os.fsync

    def full(descriptor):
        if b'"outcome"' in os.pread(descriptor, 4096, 0):  # it is a result
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        real(descriptor)

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(HostError, match="No space left"):
        run_cells(every[1:], plan(directory))
    monkeypatch.undo()
    assert rundir.results(directory) == before
    assert not list(directory.rglob(".*"))
    assert rundir.unfinished(every, rundir.results(directory)) == every[1:]


def test_a_log_that_grows_for_ever_ends_its_cell(tmp_path, monkeypatch):
    monkeypatch.setattr(child, "FILE_LIMIT", MIB)
    one = CellProcess(["sh", "-c", "exec yes"], tmp_path / "log", GENEROUS)
    try:
        os.waitid(os.P_PIDFD, one.process_fd, os.WEXITED | os.WNOWAIT)
        assert one.status == -signal.SIGXFSZ
    finally:
        one.close()
    assert (tmp_path / "log").stat().st_size <= MIB


def test_two_runs_in_one_directory_are_refused(directory):
    refused = pytest.raises(UsageError, match="another run uses")
    with rundir.claimed(directory), refused, rundir.claimed(directory):
        raise AssertionError("it was claimed twice")
    with rundir.claimed(directory):
        pass


def test_a_directory_is_of_one_revision(directory):
    first = rundir.open_run(directory, "1111")
    assert rundir.open_run(directory, "1111") == first
    with pytest.raises(UsageError, match="revision 1111, and this is 2222"):
        rundir.open_run(directory, "2222")


def test_what_a_cell_says_is_bounded_and_fit_to_print(tmp_path):
    said = {"name": "a\x1b[31m", "verdict": "fail", "message": "\ud800" + "x" * 10_000}
    (tmp_path / FINDINGS).write_text(json.dumps({"verdicts": [said], "instructions": None}))
    (one,) = read_findings(tmp_path).verdicts
    assert one.name == "a\\x1b[31m"
    assert one.message.startswith("\\ud800xxx")
    assert len(one.message) < 500


@pytest.mark.parametrize(
    "found",
    [
        {"verdicts": 5, "instructions": None},
        {"verdicts": [{"name": 5, "verdict": "pass"}], "instructions": None},
        {"verdicts": [{"name": "a", "verdict": "pass", "more": 1}], "instructions": None},
        {"verdicts": [{"name": "a", "verdict": "pass"}] * 2, "instructions": None},
        {"verdicts": [], "instructions": -1},
        {"verdicts": [], "instructions": 1 << 70},
        {"verdicts": [], "instructions": "7"},
        {"verdicts": []},
    ],
)
def test_findings_that_are_none(tmp_path, found):
    (tmp_path / FINDINGS).write_text(json.dumps(found))
    with pytest.raises(FormatError):
        read_findings(tmp_path)


@pytest.mark.parametrize(
    ("error", "status", "verdict"),
    [
        (UsageError("it does not\nbuild"), 1, "fail"),
        (GuestError("it does not\nbuild"), 1, "fail"),
        (HostError("it does not\nbuild"), 3, "error"),
    ],
)
def test_who_is_at_fault_decides_how_a_cell_ends(tmp_path, monkeypatch, error, status, verdict):
    def do(cell, directory):
        raise error

    monkeypatch.setattr(one_cell, "do_cell", do)
    (tmp_path / "cell.json").write_text(json.dumps(cells("good")[0].as_json()))
    assert one_cell.main(tmp_path / "cell.json", tmp_path) == status
    (found,) = read_findings(tmp_path).verdicts
    assert (found.name, found.verdict, found.message) == ("end", verdict, "it does not build")


@pytest.mark.parametrize(
    "content",
    ["", "[]", "{}", '{"format": 2}', '{"format": 1, "id": 5}', "[" * 100_000, '{"format": 1}'],
)
def test_a_damaged_file_is_said_to_be_one(directory, content):
    (one,) = run_cells(cells("good"), plan(directory))
    where = rundir.attempt_directory(directory, one.cell, one.id)
    (where / RESULT).write_text(content)
    with pytest.raises(FormatError):
        read_result(where)
    (directory / "run.json").write_text(content)
    with pytest.raises(FormatError):
        rundir.read_run(directory)


def content(directory):
    return {
        path.relative_to(directory).as_posix(): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file() and path.name not in ("run.json", "lock")
    }


def test_merging_shards_gives_the_whole_in_any_order_and_again(tmp_path):
    every = cells("good", "wrong", "crash", "odd")
    parts = [tmp_path / "a", tmp_path / "b"]
    for part, chosen in zip(parts, (every[:2], every[2:]), strict=True):
        part.mkdir()
        run_cells(chosen, plan(part))
    targets = [tmp_path / "ab", tmp_path / "ba", tmp_path / "nested"]
    rundir.merge(parts, targets[0])
    rundir.merge(parts[::-1], targets[1])
    rundir.merge(parts[:1], targets[2])
    rundir.merge([parts[1], targets[0]], targets[2])
    found = rundir.merge([*parts, targets[0]], targets[2])
    assert content(targets[0]) == content(targets[1]) == content(targets[2])
    assert content(targets[0]) == content(parts[0]) | content(parts[1])
    assert sorted(one.cell for one in found) == sorted(cell.name for cell in every)
    assert {one.run for one in found} == {rundir.read_run(targets[2]).id}


def test_a_cell_that_two_shards_have_run_keeps_both_attempts(tmp_path):
    parts = [tmp_path / "a", tmp_path / "b"]
    every = cells("good", "wrong", "odd")
    for part, chosen in zip(parts, (every[:2], every[1:]), strict=True):
        part.mkdir()
        run_cells(chosen, plan(part))
    found = rundir.merge(parts, tmp_path / "whole")
    assert len({one.id for one in found}) == len(found) == 4
    assert [one.outcome for one in found if one.cell == every[1].name] == [CellOutcome.FAIL] * 2
    with History(tmp_path / "history.sqlite") as history:
        assert history.add(found) == 4
        assert history.add(rundir.merge(parts[::-1], tmp_path / "whole")) == 0
        assert sorted(one.id for one in history.attempts()) == sorted(one.id for one in found)


def test_an_interrupted_merge_is_made_good(tmp_path, monkeypatch):
    source, target = tmp_path / "a", tmp_path / "b"
    source.mkdir()
    run_cells(cells("good", "wrong"), plan(source))

    def full(*arguments, **options):
        Path(arguments[1]).mkdir(parents=True)
        (Path(arguments[1]) / "half").touch()
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(rundir.shutil, "copytree", full)
    with pytest.raises(HostError, match="No space left"):
        rundir.merge([source], target)
    monkeypatch.undo()
    assert rundir.results(target) == {}
    rundir.merge([source], target)
    assert content(target) == content(source)


def test_what_does_not_go_together_is_not_merged(tmp_path):
    for name, revision in (("a", "1111"), ("b", "2222"), ("c", None)):
        (tmp_path / name).mkdir()
        if revision:
            rundir.open_run(tmp_path / name, revision)
    with pytest.raises(UsageError, match="revision"):
        rundir.merge([tmp_path / "a", tmp_path / "b"], tmp_path / "x")
    with pytest.raises(UsageError, match="holds no run"):
        rundir.merge([tmp_path / "c"], tmp_path / "y")


def test_a_file_is_whole_or_not_there(tmp_path):
    write_json(tmp_path / "x.json", {"a": 1})
    with pytest.raises(TypeError):
        write_json(tmp_path / "x.json", {"a": object()})
    assert json.loads((tmp_path / "x.json").read_text()) == {"a": 1}
    assert [path.name for path in tmp_path.iterdir()] == ["x.json"]


def test_attempts_of_one_moment_have_names_of_their_own():
    now = time.time()
    assert len({rundir.new_id() for _ in range(1000)}) == 1000
    assert rundir.new_id()[:4] == time.strftime("%Y", time.gmtime(now))


def test_a_cell_imports_nothing_from_where_it_is_started(tmp_path):
    """The directory of a run is a stranger's as often as not."""
    (tmp_path / "harness").mkdir()
    (tmp_path / "harness" / "__init__.py").write_text("raise SystemExit('the wrong one')")
    command = runner.cell_command(tmp_path / "missing.json", tmp_path)
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert done.returncode != 0
    assert "missing.json" in done.stdout + done.stderr
