# SPDX-License-Identifier: MIT
"""A Linux kernel in a memory dump: a guest that does not run."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Never

from harness.debugger import Debugger
from harness.dump import DumpedKernel, DumpStub, ElfCore
from harness.errors import GuestError, UsageError
from harness.files import ScratchDirectory
from harness.guest.linux import LinuxGuest
from harness.guest.linux_start import read_vmlinux
from harness.guest.linux_symbols import load_symbols
from harness.linux import Kernel, Layouts, LinuxImage, load_layouts
from harness.machine import AttachedMachine
from harness.patcher import Text
from harness.readout import Lane


class DumpLane:
    """The memory of the dump."""

    name = "dump"

    def __init__(self, kernel: DumpedKernel) -> None:
        self.read = kernel.read_memory
        self.write = kernel.write_memory


class DumpedGuest(LinuxGuest):
    """A kernel in a memory dump.  Methods that would change or run it raise UsageError."""

    def __init__(
        self,
        image: LinuxImage,
        layouts: Layouts,
        machine: AttachedMachine,
        debugger: Debugger,
        memory: DumpedKernel,
    ) -> None:
        self._dumped = memory
        super().__init__(Path(image.name).name, image, layouts, machine, debugger)
        self.kernel = Kernel(image, layouts, memory)
        debugger.memory.linear = lambda address: None

    @property
    def bulk(self) -> Lane:
        """As of `Guest`: all of the file."""
        return DumpLane(self._dumped)

    @property
    def _text(self) -> Text:
        return self._dumped

    def run(
        self,
        until: str | int | Sequence[str | int] | None = "workload_done",
        *,
        seconds: float | None = None,
        timeout: float = 0,
        wake: int | None = None,
        again: bool = False,
    ) -> Never:
        """As of `Guest`: a UsageError."""
        raise UsageError("a memory dump does not run", "Attach to a running guest: --gdb.")

    def call(self, function: str, *arguments: int) -> Never:
        """As of `Guest`: a UsageError."""
        self.run()

    def call_kernel(self, function: str, *arguments: int, returns: str = "int") -> Never:
        """As of `LinuxGuest`: a UsageError."""
        self.run()

    def _reach(self, places: list[str], seconds: float) -> Never:
        self.run()

    def settle(self) -> None:
        """Nothing: an event that is being written stays unfinished, and is not read."""

    def _watch(self) -> None:
        """Nothing: it does not run."""


@contextmanager
def open_dump(elf: Path, core: Path) -> Iterator[DumpedGuest]:
    """The kernel of a vmlinux in an ELF core, with the contents of its ring buffer.

    Raises:
        UsageError: a file cannot be read, is none of these, or its architecture has no dumps.
        WrongGuest: the dump holds another kernel.
    """
    try:
        image = read_vmlinux(elf.read_bytes(), str(elf))
    except OSError as error:
        raise UsageError(f"{elf} cannot be read: {error.strerror}") from error
    layouts = load_layouts(image)
    with ElfCore(core) as dump, ScratchDirectory() as directory:
        memory = DumpedKernel(image, dump)
        socket = directory.path / "stub"
        with DumpStub(memory, socket), Debugger() as debugger:
            load_symbols(debugger, elf)
            debugger.connect(socket)
            machine = AttachedMachine(str(core), directory.path)
            guest = DumpedGuest(image, layouts, machine, debugger, memory)
            with suppress(GuestError):
                # It may have died before it had a ring buffer, or its tracer is the kernel's own.
                guest.tracer.adopt()
            yield guest
