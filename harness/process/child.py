# SPDX-License-Identifier: MIT
"""A long-running program, such as QEMU or gdb."""

import os
import select
import shlex
import signal
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import IO, Self

from harness.errors import HostError
from harness.process.pdeathsig import find_program, with_pdeathsig
from harness.units import escape

STDERR_TAIL = 4096


class Child:
    """A process in its own session, killed by the kernel when its parent thread ends.

    In its own session a Ctrl-C on the terminal does not reach it.  The thread that starts the
    process must live as long as the process is needed (see `pdeathsig`).  Standard error goes to a
    file for reports.
    """

    def __init__(
        self,
        command: Sequence[str],
        *,
        package: str = "",
        directory: Path | None = None,
        stdin: int = subprocess.DEVNULL,
        stdout: int | None = None,
        pass_fds: Sequence[int] = (),
    ) -> None:
        """Start ``command``; standard output joins standard error unless ``stdout`` is given."""
        self.command = list(command)
        self.name = Path(command[0]).name
        program = find_program(command[0], package)
        guard = with_pdeathsig()
        self._stderr: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 (closed in close())
        try:
            self._popen = subprocess.Popen(
                [*guard, program, *command[1:]],
                stdin=stdin,
                stdout=self._stderr if stdout is None else stdout,
                stderr=self._stderr,
                cwd=directory,
                pass_fds=tuple(pass_fds),
                start_new_session=True,
                bufsize=0,
            )
        except OSError as error:
            self._stderr.close()
            raise HostError(f"{self.name} cannot be started: {error}") from error
        self.pid = self._popen.pid
        self._process_fd = os.pidfd_open(self.pid)

    @property
    def stdin(self) -> IO[bytes]:
        """The pipe to the process, if requested."""
        assert self._popen.stdin is not None
        return self._popen.stdin

    @property
    def stdout(self) -> IO[bytes]:
        """The pipe from the process, if requested."""
        assert self._popen.stdout is not None
        return self._popen.stdout

    @property
    def process_fd(self) -> int:
        """A pidfd, readable when the process has ended; -1 after close()."""
        return self._process_fd

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._popen.poll() is None

    @property
    def status(self) -> int | None:
        """The exit status, negative for a signal; None while the process runs."""
        return self._popen.poll()

    def wait(self, seconds: float) -> bool:
        """Wait for the process to end; False after ``seconds``."""
        if self._process_fd >= 0:
            poll = select.poll()
            poll.register(self._process_fd, select.POLLIN)
            if not poll.poll(max(0.0, seconds) * 1000):
                return False
        self._popen.wait()
        return True

    def end(self, timeout: float = 2.0) -> None:
        """Send SIGTERM, and SIGKILL after ``timeout`` seconds."""
        for number in (signal.SIGTERM, signal.SIGKILL):
            if not self.alive:
                return
            self._popen.send_signal(number)
            if self.wait(timeout):
                return

    def close(self) -> None:
        """End the process, and close its pipes and file descriptors."""
        self.end()
        for pipe in (self._popen.stdin, self._popen.stdout):
            if pipe is not None:
                pipe.close()
        if self._process_fd >= 0:
            os.close(self._process_fd)
            self._process_fd = -1
        self._stderr.close()

    def stderr_tail(self) -> str:
        """The last `STDERR_TAIL` bytes of standard error, escaped."""
        if self._stderr.closed:
            return ""
        descriptor = self._stderr.fileno()
        length = os.fstat(descriptor).st_size
        data = os.pread(descriptor, STDERR_TAIL, max(0, length - STDERR_TAIL))
        return escape(data.decode(errors="replace").strip())

    def ending(self) -> str:
        """How the process ended, in words."""
        status = self._popen.poll()
        if status is None:
            return f"{self.name} is running"
        if status >= 0:
            return f"{self.name} ended with exit status {status}"
        try:
            name = signal.Signals(-status).name
        except ValueError:
            name = f"signal {-status}"
        return f"{self.name} was killed by {name}"

    def report(self) -> str:
        """How the process ended, its command line, and the tail of its standard error."""
        lines = [self.ending(), f"command: {shlex.join(self.command)}"]
        tail = self.stderr_tail()
        if tail:
            lines.append(f"stderr: {tail}")
        return "\n".join(lines)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()
