# SPDX-License-Identifier: MIT
"""One QEMU process."""

import contextlib
import os
import select
import socket
import time
from collections.abc import Sequence
from functools import cached_property
from pathlib import Path
from typing import Self

from harness.config import LinuxConfig, MachineConfig
from harness.errors import HostError
from harness.files import ScratchDirectory
from harness.machine.command import ReplayLog, qemu_command
from harness.machine.console import Console
from harness.machine.monitor import Monitor, MonitorLost
from harness.machine.pipe import Connection, ReadingEnd
from harness.machine.snapshots import MachineSnapshots
from harness.process import Child

START = 30.0
"""Timeout in seconds of QEMU's first answer."""

QUIT = 3.0
"""Timeout in seconds of QEMU's ``quit``."""

_REFUSED_PLUGIN = "Could not load plugin"


class Machine:
    """A QEMU that is started paused, dies with this process, and leaves nothing behind.

    A context manager starts and stops it.  The thread that starts it must live as long as the
    machine: the kernel kills QEMU when that thread ends.
    """

    def __init__(
        self,
        config: MachineConfig | LinuxConfig,
        kernel: Path,
        *,
        deterministic: bool = False,
        replay: ReplayLog | None = None,
        plugins: Sequence[str] = (),
        keep: Path | None = None,
        append: str = "",
        initrd: Path | None = None,
    ) -> None:
        """Prepare to run ``kernel``; ``append`` and ``initrd`` are for a Linux kernel.

        ``plugins`` are arguments of QEMU's ``-plugin``.  ``keep`` is a directory for the console's
        log, by default the machine's own, which is removed.
        """
        self.config = config
        self.kernel = kernel
        self._deterministic = deterministic
        self._replay = replay
        self._plugins = tuple(plugins)
        self._keep = keep
        self._append = append
        self._initrd = initrd
        self._child: Child | None = None
        self._console: Console | None = None
        self._monitor: Monitor | None = None
        self._monitor_socket: socket.socket | None = None
        self._directory: ScratchDirectory | None = None

    @property
    def directory(self) -> Path:
        """A private directory (mode 0700, short path), removed when the machine stops."""
        assert self._directory is not None, "the machine has not been started"
        return self._directory.path

    @property
    def gdb_socket(self) -> Path:
        """The unix socket of the debug stub."""
        return self.directory / "gdb"

    @property
    def console(self) -> Console:
        """The guest's console."""
        assert self._console is not None, "the machine has not been started"
        return self._console

    @property
    def child(self) -> Child:
        """QEMU's process."""
        assert self._child is not None, "the machine has not been started"
        return self._child

    @cached_property
    def snapshots(self) -> MachineSnapshots:
        """Snapshots of the machine."""
        return MachineSnapshots(self, self.directory / "snapshots.qcow2")

    @property
    def command(self) -> list[str]:
        """QEMU's command line."""
        return self.child.command

    @property
    def pid(self) -> int:
        """QEMU's process id."""
        return self.child.pid

    @property
    def process_fd(self) -> int:
        """A pidfd, readable when QEMU has ended."""
        return self.child.process_fd

    @property
    def alive(self) -> bool:
        """Whether QEMU runs.  False as soon as its sockets close, just before it ends."""
        if self._child is None or not self._child.alive:
            return False
        return not (self._hung_up() and self._child.wait(1.0))

    def ended(self, timeout: float = 0.0) -> bool:
        """Whether QEMU has ended, or does so within ``timeout`` seconds.

        QEMU closes its sockets one after the other before it ends, so wait a moment after a lost
        connection.
        """
        return self._child is None or not self._child.alive or self._child.wait(timeout)

    def exit_report(self) -> str:
        """How QEMU ended (or that it runs), its command line, and its last messages."""
        if self._hung_up():
            self.child.wait(1.0)
        return self.child.report()

    def start(self) -> None:
        """Start QEMU; the guest waits at its first instruction.

        HostError with exit status, command line and standard error if it does not start.
        """
        assert self._child is None, "a machine starts once"
        try:
            self._launch()
        except BaseException:
            self.stop()
            raise

    def qmp(self, command: str, /, deadline: float = 10.0, **arguments: object) -> object:
        """Run a QMP command and return its answer; ``deadline`` is in seconds.

        HostError if QEMU refuses or is gone.  Names with a dash are passed as ``**{"a-b": 1}``.
        """
        assert self._monitor is not None, "the machine has not been started"
        try:
            return self._monitor.execute(command, arguments, deadline)
        except MonitorLost as error:
            raise HostError(error.message, "", self.exit_report()) from None

    def drain(self) -> None:
        """Read the available output of console and monitor, without waiting."""
        self.console.drain()
        if self._monitor is not None:
            self._monitor.read_events()

    def stop(self) -> None:
        """Quit or kill QEMU, and remove its directory.  Harmless if already stopped."""
        child, self_ended = self._child, False
        if child is not None and child.alive:
            self_ended = self._quit(child)
        if self._monitor is not None:
            self._monitor.close()
        elif self._monitor_socket is not None:
            self._monitor_socket.close()
        if child is not None:
            if not self_ended:
                child.end()
            child.wait(0)
        if self._console is not None:
            self._console.close()
        if child is not None:
            child.close()
        if self._directory is not None:
            self._directory.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(self, *details: object) -> None:
        self.stop()

    def _launch(self) -> None:
        self._directory = ScratchDirectory()
        if self._keep is not None:
            self._keep.mkdir(parents=True, exist_ok=True)
        console, qemu_console = self._console_ends()
        self._console = Console(console, (self._keep or self.directory) / "console.log")
        monitor, qemu_monitor = socket.socketpair()
        self._monitor_socket = monitor
        stub = socket.socket(socket.AF_UNIX)
        try:
            stub.bind(str(self.gdb_socket))
            stub.listen(1)
            self._child = Child(
                qemu_command(
                    self.config,
                    self.kernel,
                    console_fd=qemu_console,
                    monitor_fd=qemu_monitor.fileno(),
                    gdb_fd=stub.fileno(),
                    deterministic=self._deterministic,
                    replay=self._replay,
                    plugins=self._plugins,
                    append=self._append,
                    initrd=self._initrd,
                ),
                package=self.config.qemu.package,
                pass_fds=[qemu_console, qemu_monitor.fileno(), stub.fileno()],
            )
        finally:
            os.close(qemu_console)
            qemu_monitor.close()
            stub.close()
        self._monitor = Monitor(monitor, self._console)
        try:
            self._monitor.connect(START)
        except MonitorLost:
            self._child.wait(1.0)
            message, advice = "QEMU did not start", ""
            if self._plugins and _REFUSED_PLUGIN in self._child.stderr_tail():
                message = "this QEMU does not load the plugin of the execution oracle"
                advice = "`harness doctor` names the tested versions of QEMU."
            raise HostError(message, advice, self.exit_report()) from None

    def _console_ends(self) -> tuple[Connection, int]:
        """Ours, and QEMU's descriptor."""
        if self._replay is None:
            ours, theirs = socket.socketpair()
            return ours, theirs.detach()
        reading, writing = os.pipe()
        return ReadingEnd(reading), writing

    def _quit(self, child: Child) -> bool:
        """Ask QEMU to quit and wait for it, while reading the console, on which QEMU may block."""
        if self._monitor is None:
            return False
        with contextlib.suppress(HostError):
            self._monitor.execute("quit", {}, QUIT)
        poll = select.poll()
        poll.register(child.process_fd, select.POLLIN)
        if not self.console.hung_up:
            poll.register(self.console, select.POLLIN)
        end = time.monotonic() + QUIT
        while (left := end - time.monotonic()) > 0:
            ready = dict(poll.poll(left * 1000))
            if child.process_fd in ready:
                return True
            if self.console.fileno() in ready and not self.console.drain():
                poll.unregister(self.console)
        return False

    def _hung_up(self) -> bool:
        if self._monitor_socket is None or self._monitor_socket.fileno() < 0:
            return True
        poll = select.poll()
        poll.register(self._monitor_socket, select.POLLHUP)
        return bool(poll.poll(0))
