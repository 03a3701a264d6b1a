# SPDX-License-Identifier: MIT
"""The tracefs of the session's guest as a file system, while the session does other things."""

import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.errors import UsageError
from harness.mount import Mount
from harness.shell.interrupt import Interrupt
from harness.tracefs import Tracefs


class SessionMount:
    """At most one mount; ``files`` gives the guest's tracefs, and an error when that is gone."""

    def __init__(
        self, files: Callable[[], Tracefs], gone: Callable[[], bool], interrupt: Interrupt
    ) -> None:
        self._files = files
        self._gone = gone
        self._interrupt = interrupt
        self.mounted: Mount | None = None

    def begin(self, directory: Path) -> None:
        """Serve the guest's tracefs at a directory, until `end`."""
        if self.mounted is not None:
            raise UsageError(f"tracefs is mounted at {self.mounted.directory}", "Use: umount")
        _ = self._files()
        self.mounted = Mount(directory)

    def end(self) -> None:
        """End what `begin` began."""
        if self.mounted is not None:
            self.mounted.close()
            self.mounted = None

    def serve(self) -> bool:
        """Answer programs that use the mount, if there is one; returns whether it rang."""
        mounted = self.mounted
        if mounted is None or not mounted.rings:
            return False
        if mounted.ended or self._gone():
            self.end()
        else:
            mounted.serve(self._files())
        return True

    def drained(self) -> None:
        """Give readers of trace_pipe what was drained from the running guest."""
        if self.mounted is not None:
            self.mounted.feed()

    def feed(self) -> None:
        """Give readers of trace_pipe what the stopped guest has recorded."""
        if self.mounted is not None and self.mounted.followed and not self._gone():
            guest = self._files().guest
            guest.settle()
            guest.drain()
            self.mounted.feed()

    @contextmanager
    def wake(self) -> Iterator[int]:
        """A descriptor that ends a run of the guest: for Ctrl-C, and for programs of the mount."""
        if self.mounted is None:
            yield self._interrupt.fileno()
            return
        with select.epoll() as either:
            either.register(self._interrupt.fileno(), select.EPOLLIN)
            either.register(self.mounted.fileno(), select.EPOLLIN)
            yield either.fileno()
