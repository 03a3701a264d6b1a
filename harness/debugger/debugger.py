# SPDX-License-Identifier: MIT
"""A debug session with the stub of one machine."""

import contextlib
import re
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Self

from harness.debugger.breakpoints import Breakpoints
from harness.debugger.memory import SMALL_READ, SMALL_WRITE, Memory, TransferFile
from harness.debugger.records import Record
from harness.debugger.registers import Registers
from harness.debugger.session import DEADLINE, Attendant, Session
from harness.debugger.state import Stop, Thread, frame_address, number, stop_from
from harness.debugger.threads import Threads
from harness.errors import DeadlineMissed, DebuggerDied, GdbError, UsageError
from harness.files import PrivateDirectory
from harness.units import escape

_TCP = re.compile(r"(\[[0-9a-fA-F:.]+\]|\w[\w.-]*):\d{1,5}")

HALF = "mem 0 0x7ffffffffffff000 rw"
"""A region of gdb's: the lower half of all 64-bit addresses, but for the last page.  gdb counts how
far it is to the end of a region in a signed 64-bit number."""


class Debugger:
    """One gdb and the target it is connected to, seen as all-stop: every CPU runs or none does.

    Addresses are the target's own; on a 32-bit target sign-extended ones, as ELF files of MIPS have
    them, are cut to 32 bits.  What is read is remembered until the target runs or is written to.
    Every method that talks to gdb raises DebuggerDied when gdb ends or does not answer in time, and
    GdbError with gdb's own words when gdb refuses.
    """

    def __init__(self, gdb: str = "gdb-multiarch") -> None:
        """Start gdb; it gets ready while the caller does something else."""
        self._directory = PrivateDirectory()
        self._transfer = TransferFile()
        self.running = False
        self.connected = False
        self.stop: Stop | None = None
        self.generation = 0
        """Counts stops and changes of the target: what was read before the last one is stale."""
        self.resumptions = 0
        """How often the target was let run, or step."""
        self.interrupted = True
        """Whether timers may interrupt the target at any time: see `resume`."""
        self.listener: Callable[[str], object] | None = None
        """Told what gdb prints while the target runs, and what a command given to `stream` does."""
        self._streaming = False
        self._address_mask = (1 << 64) - 1
        try:
            self._session = Session(
                gdb,
                self._on_news,
                self._on_text,
                directory=self._directory.path,
                pass_fds=(self._transfer.descriptor,),
            )
        except BaseException:
            self._transfer.close()
            self._directory.close()
            raise
        self._memory = Memory(self._session, self._transfer)
        self._registers = Registers(self._session)
        self._threads = Threads(self._session)
        self._breakpoints = Breakpoints(self._session)

    # The conversation

    def command(self, mi: str, *, deadline: float = DEADLINE) -> dict[str, Any]:
        """Give one MI command (without token) and return its results.

        ``deadline`` is in seconds from now.  A command may change anything, so everything that was
        read is forgotten.
        """
        self._touched()
        return self._session.command(mi, deadline)

    def commands(self, mi: Iterable[str], *, deadline: float = DEADLINE) -> list[dict[str, Any]]:
        """Give many MI commands without waiting in between; every one is tried.

        The first error is raised when all have been answered.
        """
        self._touched()
        return [results for results, _ in self._session.exchange(list(mi), deadline)]

    def cli(self, text: str, *, deadline: float = DEADLINE) -> str:
        """Give a command of gdb's own command line and return what it prints."""
        self._touched()
        return self._session.console(text, deadline)

    def stream(self, text: str, wake: int) -> None:
        """Give a command of gdb's own command line, which takes as long as it takes.

        What it prints goes to `listener` as it comes.  When the descriptor ``wake`` becomes
        readable gdb is told to end the command; most then end with a GdbError.
        """
        self._touched()
        self._streaming = True
        try:
            self._session.stream(text, wake)
        finally:
            self._streaming = False

    def poll(self) -> None:
        """Handle what gdb has said so far, without waiting."""
        self._session.pump(0)

    def fileno(self) -> int:
        """Readable when gdb has said something; :meth:`poll` handles it."""
        return self._session.fileno()

    @property
    def pid(self) -> int:
        """gdb's process id."""
        return self._session.pid

    @property
    def process_fd(self) -> int:
        """Readable when gdb has ended."""
        return self._session.process_fd

    def attend(self, descriptor: int, attendant: Attendant) -> None:
        """Have ``attendant`` called whenever ``descriptor`` is readable while gdb is waited for.

        Meant for the console: QEMU can block while nobody reads it, and the debug stub with it.  An
        attendant that returns False is not called again.
        """
        self._session.attend(descriptor, attendant)

    def leave(self, descriptor: int) -> None:
        """Stop attending to ``descriptor``."""
        self._session.leave(descriptor)

    # Connecting

    def load(self, elf: Path) -> None:
        """Read the symbols of ``elf``.

        Before :meth:`connect`, because QEMU's MIPS stubs do not say which architecture they have.
        """
        try:
            with elf.open("rb") as file:
                identification = file.read(16)
        except OSError as error:
            raise UsageError(f"{elf} cannot be read: {error.strerror}") from error
        if identification[:4] != b"\x7fELF":
            raise UsageError(f"{elf} is not an ELF file")
        self.command(f"-file-exec-and-symbols {self._link('kernel', elf)}", deadline=60.0)
        self._address_mask = (1 << (32 if identification[4] == 1 else 64)) - 1

    def forbid(self, ranges: Iterable[str]) -> None:
        """Have gdb refuse to read these addresses, whoever asks: the stub would not survive it.

        Each range is ``FIRST-LAST``, both hexadecimal, as ``qemu.unreadable`` of a config has it.
        """
        ends = [[int(end, 16) for end in addresses.split("-")] for addresses in ranges]
        regions = [f"mem {first:#x} {last + 1:#x} wo" for first, last in ends]
        self._memory.forbidden = [range(first, last + 1) for first, last in ends]
        if regions:
            # gdb 13 dies of a read where the next region is more than half of all addresses away.
            for command in ("set mem inaccessible-by-default off", HALF, *regions):
                self.cli(command)

    def add_symbols(self, elf: Path) -> None:
        """Read the symbols of ``elf`` too, which is linked to the place where it lies."""
        self.cli(f"add-symbol-file {self._link('added', elf)} -o 0", deadline=60.0)

    def remove_symbols(self, address: int) -> None:
        """Forget the symbols of the file, added before, that has this address."""
        self.cli(f"remove-symbol-file -a 0x{address & self._address_mask:x}")

    def connect(self, endpoint: str | Path, deadline: float = 30.0) -> None:
        """Connect to a stub at a unix socket or HOST:PORT.  The target is stopped afterwards.

        DebuggerDied when what listens there has not made gdb content after ``deadline`` seconds.
        """
        if Path(endpoint).is_socket():
            target = self._link("stub", Path(endpoint))
        elif _TCP.fullmatch(str(endpoint)):
            target = str(endpoint)
        else:
            raise UsageError(
                f"{endpoint} is neither a unix socket nor HOST:PORT",
                "Give the socket of a stub, such as the one that QEMU's -gdb option opens.",
            )
        self.stop = None
        try:
            self.command(f"-target-select remote {target}", deadline=deadline)
        except GdbError as error:
            raise GdbError(f"cannot connect to the stub at {endpoint}: {error.message}") from None
        self.connected = True
        self._registers.reset()
        if self.wait_stop(DEADLINE) is None:
            raise GdbError(f"the stub at {endpoint} did not say where the target is stopped")

    def disconnect(self, *, resume: bool = False) -> None:
        """Leave the target stopped, or with ``resume`` running, without any breakpoint."""
        if not self.connected:
            return
        if self.running:
            self.interrupt()
            self.wait_stop(DEADLINE)
        self.command("-break-delete")
        self.command("-target-detach" if resume else "-target-disconnect")
        self._lost()

    def close(self) -> None:
        """End gdb.  It detaches from the target, which runs on if it is still there."""
        self._session.close()
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

        Small reads fetch whole blocks and keep them until the target runs or is written to; so this
        is not for device registers.  GdbError when a byte cannot be read.
        """
        if size > SMALL_READ:
            return self.dump_memory(address, size)
        return self._memory.read(address & self._address_mask, size)

    def write_memory(self, address: int, data: bytes) -> None:
        """Write ``data`` to memory from ``address`` on."""
        if len(data) > SMALL_WRITE:
            self.restore_memory(address, data)
        elif data:
            self.forget()
            self._memory.write(address & self._address_mask, data)

    def dump_memory(self, address: int, size: int) -> bytes:
        """``size`` bytes from ``address`` on, fresh from the target: the fast way for many."""
        return self._memory.dump(address & self._address_mask, size) if size > 0 else b""

    def restore_memory(self, address: int, data: bytes) -> None:
        """Write ``data`` to memory from ``address`` on: the fast way for many bytes."""
        if data:
            self.forget()
            self._memory.restore(address & self._address_mask, data)

    def write_physical(self, address: int, data: bytes) -> None:
        """Write at a physical address, device registers included; for stubs of QEMU only."""
        self.forget()
        self._memory.write_physical(address, data)

    def map_linearly(self, linear: Callable[[int], int | None]) -> None:
        """Say where the target's own addresses lie physically, None for those that do not.

        It is asked for addresses that the selected CPU cannot reach because it is in user mode.
        """
        self._memory.linear = linear

    # Registers

    def registers(self) -> dict[str, int]:
        """The general registers of the selected thread, by gdb's names, in gdb's order."""
        return dict(self._registers.general())

    def read_register(self, name: str) -> int:
        """Any register that holds a number, system registers included."""
        return self._registers.read(name)

    def write_register(self, name: str, value: int) -> None:
        """Set a register of the selected thread."""
        self.forget()
        self._registers.write(name, value)

    # Breakpoints

    def insert_breakpoint(self, place: int | str, temporary: bool = False) -> int:
        """Stop at an address, or at the first instruction of a function; gdb's number of it.

        The target has to be stopped: gdb would not tell a running one.
        """
        self._need_stopped("set a breakpoint")
        where = place & self._address_mask if isinstance(place, int) else place
        return self._breakpoints.insert(where, temporary)

    def breakpoints(self) -> dict[int, int]:
        """The addresses of all breakpoints that have one, by gdb's numbers."""
        found = self._breakpoints.addresses()
        return {one: address & self._address_mask for one, address in found.items()}

    def delete_breakpoint(self, breakpoint_number: int) -> None:
        """Take a breakpoint away."""
        self._need_stopped("delete a breakpoint")
        self._breakpoints.delete(breakpoint_number)

    def enabled_breakpoints(self) -> set[int]:
        """The numbers of the breakpoints that are set and enabled."""
        return self._breakpoints.enabled()

    def complete(self, text: str, limit: int = 200) -> list[str]:
        """What gdb would complete a command line to; escaped."""
        quoted = text.replace("\\", "\\\\").replace('"', '\\"')
        matches = self._session.command(f'-complete "{quoted}"').get("matches")
        found = matches if isinstance(matches, list) else []
        return [escape(match, 200) for match in found[:limit] if isinstance(match, str)]

    # Running

    def resume(self) -> None:
        """Let every CPU run; a breakpoint that it stands at is not hit again.

        gdb would step over it only once, and QEMU may end that step before it began
        (`Threads.step`) where timers run.  To step by ourselves takes a conformance run 1.4 times
        as long, so it is done there only.
        """
        stop = self._need_stopped("resume")
        if self.interrupted and self._stands_at_breakpoint(stop):
            # It may wait for an interrupt there, which comes when it runs.
            with contextlib.suppress(DeadlineMissed):
                self.step_instruction()
        self._session.command("-exec-continue")

    def interrupt(self) -> None:
        """Ask a running target to stop; :meth:`wait_stop` tells when it has."""
        if self.running:
            self._session.command("-exec-interrupt")

    def wait_stop(self, deadline: float, *, also: Sequence[int] = ()) -> Stop | None:
        """Wait at most ``deadline`` seconds until the target is stopped.

        Returns None when that time is over, or when one of the file descriptors in ``also`` becomes
        readable first.  DebuggerDied when the stub goes away, with QEMU most likely.
        """
        end = time.monotonic() + deadline
        while True:
            if self.stop is not None:
                return self.stop
            if not self.connected:
                raise DebuggerDied(
                    "the debug stub closed the connection", "", self._session.last_words()
                )
            left = end - time.monotonic()
            if self._session.pump(max(left, 0.0), also) or left <= 0:
                return self.stop

    def step_instruction(self, thread: int | None = None) -> Stop:
        """Execute exactly one instruction on one thread, by default the one that stopped.

        gdb's own step lets interrupts in on MIPS and skips an exclusive-load sequence on AArch64,
        so the stub is told to step, and gdb to look again.  With QEMU's default settings interrupts
        and timers wait during the step; no other CPU moves.  A step can end in a delay slot of
        MIPS.  The thread is the selected one afterwards.  DeadlineMissed when the CPU does not
        finish: it has gone to sleep until an interrupt comes.
        """
        stop = self._need_stopped("step")
        number_ = stop.thread if thread is None else thread
        target_id = self._threads.target_id(number_)
        self.forget()
        self.resumptions += 1
        self.stop = Stop("step", None, number_, self._threads.step(number_, target_id), None)
        return self.stop

    def call(self, function: int, *arguments: int, deadline: float = DEADLINE) -> int:
        """Have the CPU that stopped call a function of the target and return its ``int``.

        Everything of it is as it was afterwards, but for what the function itself changed; other
        CPUs run on meanwhile.  GdbError when the target stops inside the function; it stays there.
        """
        self.select_thread(self._need_stopped("call a function").thread)
        types = ", ".join(["unsigned long"] * len(arguments)) or "void"
        values = ", ".join(f"0x{value & self._address_mask:x}" for value in arguments)
        entry = f"0x{function & self._address_mask:x}"
        self.forget()
        answer = self._session.command(
            f'-data-evaluate-expression "((int (*)({types})) {entry})({values})"', deadline
        )
        self.forget()
        return number(answer.get("value"))

    # Looking around

    def threads(self) -> list[Thread]:
        """Every thread of the target: with QEMU, one for each CPU."""
        return self._threads.all()

    @property
    def selected_thread(self) -> int | None:
        """The thread that registers and backtraces are of; None when the target has none."""
        known = self._threads.selected
        return known if known is not None or self.running else self.look_up_thread()

    def look_up_thread(self) -> int | None:
        """The thread that gdb's own command line has selected; `selected_thread` from now on."""
        self._threads.selected = number(self._session.console("output $_thread").strip()) or None
        return self._threads.selected

    def select_thread(self, thread: int) -> None:
        """Make registers and backtraces those of ``thread`` until the target has run."""
        if thread != self._threads.selected:
            self._registers.forget()
            self._threads.select(thread)

    @contextlib.contextmanager
    def selection_kept(self) -> Iterator[None]:
        """However this ends, the thread that is selected now is selected again."""
        before = self.selected_thread
        try:
            yield
        finally:
            if before is not None:
                self.select_thread(before)

    def backtrace(self, limit: int = 20) -> list[str]:
        """The frames of the selected thread, innermost first, as gdb unwinds them; escaped.

        A stack that cannot be unwound ends the list with gdb's complaint.
        """
        return self._threads.backtrace(limit)

    def frame_addresses(self, limit: int = 100) -> list[int]:
        """Where the innermost frames of every thread go on, as far as gdb can unwind them."""
        found = []
        for thread in self.threads():
            self.select_thread(thread.id)
            with contextlib.suppress(GdbError):
                answer = self._session.command(f"-stack-list-frames 0 {limit - 1}")
                stack = answer.get("stack")
                found += [frame_address(frame) for frame in stack or ()]
        return [address & self._address_mask for address in found if address]

    def forget(self) -> None:
        """Drop what was read: something outside of this class has changed the target."""
        self.generation += 1
        self._memory.forget()
        self._registers.forget()
        self._threads.forget()

    def moved(self) -> Stop:
        """The stopped target is in another state than gdb knows, as after a snapshot was loaded.

        Breakpoints stay; the first thread is the selected one.
        """
        self._need_stopped("look at the new state")
        self._threads.renumbered()
        self._touched()
        self._session.console("maintenance flush register-cache")
        self._threads.select(1)
        self.stop = Stop("moved", None, 1, self._threads.all()[0].pc, None)
        return self.stop

    # Inside

    def _touched(self) -> None:
        """Somebody else's command may have changed anything, which thread is selected too."""
        self.forget()
        self._threads.selected = None

    def _on_news(self, record: Record) -> None:
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
        if self.listener is None or not (self.running or self._streaming):
            return False
        self.listener(text)
        return True

    def _stands_at_breakpoint(self, stop: Stop) -> bool:
        """Whether gdb would step over one: it has stopped the CPU there, and nobody moved it."""
        place = None if stop.breakpoint is None else self._breakpoints.address(stop.breakpoint)
        if place is None:
            return False
        self.select_thread(stop.thread)
        return not (self.read_register("pc") ^ place) & self._address_mask

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

    def _link(self, name: str, target: Path) -> str:
        # gdb knows no quoting for sockets, takes a colon for a port and inherits the limit on the
        # length of a socket's path; a link in its own directory has none of these troubles.
        link = self._directory.path / name
        with contextlib.suppress(FileNotFoundError):
            link.unlink()
        link.symlink_to(target.absolute())
        return name
