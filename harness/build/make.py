# SPDX-License-Identifier: MIT
"""One run of make: bounded in time and output, and what to say when it fails."""

import os
import re
import select
import signal
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import IO

from harness.errors import HostError
from harness.units import escape

Progress = Callable[[str], None]

DEADLINE = 600.0  # seconds; a guest takes some ten
LINE_LIMIT = 1000  # characters
PATIENCE = 5.0  # seconds that what make started may take to die

# What the result depends on is in the key; a variable that gcc or make reads is not.
_ENVIRONMENT = ("PATH", "HOME", "TMPDIR")

# What ends this process by an exception; the end of make is SIGKILL, which nobody puts off.
_INTERRUPTIONS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}

_COMPLAINT = re.compile(
    r"error:|Error:|undefined reference|multiple definition|No space left|recordmcount|"
    r"overflowed|cannot (?:find|represent)|relocation truncated|^(?!make).*\*\*\* "
)


@dataclass(frozen=True, slots=True)
class MakeResult:
    """The exit status and the lines worth showing: the first complaints, else the last lines."""

    status: int
    complaints: list[str]


def run_make(command: Sequence[str], progress: Progress, deadline: float = DEADLINE) -> MakeResult:
    """Run make to its end; HostError when it cannot run or misses the deadline (seconds).

    Each line of output goes, escaped and bounded, to ``progress``.  Make and everything that it
    started end with this call, however it ends.
    """
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    late = threading.Event()
    first: list[str] = []
    last: deque[str] = deque(maxlen=10)
    # An exception between the start of make and the block that ends it would leave make behind.
    waiting = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTIONS)
    try:
        process = _start(command, {**environment, "LC_ALL": "C"})

        def end_late() -> None:
            late.set()
            _kill(process)

        timer = threading.Timer(deadline, end_late)
        timer.daemon = True
        assert process.stdout is not None
        try:
            signal.pthread_sigmask(signal.SIG_SETMASK, waiting)
            timer.start()
            while line := process.stdout.readline(LINE_LIMIT):
                shown = escape(line.rstrip("\n"))
                progress(shown)
                last.append(shown)
                if len(first) < 10 and _COMPLAINT.search(shown):
                    first.append(shown)
            status = process.wait()
        finally:
            timer.cancel()
            _kill(process)
            process.wait()
            _hear_out(process.stdout)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, waiting)
    if late.is_set():
        raise HostError(
            f"The build did not end within {deadline:.0f} seconds.",
            "Look for a compiler that hangs, then try again.",
        )
    return MakeResult(status, first or list(last))


def _start(command: Sequence[str], environment: dict[str, str]) -> "subprocess.Popen[str]":
    try:
        return subprocess.Popen(
            command,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            env=environment,
            start_new_session=True,
        )
    except OSError as error:
        raise HostError(
            f"{command[0]} cannot be run: {error.strerror}.",
            "Install the Debian package make, or run harness doctor.",
        ) from error


def _kill(process: "subprocess.Popen[str]") -> None:
    # Once reaped, the number may be somebody else's.
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)


def _hear_out(output: IO[str]) -> None:
    """Close make's output when its last writer is gone.

    A compiler may outlive make by a moment and write a file into a directory that is being removed.
    """
    poll = select.poll()
    poll.register(output, select.POLLIN)
    end = time.monotonic() + PATIENCE
    with output:
        while poll.poll(max(0.0, end - time.monotonic()) * 1000):
            if not os.read(output.fileno(), LINE_LIMIT):
                return
