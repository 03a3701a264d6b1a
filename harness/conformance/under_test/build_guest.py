# SPDX-License-Identifier: MIT
"""A live guest of one build of a port, which can be restored as booted at any time."""

from collections.abc import Callable, Iterable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import NamedTuple

from harness.conformance.places import faulted, hung
from harness.conformance.under_test.actions import Actions, Called, Written
from harness.conformance.under_test.clock import take_snapshot
from harness.conformance.under_test.hang import Hang, HangDetector, NeverBoots, jumps_to_itself
from harness.conformance.under_test.live_text import Changes, LiveCode, LiveSites
from harness.conformance.under_test.registers import RegisterFile
from harness.errors import GuestDied, HarnessError, HostError, UsageError
from harness.files import ScratchDirectory
from harness.guest import Guest, Outcome, run_kernel
from harness.image import RunningImage
from harness.isa import Form, Isa
from harness.kbuild import GuestSpec
from harness.machine import Machine
from harness.oracle import Oracle

SLICE = 0.0625
"""Seconds between two looks at a guest that runs, whether it hangs."""
CALL_RETURNS = "workload_done"
"""The return address of calls by the debugger: this function runs only when the workload ends."""
START = "workload"
POWER_ON = "power on"
"""The snapshot of a guest at its first instruction."""
DEATHS = ("panic", "panic_plain", "oops_enter")
"""Functions that only report why the guest dies: in them nothing is found any more."""
WATCHED = "workload, watched"
"""The snapshot of a guest with the oracle, which is slower."""
RECORDS = 100_000
"""The most records of a workload."""


@dataclass(frozen=True, slots=True)
class Variant:
    """One way to build a port, and the image."""

    name: str
    spec: GuestSpec
    kernel: Path

    @property
    def features(self) -> tuple[str, ...]:
        """The features that the port is built with."""
        return self.spec.features


_SETTINGS = (
    # Otherwise gdb sets and removes all breakpoints at each stop, and QEMU translates code anew.
    "set breakpoint always-inserted on",
    # Nobody reads these at a stop.
    "set print frame-info location",
    "set print frame-arguments none",
    "set print entry-values no",
)


class _Started(NamedTuple):
    """A guest that runs, or is kept for later."""

    running: AbstractContextManager[Guest]
    guest: Guest
    registers: RegisterFile
    oracle: Oracle | None


def _end(started: _Started | None) -> None:
    if started is not None:
        started.running.__exit__(None, None, None)


class BuildGuest:
    """The guest of one build.  It may be left in any state; `fresh` restores it as booted."""

    def __init__(self, variant: Variant, *, judges_clock: bool = False) -> None:
        """``judges_clock``: whether its clock must be right behind a restored snapshot."""
        self.variant, self.config = variant, variant.spec.effective_config
        self.kernel = variant.spec.port.kernel
        self._judges_clock = judges_clock
        self.image = RunningImage(variant.kernel.read_bytes(), str(variant.kernel))
        self.isa: Isa = self.image.isa
        self.form: Form = self.config.build.form
        known = [name for name in DEATHS if name in self.image.symbols]
        self.deaths = frozenset(map(self._address, known))
        self.code, self.sites = LiveCode(self), LiveSites(self)
        self.rewinds = self.config.qemu.snapshots  # Without, a guest is made fresh by a boot.
        self.power_on: Callable[..., AbstractContextManager[Guest]] = run_kernel
        self._running: AbstractContextManager[Guest] | None = None
        self._guest: Guest | None = None
        self._other: _Started | None = None
        self._oracle: Oracle | None = None
        self._until_end = ExitStack()
        self.registers: RegisterFile  # Of the guest, from its boot on.
        self._booting = False
        self.never_boots: NeverBoots | None = None  # How the guest of this build died at boot.
        self.actions = Actions()
        self.used: set[str] = set()  # Tracers that were on since the guest was fresh.
        self.by_port = True  # The port's functions switch tracers, and not the debugger.
        self.slots = {"function": False, "graph": False}  # What is on.

    @property
    def guest(self) -> Guest:
        """The guest as it was left; call `fresh` first."""
        assert self._guest is not None, "fresh() makes the guest"
        return self._guest

    @property
    def oracle(self) -> Oracle:
        """The execution record of a guest that is ``watched``."""
        assert self._oracle is not None, "the guest is not watched"
        return self._oracle

    def fresh(self, memory: str = "", *, watched: bool = False) -> Guest:
        """The guest, stopped before its workload, as if just booted; with ``memory``, if given.

        ``watched``: with the `oracle`, which has no records yet.
        """
        self._as_booted(memory)
        if memory:
            return self.start(memory)
        snapshot = WATCHED if watched else START
        if self.rewinds and self._restored(snapshot):
            self._booting = False
            if watched:
                self.oracle.restore()
            return self.guest
        guest = self.start(watched=watched)
        if self.rewinds:
            take_snapshot(guest, snapshot, with_clock=self._judges_clock and not watched)
            if watched:
                self.oracle.snapshot()
        return guest

    def reaches_workload(self) -> bool:
        """Whether the guest gets as far as its workload, with no tracer on."""
        try:
            self.fresh()
        except NeverBoots:
            return False
        return True

    def start(self, memory: str = "", *, watched: bool = False, changes: Changes = ()) -> Guest:
        """A new guest, stopped before its workload; `NeverBoots` if it does not get there.

        ``watched`` as of `fresh`; ``changes`` are written in front of its first instruction, each
        to its address.
        """
        if self.never_boots is not None:
            raise self.never_boots
        guest = self.boot(memory, watched=watched)
        for address, data in changes:
            self.write_memory(address, data)
        try:
            self.run_to(START)
        except GuestDied as error:
            self.never_boots = NeverBoots(error.message, error.advice, error.evidence)
            self.never_boots.place = hung(guest) if isinstance(error, Hang) else faulted(guest)
            raise self.never_boots from error
        self._booting = False
        if watched:
            self.oracle.reset()
        if not self.by_port:
            self.sites.put_right(self.code, changes)
        return guest

    def boot(self, memory: str = "", *, watched: bool = False) -> Guest:
        """A guest at its first instruction, as if its machine had just been switched on."""
        self._as_booted(memory)
        self._booting = True
        plain = self.rewinds and not memory and not watched
        if not (plain and self._restored(POWER_ON)):
            self._switch_on(memory, watched=watched)
            if plain:
                self.guest.snapshot(POWER_ON)
        self.registers = RegisterFile(self.guest.debugger, self.isa)
        return self.guest

    def _restored(self, snapshot: str) -> bool:
        """Whether the guest has this snapshot, and is there again."""
        if self._guest is None:
            return False
        try:
            self._guest.restore(snapshot)
        except UsageError:
            return False  # It has none of that name.
        except HarnessError:
            # The debugger's state is unknown, or QEMU is gone: another snapshot is of no use.
            self.close()
            return False
        return True

    def _switch_on(self, memory: str, *, watched: bool) -> None:
        self.close()
        spec = self.variant.spec
        if memory:
            machine = spec.config.qemu.model_copy(update={"memory": memory})
            spec = replace(spec, config=spec.config.model_copy(update={"qemu": machine}))
        power_on = self._watched if watched else self.power_on
        self._running = power_on(spec, self.variant.kernel)
        self._guest = self._running.__enter__()
        self._guest.debugger.session.console(*_SETTINGS)

    @contextmanager
    def _watched(self, spec: GuestSpec, kernel: Path) -> Iterator[Guest]:
        # Until the end: a check may look at the records when the guest has been replaced.
        directory = self._until_end.enter_context(ScratchDirectory())
        oracle = Oracle(self.image, directory.path, capacity=RECORDS)
        self._oracle = self._until_end.enter_context(oracle)
        with self.power_on(spec, kernel, plugins=[oracle.argument]) as guest:
            yield guest

    @contextmanager
    def set_aside(self, *, again: bool = False) -> Iterator[None]:
        """Keep the guest for later: in this block another one is used, and ended behind it.

        With ``again`` that one is kept too, and is there in the next such block.  If a block fails,
        its guest stays for evidence, and the first one is ended.
        """
        if not self.rewinds:
            yield
            self.close()
            return
        with ExitStack() as stack:
            aside = self._take_out()
            stack.callback(_end, aside)
            if again:
                self._put_in(self._other)
                self._other = None
            yield
            if again:
                self._other = self._take_out()
            self.close()
            stack.pop_all()
            self._put_in(aside)

    def _take_out(self) -> _Started | None:
        if self._running is None or self._guest is None:
            return None
        started = _Started(self._running, self._guest, self.registers, self._oracle)
        self._running = self._guest = None
        return started

    def _put_in(self, started: _Started | None) -> None:
        if started is not None:
            self._running, self._guest, self.registers, self._oracle = started

    def end(self) -> None:
        """End all guests."""
        self.close()
        _end(self._other)
        self._other = None
        self._until_end.close()

    def _as_booted(self, memory: str) -> None:
        self._forget_modules()
        self.used.clear()
        self.actions.forget(memory)
        self.slots.update(dict.fromkeys(self.slots, False))

    def _forget_modules(self) -> None:
        images = [self.image, *([self._guest.image] if self._guest else [])]
        for image in images:
            for name in list(image.modules):
                image.remove_module(name)

    def close(self) -> None:
        """End the guest."""
        self._forget_modules()
        running, self._running, self._guest = self._running, None, None
        if running is not None:
            running.__exit__(None, None, None)

    def run_to(self, *places: str | int, on_the_way: Iterable[int] = ()) -> int:
        """Run the guest up to one of these functions or addresses; returns which.

        `Hang` if it hangs (`HangDetector`); `GuestDied` if it panics or ends its machine.  What is
        ``on_the_way`` stops it too, and is not named then.
        """
        guest, machine = self.guest, self.guest.machine
        assert isinstance(machine, Machine), "the bench starts its guests itself"
        addresses = [self._address(place) for place in (*places, *on_the_way)]
        detector: HangDetector | None = None
        while True:
            try:
                outcome = guest.run(until=addresses, seconds=SLICE, again=True)
            except HostError as error:
                # If the guest resets its machine, QEMU exits with status 0; if QEMU is killed, it
                # does not.
                if machine.ended(timeout=1.0) and machine.child.status == 0:
                    report = machine.exit_report()
                    raise GuestDied("the guest ended its machine", "", report) from error
                raise
            if outcome is not Outcome.ELAPSED and guest.debugger.stop is not None:
                return guest.debugger.stop.address & self.isa.mask
            # Most runs are shorter than one slice.
            detector = detector or HangDetector(machine.pid, self.config.qemu.smp)
            if detector.hangs or jumps_to_itself(guest, self.registers):
                wanted = " or ".join(
                    self.image.symbolize(address) for address in addresses[: len(places)]
                )
                raise Hang(f"the guest did not come to {wanted}", "", guest.describe())

    def enter(self, function: int, *arguments: int) -> dict[str, int]:
        """Set the guest to the start of a function that will return to CALL_RETURNS.

        Returns the registers to restore afterwards.
        """
        self.actions.done.append(Called(function, arguments))
        before = self.registers.state()
        stack, returns = before[self.isa.abi.stack_register], self._address(CALL_RETURNS)
        self.registers.enter(function, arguments, stack, returns)
        return before

    @property
    def cpu(self) -> int:
        """The CPU that stopped."""
        return (self.guest.debugger.selected_thread or 1) - 1

    def read_memory(self, address: int, size: int) -> bytes:
        """Memory of the guest."""
        return self.guest.debugger.read_memory(address, size)

    def write_memory(self, address: int, data: bytes) -> None:
        """Write memory or text of the guest, and add it to `actions`."""
        self.actions.done.append(Written(address, data))
        self.guest.debugger.write_memory(address, data)

    def where(self) -> str:
        """The state of the guest, for evidence."""
        try:
            return self.guest.describe() if self._guest is not None else "(no guest)"
        except HarnessError as error:
            return f"nothing can be seen of the guest: {error.message}"

    # Memory

    def word(self, symbol: str) -> int:
        """A kernel variable of type ``unsigned long`` or a pointer."""
        return self.word_at(self.image.address_of(symbol))

    def word_at(self, address: int) -> int:
        """The same, by its address."""
        raw = self.read_memory(address, self.isa.word_size)
        return int.from_bytes(raw, self.image.byteorder)

    def _address(self, place: str | int) -> int:
        return (self.image.symbols[place] if isinstance(place, str) else place) & self.isa.mask
