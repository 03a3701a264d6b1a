# SPDX-License-Identifier: MIT
"""A debug session with the stub of one machine."""

import contextlib
import re
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from harness.debugger.breakpoints import Breakpoints
from harness.debugger.command_line import CommandLine
from harness.debugger.frames import Frames
from harness.debugger.memory import SMALL_READ, SMALL_WRITE, Memory, TransferFile
from harness.debugger.records import MiRecord
from harness.debugger.registers import Registers
from harness.debugger.session import DEADLINE, MiSession, console_command
from harness.debugger.state import Stop, Thread, frame_address, number, stop_from
from harness.debugger.symbols import GdbSymbols
from harness.debugger.threads import Threads
from harness.debugger.writes import Journal, MemoryWrite, RegisterWrite, need_unlogged
from harness.errors import DeadlineMissed, DebuggerDied, GdbError, UsageError
from harness.files import ScratchDirectory
from harness.isa import Abi

_TCP = re.compile(r"(\[[0-9a-fA-F:.]+\]|\w[\w.-]*):\d{1,5}")


class Debugger:
    """One gdb and its target, in all-stop mode: every CPU runs or none does.

    ``session`` is the connection to gdb, ``command_line`` is for a user's commands, ``symbols`` the
    files known to gdb, ``memory`` the access to memory.

    Addresses are the target's own; on a 32-bit target sign-extended ones, as in ELF files of MIPS,
    are masked to 32 bits.  Values are cached until the target runs or is written to.  Every method
    that uses gdb raises DebuggerDied if gdb ends or does not answer in time, and GdbError with
    gdb's message if gdb refuses.
    """

    def __init__(self, gdb: str = "gdb-multiarch") -> None:
        """Start gdb, without waiting until it is ready."""
        self._directory = ScratchDirectory()
        self._transfer = TransferFile()
        self.running = False
        self.connected = False
        self.stop: Stop | None = None
        self.resumptions = 0  # Continues and steps.
        self.changes = 0  # Whatever may have changed the registers that are read.
        self.journal: Journal | None = None
        """Called for each write.  If set, registers cannot be set and functions not called."""
        self.interrupted = True
        """Whether timers may interrupt the target at any time: see `resume`."""
        try:
            passed = (self._transfer.descriptor,)
            self.session = MiSession(gdb, self._on_news, self._on_text, pass_fds=passed)
        except BaseException:
            self._transfer.close()
            self._directory.close()
            raise
        self.memory = Memory(self.session, self._transfer)
        self.symbols = GdbSymbols(self.session, self._directory.path, self._touched)
        self.breakpoints = Breakpoints(self.session, self._need_stopped, self._masked)
        self.register_set = Registers(self.session)
        self._threads = Threads(self.session)
        self.command_line = CommandLine(self.session, self._threads, self._touched)
        self.frames = Frames(
            self.session, self._threads.all, self.select_thread, self.register_set.of_frame
        )

    # Commands

    def command(self, mi: str, *, deadline: float = DEADLINE) -> dict[str, Any]:
        """Run one MI command (without token) and return its results.

        ``deadline`` is in seconds from now.  All cached values are dropped.
        """
        self._touched()
        return self.session.command(mi, deadline)

    def cli(self, text: str) -> str:
        """Run a CLI command of gdb and return its output."""
        self._touched()
        return self.session.console(text)

    # Connecting

    def connect(self, endpoint: str | Path, deadline: float = 30.0) -> None:
        """Connect to a stub at a unix socket or HOST:PORT, which stops the target.

        DebuggerDied if that takes more than ``deadline`` seconds.
        """
        if Path(endpoint).is_socket():
            target = self.symbols.link("stub", Path(endpoint))
        elif _TCP.fullmatch(str(endpoint)):
            target = str(endpoint)
        else:
            raise UsageError(
                f"{endpoint} is neither a unix socket nor HOST:PORT",
                "Give the socket of a stub, as in QEMU's -gdb option.",
            )
        self.stop = None
        try:
            with self.symbols.among_links():
                self.command(f"-target-select remote {target}", deadline=deadline)
        except GdbError as error:
            raise GdbError(f"cannot connect to the stub at {endpoint}: {error.message}") from None
        self.connected = True
        self.register_set.reset()
        if self.wait_stop(DEADLINE) is None:
            raise GdbError(f"the stub at {endpoint} did not say where the target is stopped")

    def disconnect(self, *, resume: bool = False) -> None:
        """Delete all breakpoints and disconnect; with ``resume`` the target continues."""
        if not self.connected:
            return
        if self.running:
            self.interrupt()
            self.wait_stop(DEADLINE)
        self.command("-break-delete")
        self.command("-target-detach" if resume else "-target-disconnect")
        self._lost()

    def close(self) -> None:
        """End gdb.  It detaches, and the target continues if it still exists."""
        self.session.close()
        self._lost()
        self._transfer.close()
        self._directory.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    # Memory

    def read_memory(self, address: int, size: int) -> bytes:
        """``size`` bytes from ``address`` on.

        Small reads fetch and cache whole blocks; not for device registers.  GdbError if a byte
        cannot be read.
        """
        if size > SMALL_READ:
            return self.dump_memory(address, size)
        return self.memory.read(self._masked(address), size)

    def write_memory(self, address: int, data: bytes) -> None:
        """Write ``data`` to memory."""
        if len(data) > SMALL_WRITE:
            self.restore_memory(address, data)
        elif data:
            self._write(MemoryWrite(self._masked(address), data))

    def dump_memory(self, address: int, size: int) -> bytes:
        """``size`` bytes, read from the target in any case; the fast way for large sizes."""
        return self.memory.dump(self._masked(address), size) if size > 0 else b""

    def restore_memory(self, address: int, data: bytes) -> None:
        """Write ``data`` to memory; the fast way for large sizes."""
        if data:
            self._write(MemoryWrite(self._masked(address), data))

    def write_physical(self, address: int, data: bytes) -> None:
        """Write to a physical address, such as a device register; QEMU's stubs only."""
        self._write(MemoryWrite(address, data, physical=True))

    def _write(self, write: MemoryWrite) -> None:
        self.forget()
        if self.journal is not None:
            self.journal(write)
        if write.physical:
            self.memory.write_physical(write.address, write.data)
        elif len(write.data) > SMALL_WRITE:
            self.memory.restore(write.address, write.data)
        else:
            self.memory.write(write.address, write.data)

    # Registers

    def registers(self) -> dict[str, int]:
        """The general registers of the selected thread by gdb's names, in gdb's order."""
        return dict(self.register_set.general())

    def read_register(self, name: str) -> int:
        """The value of any numeric register, such as a system register."""
        return self.register_set.read(name)

    def write_register(self, name: str, value: int) -> None:
        """Set a register of the selected thread."""
        self.write_registers({name: value})

    def write_registers(self, values: Mapping[str, int | str]) -> None:
        """Set registers of the selected thread.

        Bit patterns are set in one command: gdb looks at the stack anew after each.  Texts are
        constants in gdb's language, also for a part of a vector register: ``v0.d.u``.
        """
        self.forget()
        if self.journal is not None:
            for name, value in values.items():
                self.journal(RegisterWrite(name, value))
        self.register_set.write(values)

    # Running

    def resume(self) -> None:
        """Continue all CPUs; a breakpoint at the current address is not hit again.

        gdb would step over it, but QEMU may report that step as done before it begins if a timer
        interrupt comes (`Threads.step`).  Our own step makes a conformance run take 1.4 times as
        long, so it is used only if ``interrupted``.
        """
        stop = self._need_stopped("resume")
        if self.interrupted and self._stands_at_breakpoint(stop):
            # It may wait for an interrupt there.
            with contextlib.suppress(DeadlineMissed):
                self.step_instruction()
        self.session.command("-exec-continue")

    def interrupt(self) -> None:
        """Ask a running target to stop; :meth:`wait_stop` waits for it."""
        if self.running:
            self.session.command("-exec-interrupt")

    def wait_stop(self, deadline: float, *, also: Sequence[int] = ()) -> Stop | None:
        """Wait at most ``deadline`` seconds until the target is stopped.

        Returns None after that time, or when a file descriptor in ``also`` becomes readable.
        DebuggerDied if the stub goes away, probably with QEMU.
        """
        end = time.monotonic() + deadline
        while True:
            if self.stop is not None:
                return self.stop
            if not self.connected:
                raise DebuggerDied(
                    "the debug stub closed the connection", "", self.session.last_words()
                )
            left = end - time.monotonic()
            if self.session.pump(max(left, 0.0), also) or left <= 0:
                return self.stop

    def step_instruction(self, thread: int | None = None) -> Stop:
        """Execute exactly one instruction on one thread, by default the stopped one.

        gdb's own step takes interrupts on MIPS and skips an exclusive-load sequence on AArch64, so
        the step is sent to the stub, and gdb's caches are flushed.  With QEMU's default settings
        interrupts and timers wait during the step, and no other CPU moves.  On MIPS a step can end
        in a delay slot.  The thread is then the selected one.  DeadlineMissed if the CPU waits for
        an interrupt.
        """
        stop = self._need_stopped("step")
        number_ = stop.thread if thread is None else thread
        target_id = self._threads.target_id(number_)
        self.forget()
        self.resumptions += 1
        self.stop = Stop("step", None, number_, self._threads.step(number_, target_id), None)
        return self.stop

    def call(
        self, function: int, *arguments: int, deadline: float = DEADLINE, returns: str = "int"
    ) -> int:
        """Call a function of the target on the stopped CPU; returns its ``int``, or other number.

        Registers are restored afterwards; other CPUs run during the call.  GdbError if the target
        stops inside the function; it stays there.
        """
        need_unlogged(self.journal, "call a function of the guest")
        self.breakpoints.drop_until()
        self.select_thread(self._need_stopped("call a function").thread)
        types = ", ".join(["unsigned long"] * len(arguments)) or "void"
        values = ", ".join(f"0x{self._masked(value):x}" for value in arguments)
        entry = f"0x{self._masked(function):x}"
        self.forget()
        answer = self.session.command(
            f'-data-evaluate-expression "(({returns} (*)({types})) {entry})({values})"', deadline
        )
        self.forget()
        return number(answer.get("value"))

    # Threads

    def threads(self) -> list[Thread]:
        """All threads of the target: with QEMU, one for each CPU."""
        return self._threads.all()

    @property
    def selected_thread(self) -> int | None:
        """The thread whose registers and frames are read; None if the target has none."""
        known = self._threads.selected
        return known if known is not None or self.running else self._threads.look_up()

    def select_thread(self, thread: int) -> None:
        """Select a thread until the target runs."""
        if thread != self._threads.selected:
            self.changes += 1
            self.register_set.forget()
            self.frames.forget()
            self._threads.select(thread)

    @contextlib.contextmanager
    def preserved_selection(self) -> Iterator[None]:
        """Select the current thread again at the end of the block."""
        before = self.selected_thread
        try:
            yield
        finally:
            if before is not None:
                self.select_thread(before)

    def forget(self) -> None:
        """Drop cached values: the target was changed from elsewhere."""
        self.changes += 1
        self.memory.forget()
        self.register_set.forget()
        self._threads.forget()
        self.frames.forget()

    def moved(self) -> Stop:
        """The stopped target has a new state unknown to gdb, such as a loaded snapshot.

        Breakpoints stay; the first thread is selected.
        """
        self._need_stopped("look at the new state")
        self._threads.renumbered()
        self._touched()
        self.session.post(console_command("maintenance flush register-cache"))
        self._threads.select_first()
        self.stop = Stop("moved", None, 1, self._threads.all()[0].pc, None)
        return self.stop

    # Internal

    def _masked(self, address: int) -> int:
        return address & self.symbols.address_mask

    def _touched(self) -> None:
        """A command may have changed anything, including the selected thread."""
        self.forget()
        self._threads.selected = None

    def _on_news(self, record: MiRecord) -> None:
        if record.message == "stopped":
            self.forget()
            self.running = False
            if frame_address(record.payload.get("frame")) is None:
                self._lost()
            else:
                self.stop = stop_from(record.payload)
                self._threads.selected = self.stop.thread
        elif record.message == "running":
            self._started()
        elif record.message == "thread-created":
            self._threads.renumbered()
        elif record.message == "thread-group-exited":
            self._lost()

    def _on_text(self, text: str) -> bool:
        line = self.command_line
        if line.listener is None or not (self.running or line.streaming):
            return False
        line.listener(text)
        return True

    def _stands_at_breakpoint(self, stop: Stop) -> bool:
        """Whether gdb would step over a breakpoint: the CPU stopped there and has not moved."""
        place = None if stop.breakpoint is None else self.breakpoints.address(stop.breakpoint)
        if place is None:
            return False
        self.select_thread(stop.thread)
        return not self._masked(self.read_register("pc") ^ place)

    def _started(self) -> None:
        self.forget()
        self.resumptions += 1
        self.running = True
        self.stop = None

    def _lost(self) -> None:
        self.connected = False
        self.running = False
        self.stop = None

    def _need_stopped(self, what: str) -> Stop:
        if not self.connected:
            raise DebuggerDied(f"cannot {what}: there is no connection to a debug stub")
        if self.stop is None:
            raise UsageError(f"cannot {what} while the guest runs", "Interrupt it first.")
        return self.stop


def return_address(debugger: Debugger, abi: Abi) -> int:
    """The return address, masked; the selected thread is at a function's entry."""
    return abi.return_address(debugger.read_register, debugger.read_memory)
