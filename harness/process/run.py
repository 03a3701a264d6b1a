# SPDX-License-Identifier: MIT
"""Run a program to its end, with a timeout, together with all processes that it starts."""

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
TIMEOUT = 5.0  # seconds that killed processes may take to end

NOT_EXECUTABLE = 126  # exit status of a shell

# Signals that raise an exception in this process.
_INTERRUPTIONS = {signal.SIGINT, signal.SIGTERM, signal.SIGHUP}


class NotRun(Exception):
    """A program that is missing or cannot be started; the text says why."""


class TimedOut(NotRun):
    """A program that was killed after a timeout."""


def run(
    command: Sequence[str],
    deadline: float,
    *,
    given: bytes | None = None,
    environment: Mapping[str, str] | None = None,
) -> subprocess.CompletedProcess[bytes]:
    """Run a program with ``given`` on its standard input.

    Raises:
        NotRun: the program is missing or cannot be started.
        TimedOut: it did not end within ``deadline`` seconds.
    """
    # A background process of a shell has no standard input.
    guard = group_with_pdeathsig() if given is None else program_with_pdeathsig()
    stdin = subprocess.DEVNULL if given is None else subprocess.PIPE
    stderr = subprocess.PIPE
    with _group(guard, command, environment, stdin=stdin, stderr=stderr) as process:
        try:
            stdout, stderr_ = process.communicate(given, deadline)
        except subprocess.TimeoutExpired:
            raise _timed_out(deadline) from None
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
    """Run a program and call ``tell`` with each line of its output, cut to a limited length.

    Returns the exit status.  Errors as of `run`.
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
            _wait_eof(process.stdout)
    if late.is_set():
        raise _timed_out(deadline)
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
    """A process group that is killed at the end of the block.

    Signals that raise exceptions are blocked until the block begins: an exception before that would
    leave the group running.  In the group they stay blocked; SIGKILL ends it.
    """
    path = None if environment is None else environment.get("PATH")
    if shutil.which(command[0], path=path) is None:
        raise NotRun(f"{command[0]} is not installed")
    waiting = signal.pthread_sigmask(signal.SIG_BLOCK, _INTERRUPTIONS)
    try:
        try:
            process = subprocess.Popen(
                # By the given name: gcc -v prints its path otherwise.
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
    # After wait() the process id may be used again.
    if process.returncode is None:
        os.killpg(process.pid, signal.SIGKILL)


def _wait_eof(output: IO[str]) -> None:
    """Wait until the last writer of a pipe has closed it.

    A compiler may outlive make for a moment and write into a directory that is being removed.
    """
    poll = select.poll()
    poll.register(output, select.POLLIN)
    end = time.monotonic() + TIMEOUT
    while poll.poll(max(0.0, end - time.monotonic()) * 1000):
        if not os.read(output.fileno(), LINE_LIMIT):
            return


def _timed_out(deadline: float) -> TimedOut:
    return TimedOut(f"it did not end within {deadline:g} seconds")
