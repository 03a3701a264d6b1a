# SPDX-License-Identifier: MIT
"""The CPUs and saved contexts of a stopped guest, for the patcher."""

from collections.abc import Callable

from harness.debugger import Debugger
from harness.image import GuestThread, Image


class StubCpus:
    """CPUs through the debug stub: gdb's threads from 1 are QEMU's CPUs from 0."""

    def __init__(
        self,
        debugger: Debugger,
        image: Image,
        threads: Callable[[], list[GuestThread]],
        run: Callable[[int | None], None],
    ) -> None:
        self._debugger = debugger
        self._image = image
        self._threads = threads
        self._run = run
        # Exception entry, up to the instruction that saves the interrupted address.
        symbols = image.symbols
        self._entry = range(
            symbols.get("__entry_text_start", 0), symbols.get("__entry_text_end", 0)
        )

    def program_counters(self) -> dict[int, int]:
        """The program counter of every CPU by its number."""
        return {thread.id - 1: thread.pc for thread in self._debugger.threads()}

    def step(self, cpu: int) -> None:
        """Execute exactly one instruction on one CPU; the selected thread stays selected."""
        with self._debugger.preserved_selection():
            self._debugger.step_instruction(thread=cpu + 1)

    def enters(self, pc: int) -> bool:
        """Whether a CPU at ``pc`` has its interrupted address only in registers."""
        return pc in self._entry

    def saved_contexts(self) -> dict[str, int]:
        """Where interrupted threads, and threads that do not run, continue; by name."""
        return {
            f"thread {thread}": (thread.interrupted_pc or thread.saved_pc) & self._image.isa.mask
            for thread in self._threads()
        }

    def run_to(self, address: int) -> None:
        """Run all CPUs until one reaches an address."""
        self._run(address)

    def run_briefly(self) -> None:
        """Run all CPUs for a moment."""
        self._run(None)

    def current(self) -> dict[int, GuestThread]:
        """The current thread of each CPU, if it is in the guest's table."""
        by_address = {thread.address: thread for thread in self._threads()}
        found = {}
        with self._debugger.preserved_selection():
            for thread in self._debugger.threads():
                self._debugger.select_thread(thread.id)
                address = self._debugger.read_register(self._image.isa.abi.current_register)
                if (address & self._image.isa.mask) in by_address:
                    found[thread.id - 1] = by_address[address & self._image.isa.mask]
        return found
