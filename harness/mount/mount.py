# SPDX-License-Identifier: MIT
"""A mounted tracefs: the thread that serves the host's kernel, and its requests to the guest.

Only one thread works with a guest.  The file system's thread queues a request, wakes the guest's
thread, and waits for the answer, which comes when the guest is stopped.
"""

import select
import socket
import subprocess
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from harness.errors import HarnessError, HostError, UsageError
from harness.mount.handles import Busy
from harness.tracefs import Stream, Tracefs

LINGER = 0.005
"""Seconds to wait for the next request before the guest continues: stopping it takes longer."""

TIMEOUT = 30.0
"""Seconds until a program without an answer gets EBUSY."""

AT_MOST = 0.25
"""Seconds of service after which the guest continues."""

PARTING = 2.0
"""Seconds for readers to take the end of a stream, and for the thread to end."""

UNMOUNT = 'read _; exec fusermount3 -u -q -z -- "$1"'
"""Waits for the end of this process, however it ends.  FUSE's auto_unmount does not always."""

INSTALL = (
    "Install Debian's fuse3, libfuse3-dev and pkg-config, then: pip install ftrace-harness[mount]"
)

Answer = TypeVar("Answer")


class Mount:
    """tracefs at a directory, until `close`; one in a process.

    Raises:
        UsageError: as of `check_directory`.
        HostError: pyfuse3 is missing, or the host refuses to mount.
    """

    def __init__(self, directory: Path) -> None:
        try:
            import pyfuse3

            from harness.mount.operations import Followed, Operations
        except ImportError as error:
            raise HostError(f"to mount needs pyfuse3: {error}", INSTALL) from error
        check_directory(directory)
        self.directory = directory
        self._fuse: Any = pyfuse3
        self._new_stream: Callable[[], Followed] = Followed
        self._token: Any = None
        self._operations = Operations(self._ask, self._follow)
        self._begun = threading.Event()
        self._over = threading.Event()
        self._requests: deque[Callable[[Tracefs | None], None]] = deque()
        self._closing = False
        self._streams: dict[str, tuple[Stream, Followed]] = {}
        self._finished = False
        self._reader, self._writer = socket.socketpair()
        self._reader.setblocking(False)
        self._writer.setblocking(False)
        options = {*pyfuse3.default_options, "fsname=harness", "subtype=tracefs"}
        try:
            pyfuse3.init(self._operations, str(directory), options)
        except RuntimeError as error:
            raise HostError(
                f"the host does not mount at {directory}: {error}",
                "It needs /dev/fuse, and fusermount3 of the package fuse3.",
            ) from error
        self._guard = subprocess.Popen(
            ["sh", "-c", UNMOUNT, "sh", str(directory.absolute())],
            stdin=subprocess.PIPE,
            start_new_session=True,
        )
        self._thread = threading.Thread(target=self._run, name="mount", daemon=True)
        self._thread.start()
        self._begun.wait()

    def __enter__(self) -> "Mount":
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def fileno(self) -> int:
        """Readable when a program waits for an answer, and when the directory was unmounted."""
        return self._reader.fileno()

    @property
    def ended(self) -> bool:
        """Whether it has been unmounted from outside."""
        return self._over.is_set()

    def serve(self, files: Tracefs) -> bool:
        """Answer what programs wait for; the guest must be stopped.  Returns whether any did."""
        end = time.monotonic() + AT_MOST
        served = False
        while True:
            with suppress(BlockingIOError):
                self._reader.recv(4096)
            while self._requests:
                self._requests.popleft()(files)
                served = True
            left = min(LINGER, end - time.monotonic())
            if not served or self.ended or left <= 0:
                return served
            if not select.select([self._reader], [], [], left)[0]:
                return served

    @property
    def rings(self) -> bool:
        """Whether a program waits for an answer, or the directory was unmounted."""
        return bool(select.select([self._reader], [], [], 0)[0])

    @property
    def followed(self) -> bool:
        """Whether a stream was read, so that `feed` has something to do."""
        return bool(self._streams)

    def feed(self, ended: bool = False) -> None:
        """Give readers of streams what was drained; ``ended``: nothing will follow."""
        from harness.mount.operations import HELD

        self._finished = ended
        for stream, followed in self._streams.values():
            if len(followed.data) < HELD or ended:
                self._in_thread(followed.put, stream.take(ended), ended)

    def close(self) -> None:
        """Unmount; readers of streams get their end."""
        if self._closing:
            return
        self._closing = True
        for _, followed in self._streams.values():
            self._in_thread(followed.put, b"", True)
        while self._requests:
            self._requests.popleft()(None)
        end = time.monotonic() + PARTING
        while self._operations.followed and not self.ended and time.monotonic() < end:
            self._over.wait(LINGER)
        if not self.ended:
            self._in_thread(self._fuse.terminate)
        self._thread.join(PARTING)
        self._fuse.close(unmount=True)
        self._guard.kill()
        self._guard.communicate()
        self._reader.close()
        self._writer.close()

    def _run(self) -> None:
        import trio

        async def main() -> None:
            self._token = trio.lowlevel.current_trio_token()
            self._begun.set()
            await self._fuse.main()

        try:
            trio.run(main)
        finally:
            self._over.set()
            self._ring()

    def _in_thread(self, work: Callable[..., None], *arguments: object) -> None:
        import trio

        with suppress(trio.RunFinishedError):
            self._token.run_sync_soon(work, *arguments)

    async def _ask(self, work: Callable[[Tracefs], Answer]) -> Answer:
        """Called in the file system's thread: the answer of the guest's."""
        import trio

        done = trio.Event()
        begun = False
        answers: list[Answer] = []
        errors: list[Exception] = []

        def answer(files: Tracefs | None) -> None:
            nonlocal begun
            begun = True
            try:
                if files is None:
                    raise HostError("the guest has ended")
                answers.append(work(files))
            except HarnessError as error:
                errors.append(error)
            finally:
                self._in_thread(done.set)

        if self._closing:
            raise HostError("the guest has ended")
        self._requests.append(answer)
        self._ring()
        with trio.move_on_after(TIMEOUT):
            await done.wait()
        if not begun:
            # A program that the guest's thread itself waits for would else wait for ever.
            with suppress(ValueError):
                self._requests.remove(answer)
                raise Busy("the guest's thread is busy")
        await done.wait()
        if errors:
            raise errors[0]
        return answers[0]

    async def _follow(self, path: str, waits: bool) -> Any:
        """Called in the file system's thread: the stream at a path, with what there is of it.

        For a reader that does not wait, also with what the guest has not finished.
        """

        def look(files: Tracefs) -> None:
            if path not in self._streams:
                make = files.file(path).stream
                assert make is not None
                self._streams[path] = make(files.guest), self._new_stream()
            stream, followed = self._streams[path]
            files.guest.settle()
            files.guest.drain()
            part = stream.take(self._finished or not waits)
            self._in_thread(followed.put, part, self._finished)

        if path not in self._streams or not waits:
            await self._ask(look)
        return self._streams[path][1]

    def _ring(self) -> None:
        with suppress(BlockingIOError, OSError):
            self._writer.send(b"!")


def check_directory(directory: Path) -> None:
    """UsageError if a directory cannot be mounted on: it is none, or it is not empty."""
    try:
        if any(directory.iterdir()):
            raise UsageError(f"{directory} is not empty", "Mount on an empty directory.")
    except OSError as error:
        raise UsageError(f"{directory}: {error.strerror}", "Make an empty directory.") from error
