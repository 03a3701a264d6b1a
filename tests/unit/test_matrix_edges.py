# SPDX-License-Identifier: MIT
"""A whole ``harness matrix run`` that is killed, or whose disk is full: nothing lost or doubled."""

import os
import select
import shutil
import signal
import subprocess
import sys

import pytest

from harness.matrix.history import History
from harness.matrix.rundir import results
from harness.process import find_program, process_tree
from matrix_drafts import AXES

DECLARED = f'configs = ["mips-malta"]\nmodes = ["dynamic"]\n{AXES}'
WORKS = 6
# A cell waits while there is a file "wait", but for the first; each leaves some kilobytes.
CELL = """
import json, sys, time
from pathlib import Path
work = json.loads(Path(sys.argv[1]).read_text())["work"]
while work != "w0" and Path("wait").exists():
    time.sleep(0.05)
Path(sys.argv[2], "trace.dat").write_bytes(bytes(20_000))
found = [{"name": "answer", "verdict": "pass", "message": ""}]
text = json.dumps({"verdicts": found, "instructions": 7})
Path(sys.argv[2], "findings.json").write_text(text)
"""
MAIN = """
import sys
from harness.cli import main
from harness.matrix import runner
runner.cell_command = lambda file, where: [sys.executable, "cell.py", str(file), str(where)]
main()
"""
RUN = [
    *(sys.executable, "-c", MAIN, "matrix", "run", "--matrix", "m.toml", "--revision", "1111"),
    *("-o", "run", "--history", "history.sqlite"),
]


@pytest.fixture
def place(tmp_path):
    prepare(tmp_path)
    return tmp_path


def prepare(directory):
    works = "".join(f'w{n} = {{ kind = "workload", workload = "calls" }}\n' for n in range(WORKS))
    (directory / "m.toml").write_text(DECLARED + works)
    (directory / "cell.py").write_text(CELL)


def all_there(directory):
    """Every cell passed once, and the history has just what the directory has."""
    done = results(directory / "run")
    assert [len(attempts) for attempts in done.values()] == [1] * WORKS
    with History(directory / "history.sqlite") as history:
        kept = history.attempts()
    assert sorted(one.id for one in kept) == sorted(r.id for a in done.values() for r in a)
    assert {str(one.outcome) for one in kept} == {"pass"}


def test_a_killed_run_goes_on_where_it_was(place):
    (place / "wait").touch()
    with subprocess.Popen(
        [*RUN, "-j", "2"], cwd=place, stdout=subprocess.PIPE, text=True
    ) as process:
        for line in process.stdout:
            if line.startswith(f"[1/{WORKS}] pass"):
                break
        started = [os.pidfd_open(pid) for pid in process_tree(process.pid)[1:]]
        process.send_signal(signal.SIGKILL)
    for descriptor in started:
        # Cells do not outlive the run: their descriptors become readable.
        assert select.select([descriptor], [], [], 60.0)[0]
        os.close(descriptor)
    (place / "wait").unlink()
    again = subprocess.run([*RUN, "-j", "2"], cwd=place, capture_output=True, text=True, check=True)
    assert f"{WORKS - 1} of {WORKS} cells to run" in again.stdout
    all_there(place)


INSIDE = """
mount -t tmpfs -o size=400k none "$0" || exit 99
cp -r m.toml cell.py "$0" && cd "$0" || exit 99
{ head -c 330k /dev/zero > filler; } 2>/dev/null
"$@"; echo "status $?"
rm filler
"$@"; echo "status $?"
cp -r run history.sqlite "$OLDPWD"
"""


def test_a_disk_that_fills_up_loses_nothing_and_counts_nothing_twice(place):
    """A real one: a file system of 400 KiB, in a name space of its own."""
    if shutil.which("unshare") is None:
        pytest.skip("unshare (util-linux) is not installed")
    disk = place / "disk"
    disk.mkdir()
    unshare = [find_program("unshare", "util-linux"), "--map-root-user", "--mount"]
    if subprocess.run([*unshare, "true"], check=False).returncode != 0:
        pytest.skip("this host gives no name spaces to its users")
    done = subprocess.run(
        [*unshare, "sh", "-c", INSIDE, str(disk), *RUN, "-j", "1"],
        cwd=place,
        capture_output=True,
        text=True,
        check=False,
    )
    said = done.stdout + done.stderr
    assert done.returncode == 0, said
    first, second = (int(line.split()[1]) for line in said.splitlines() if "status " in line)
    assert (first, second) == (3, 0), said
    assert "No space left" in said
    # It filled up in the middle.
    assert f"[1/{WORKS}] pass" in said
    all_there(place)
