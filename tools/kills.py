#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Kill commands of the harness and their processes, and count what is left behind.

    .venv/bin/python tools/kills.py --seed 1 --kills 1000

Each kill is a SIGKILL to a command or to one of its processes, either at a random moment or at the
start of the n-th process.  Afterwards no process may run, every file must be complete or absent,
and no lock may be held.  After every tenth kill the command is run to its end and must succeed;
after the last one all commands are, and no temporary files may be left.  Otherwise the exit status
is 1.
"""

import argparse
import ctypes
import fcntl
import hashlib
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time
from collections import Counter
from contextlib import closing, suppress
from pathlib import Path

from harness.errors import HarnessError
from harness.files import trace_file
from harness.process import processes_with, with_pdeathsig
from harness_command import HARNESS

PR_SET_CHILD_SUBREAPER = 36
CELL = "mips-malta/dynamic/gcc-O2-auto/calls"
SCRIPT = "info registers\nstepi 2000\nbacktrace\n"

VICTIMS = {
    "record": ("harness", "harness", "gdb", "qemu"),
    "build": ("harness", "harness", "make", "cc1"),
    "conform": ("harness", "harness", "python", "gdb", "qemu", "make"),
    "matrix": ("harness", "harness", "python", "gdb", "qemu"),
    "shell": ("harness", "harness", "gdb", "qemu"),
}
"""The victims of each command; the command itself is chosen more often."""

GOING = 15.0
"""Timeout in seconds for the end of killed processes."""

HUNG = 120.0
"""Timeout in seconds for a command after one of its processes was killed."""

INTERVAL = 0.01
"""Seconds between two looks at what runs, each of which reads the environment of every process."""

DRAWN = 0.02
"""Maximum seconds between the start of a process and its kill."""


class Kills:
    """The commands, in their own directory, and the counters."""

    def __init__(self, base: Path, seed: int) -> None:
        self.base = base
        self.random = random.Random(seed)
        self.done: Counter[str] = Counter()
        self.found: Counter[str] = Counter()
        self.unique = 0
        self.usual: dict[str, tuple[float, int]] = {}
        for name in ("tmp", "cache", "state", "out"):
            (base / name).mkdir()
        (base / "script").write_text(SCRIPT)
        # The mark of what we start: one of the few variables that make is given.
        self.mark = f"TMPDIR={base / 'tmp'}"
        self.environment = {
            **os.environ,
            "TMPDIR": str(base / "tmp"),
            "XDG_CACHE_HOME": str(base / "cache"),
            "XDG_STATE_HOME": str(base / "state"),
        }
        self.environment.pop("XDG_RUNTIME_DIR", None)

    def command(self, name: str) -> list[str]:
        """The command line; a build is one that no cache has."""
        out = self.base / "out"
        self.unique += 1
        return {
            "record": ["record", "-c", "mips-malta", "-o", str(out / "trace.dat")],
            "build": ["build", "mips-malta", f"--cflags=-DKILL={self.unique}"],
            "conform": [
                *("conform", "-c", "mips-malta", "--clause", "C2a"),
                *("--json", str(out / "conform.json")),
            ],
            "matrix": [
                # A killed cell has a result, so each run to the end has a directory of its own.
                *("matrix", "run", CELL, "-o", str(out / f"run{self.done['runs to the end']}")),
                *("--history", str(out / "history.sqlite"), "--revision", "kills"),
            ],
            "shell": ["shell", "-c", "mips-malta", "-x", str(self.base / "script")],
        }[name]

    def start(self, name: str) -> "subprocess.Popen[bytes]":
        """Start a command; what it prints is in the file ``log``."""
        with (self.base / "log").open("wb") as log:
            return subprocess.Popen(
                [*with_pdeathsig(), *HARNESS, *self.command(name)],
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                env=self.environment,
                cwd=self.base,
                start_new_session=True,
            )

    def alive(self) -> list[int]:
        """The running processes of all commands started here."""
        return processes_with(self.mark)

    def run(self, name: str) -> None:
        """Run a command to its end, and remember how long that takes and what it starts."""
        self.done["runs to the end"] += 1
        began = time.monotonic()
        process = self.start(name)
        seen: set[int] = set()
        while process.poll() is None and time.monotonic() - began < HUNG:
            seen.update(self.alive())
            time.sleep(INTERVAL)
        took = time.monotonic() - began
        self.usual.setdefault(name, (took, len(seen)))
        if process.poll() != 0:
            self.complain("next runs that failed", f"{name}: {process.poll()}\n{self.log()}")
        self.gone(process)

    def kill(self, name: str) -> None:
        """Kill something of a command, and look at what is there afterwards."""
        victim = self.random.choice(VICTIMS[name])
        aimed = self.random.random() < 0.5
        took, born = self.usual[name]
        moment = self.random.uniform(0, took)
        order = self.random.randint(1, born)
        process = self.start(name)
        began = time.monotonic()
        seen: set[int] = set()
        while process.poll() is None:
            if aimed:
                seen.update(self.alive())
            if len(seen) >= order if aimed else time.monotonic() - began >= moment:
                break
            time.sleep(INTERVAL)
        time.sleep(self.random.uniform(0, DRAWN) if aimed else 0)
        killed = "nothing"
        while process.poll() is None and killed == "nothing":
            if victim == "harness":
                process.kill()
                killed = victim
                break
            for pid in self.alive():
                with suppress(OSError):
                    comm = Path(f"/proc/{pid}/comm").read_text()
                    if pid != process.pid and comm.startswith(victim):
                        os.kill(pid, signal.SIGKILL)
                        killed = victim
                        break
            time.sleep(INTERVAL)
        if killed == "nothing":
            # It had ended before: no kill.
            self.done["too late"] += 1
        else:
            self.done["kills"] += 1
            self.done[f"{name}: {killed}"] += 1
        with suppress(subprocess.TimeoutExpired):
            process.wait(HUNG)
        if process.poll() is None:
            self.complain("commands that hang", f"{name}, {victim} killed\n{self.log()}")
        if b"Traceback" in self.log().encode() or "fault of the harness" in self.log():
            self.complain("faults of the harness", f"{name}, {victim} killed\n{self.log()}")
        self.gone(process)

    def gone(self, process: "subprocess.Popen[bytes]") -> None:
        """Wait until nothing runs, and look at every file and lock."""
        end = time.monotonic() + GOING
        while (left := self.alive()) and time.monotonic() < end:
            self.reap(process)
            time.sleep(0.01)
        for pid in left:
            with suppress(OSError):
                line = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ").decode()
                self.complain("processes left", f"{pid}: {line}")
                os.kill(pid, signal.SIGKILL)
        self.reap(process)
        self.look_at_files()
        self.look_at_locks()

    def reap(self, process: "subprocess.Popen[bytes]") -> None:
        """Take leave of those that have become ours by the end of their parents."""
        process.poll()
        with suppress(ChildProcessError):
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass

    def look_at_files(self) -> None:
        """Whatever has its name is whole."""
        out = self.base / "out"
        if (out / "trace.dat").exists():
            try:
                with trace_file(out / "trace.dat") as reader:
                    for _ in reader.events():
                        pass
            except HarnessError as error:
                self.complain("files damaged", str(error))
        for path in (*out.glob("conform.json"), *out.rglob("run*/**/*.json")):
            with path.open("rb") as stream:
                try:
                    json.load(stream)
                except ValueError as error:
                    self.complain("files damaged", f"{path}: {error}")
        if (out / "history.sqlite").exists():
            with closing(sqlite3.connect(out / "history.sqlite")) as history:
                if history.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
                    self.complain("files damaged", "history.sqlite")
        for digests in (self.base / "cache").rglob("*.sha256"):
            if digests.parent.name == "publish":
                continue
            for line in digests.read_text().splitlines():
                digest, name = line.split("  ")
                if hashlib.sha256((digests.parent / name).read_bytes()).hexdigest() != digest:
                    self.complain("files damaged", str(digests.parent / name))

    def look_at_locks(self) -> None:
        """Nobody holds one any more."""
        for path in self.base.rglob("*"):
            if path.suffix in (".lock", ".part") or path.name == "lock":
                with suppress(FileNotFoundError), path.open("rb") as lock:
                    try:
                        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                    except BlockingIOError:
                        self.complain("locks held", str(path))

    def look_at_remains(self) -> None:
        """What the next command should have swept."""
        for path in self.base.rglob("*"):
            if path.suffix in (".build", ".part") or path.name.startswith("harness-"):
                self.complain("remains after the next run", str(path))
        caches = (
            self.base / "cache/ftrace-harness/guests",
            self.base / "cache/ftrace-harness/kernels",
        )
        for cache in caches:
            for lock in cache.glob("*.lock"):
                if not lock.with_suffix("").exists():
                    self.complain("remains after the next run", str(lock))

    def log(self) -> str:
        """What the last command printed."""
        return (self.base / "log").read_text(errors="replace")[-2000:]

    def complain(self, what: str, detail: str) -> None:
        """Count it and say it."""
        self.found[what] += 1
        print(f"{what}: {detail}", flush=True)


def main() -> int:
    """Kill as often as asked for."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--kills", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=float("inf"), help="end after these")
    parser.add_argument("--only", choices=VICTIMS, action="append", help="this command; repeat")
    arguments = parser.parse_args()
    # What loses its parent becomes ours, so that it can be reaped.
    ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0)
    names = arguments.only or list(VICTIMS)
    began = time.monotonic()
    with tempfile.TemporaryDirectory() as directory:
        kills = Kills(Path(directory).resolve(), arguments.seed)
        for name in names:
            kills.run(name)
            # The first one has built what the next ones find.
            del kills.usual[name]
            kills.run(name)
        while kills.done["kills"] < arguments.kills:
            if time.monotonic() - began > arguments.minutes * 60:
                break
            name = kills.random.choice(names)
            before = kills.done["kills"]
            kills.kill(name)
            if kills.done["kills"] > before and kills.done["kills"] % 10 == 0:
                kills.run(name)
                print(f"{kills.done['kills']} kills, {dict(kills.found)}", flush=True)
        for name in names:
            kills.run(name)
        kills.look_at_remains()
    print(f"seed {arguments.seed}, {time.monotonic() - began:.0f} s")
    for what, number in sorted(kills.done.items()):
        print(f"{number:6} {what}")
    for what in (
        "processes left",
        "files damaged",
        "locks held",
        "next runs that failed",
        "commands that hang",
        "faults of the harness",
        "remains after the next run",
    ):
        print(f"{kills.found[what]:6} {what}")
    return 1 if kills.found else 0


if __name__ == "__main__":
    sys.exit(main())
