# SPDX-License-Identifier: MIT
"""A program that runs to its end, with all that it starts, within a time."""

import os
import select
import shutil
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import IO, Any

from harness.process.pdeathsig import group_with_pdeathsig, program_with_pdeathsig

LINE_LIMIT = 1000  # characters
PATIENCE = 5.0  # seconds that killed processes may take to go

NOT_EXECUTABLE = 126  # what a shell ends with

# What ends this process by an exception.
_INTERRUPTIONS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class NotRun(Exception):
    """A program that is not there or cannot be started; the text says why."""


class Late(NotRun):
    """A program that did not end in time, and was ended."""


def run(
    command: Sequence[str],
    deadline: float,
    *,
    given: bytes | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run a program that answers at once, with ``given`` on its standard input.

    Raises:
        NotRun: there is no such program, it cannot be started, or
        Late: it did not end within ``deadline`` seconds.
    """
    # What a shell runs in the background has no standard input.
    guard = group_with_pdeathsig() if given is None else program_with_pdeathsig()
    stdin = subprocess.DEVNULL if given is None else subprocess.PIPE
    stderr = subprocess.PIPE
    with _group(guard, command, environment, stdin=stdin, stderr=stderr) as process:
        try:
            stdout, stderr_ = process.communicate(given, deadline)
        except subprocess.TimeoutExpired:
            raise _late(deadline) from None
    if process.returncode == NOT_EXECUTABLE:
        raise NotRun(stderr_.decode(errors="replace").rpartition(": ")[2].strip())
    return subprocess.CompletedProcess(list(command), process.returncode, stdout, stderr_)


def stream(
    command: Sequence[str],
    deadline: float,
    tell: Callable[[str], None],
    *,
    environment: Mapping[str, str] | None = None,
    pass_fds: Sequence[int] = (),
) -> int:
    """Run a program; each line of its output, of bounded length, goes to ``tell`` as it comes.

    Gives the exit status.  Errors as of `run`.
    """
    late = threading.Event()
    guard = group_with_pdeathsig()
    with _group(guard, command, environment, text=True, pass_fds=pass_fds) as process:

        def end_late() -> None:
            late.set()
            _kill(process)

        timer = threading.Timer(deadline, end_late)
        timer.daemon = True
        timer.start()
        assert process.stdout is not None
        try:
            while line := process.stdout.readline(LINE_LIMIT):
                tell(line.rstrip("\n"))
            os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
        finally:
            timer.cancel()
            timer.join()
            _kill(process)
            status = process.wait()
            _hear_out(process.stdout)
    if late.is_set():
        raise _late(deadline)
    return status


@contextmanager
def _group(
    guard: Sequence[str],
    command: Sequence[str],
    environment: Mapping[str, str] | None,
    *,
    stdin: int = subprocess.DEVNULL,
    stderr: int = subprocess.STDOUT,
    text: bool = False,
    pass_fds: Sequence[int] = (),
) -> Iterator["subprocess.Popen[Any]"]:
    """A process group that ends with the block.

    An exception between its start and the block would leave it there until we end: the signals
    that raise one wait so long.  They stay blocked in the group, which SIGKILL ends.
    """
    path = None if environment is None else environment.get("PATH")
    if shutil.which(command[0], path=path) is None:
        raise NotRun(f"{command[0]} is not installed")
    waiting = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTIONS)
    try:
        try:
            process = subprocess.Popen(
                # By the name that it was asked for: gcc -v tells the path otherwise.
                [*guard, *command],
                stdin=stdin,
                stdout=subprocess.PIPE,
                stderr=stderr,
                text=text,
                errors="replace" if text else None,
                env=environment,
                start_new_session=True,
                pass_fds=tuple(pass_fds),
            )
        except OSError as error:
            raise NotRun(error.strerror) from error
        with process:
            try:
                signal.pthread_sigmask(signal.SIG_SETMASK, waiting)
                yield process
            finally:
                _kill(process)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, waiting)


def _kill(process: "subprocess.Popen[Any]") -> None:
    # Once reaped, the number may be somebody else's.
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)


def _hear_out(output: IO[str]) -> None:
    """Wait until the last writer of an output is gone.

    A compiler may outlive make by a moment and write a file into a directory that is being removed.
    """
    poll = select.poll()
    poll.register(output, select.POLLIN)
    end = time.monotonic() + PATIENCE
    while poll.poll(max(0.0, end - time.monotonic()) * 1000):
        if not os.read(output.fileno(), LINE_LIMIT):
            return


def _late(deadline: float) -> Late:
    return Late(f"it did not end within {deadline:g} seconds")
