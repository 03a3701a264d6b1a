# SPDX-License-Identifier: MIT
"""The guest of a check, of one build of a port, and the results of the check."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from pathlib import Path

from harness.conformance.actions import EFFECTS, Actions, Called, Written
from harness.conformance.catalogue import BuildKind, load_catalogue
from harness.conformance.clock import take_snapshot
from harness.conformance.hang import Hang, HangDetector, NeverBoots, PortRefused, subject_of_end
from harness.conformance.live_text import Changes, LiveCode, LiveSites
from harness.conformance.places import executed, faulted, place_of, subject_of
from harness.conformance.registers import RegisterFile
from harness.conformance.verdict import BOOT, CALLED, HUNG, MASK, Failure, Layer, Place
from harness.errors import GdbError, GuestDied, GuestError, HarnessError, HostError
from harness.guest import Guest, Outcome, run_kernel
from harness.image import RunningImage
from harness.isa import Form, Isa
from harness.kbuild import GuestSpec
from harness.machine import Machine
from harness.tracer import PortCalls

SLICE = 0.25
CALL_RETURNS = "workload_done"
"""The return address of calls by the debugger: this function runs only when the workload ends."""
START, PANIC = "workload", "panic"

EVERYWHERE: Mapping[str, Sequence[str]] = {}
"""The same clauses fail, whatever function the guest died in."""


class SingleFailure(Exception):
    """The failure after which the checks end."""


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


class Bench:
    """One guest under test.  A check may leave it in any state; `fresh` restores it as booted.

    A check reports each observation with `require`.  If the guest dies or hangs instead, all
    clauses of `fail_if_guest_dies` fail.
    """

    def __init__(self, variant: Variant, enough: Callable[[str, str], bool] | None = None) -> None:
        """``enough``: whether the checks end when this clause has failed with this message.

        With it no failure gets a place in the port.
        """
        self.variant, self.config = variant, variant.spec.effective_config
        self.kernel = variant.spec.port.kernel
        self._enough = enough
        self._judges_machine = enough is None and variant.name == BuildKind.DYNAMIC
        self.image = RunningImage(variant.kernel.read_bytes(), str(variant.kernel))
        self.isa: Isa = self.image.isa
        self.form: Form = self.config.build.form
        self.code, self.sites = LiveCode(self), LiveSites(self)
        self.rewinds = self.config.qemu.snapshots  # Without, a guest is made fresh by a boot.
        self.power_on: Callable[..., AbstractContextManager[Guest]] = run_kernel
        self._running: AbstractContextManager[Guest] | None = None
        self._guest: Guest | None = None
        self.registers: RegisterFile  # Of the guest, from its boot on.
        self._check, self._layer = "", Layer.WORKLOAD
        self._died = self._booting = False
        self.never_boots: NeverBoots | None = None  # How the guest of this build died at boot.
        self.actions = Actions()
        self.patched: list[tuple[str, int, Actions]] = []
        """Failures of patching functions: clause, number, and the actions that led to them."""
        self.kept_words: dict[int, Place | None] = {}  # Where words were made wrong at boot.
        self.used: set[str] = set()  # Tracers that were on since the guest was fresh.
        self.by_port = True  # The port's functions switch tracers, and not the debugger.
        self.slots = {"function": False, "graph": False}  # What is on.
        self.locate: Callable[[], Place | None] | None = None
        """Finds the port's last instruction before the guest died, by repeating the actions."""
        self.clauses_if_dead: Sequence[str] = ()
        self.inside: Mapping[str, Sequence[str]] = EVERYWHERE
        self.judged: dict[str, set[str]] = {}
        self.failures: dict[str, list[Failure]] = {}
        self._asked: tuple[str, ...] = ()
        self.unfinished: dict[str, set[str]] = {}
        """For clauses, the checks that could not finish."""

    # Results

    def begin(self, check: str, clauses: tuple[str, ...], layer: Layer = Layer.WORKLOAD) -> None:
        """The following results are those of this check."""
        self._check, self.clauses_if_dead, self._asked = check, clauses, clauses
        self._layer, self.locate, self._died = layer, None, False
        self.inside = EVERYWHERE
        self.used.clear()

    def require(
        self,
        clause: str,
        holds: bool,
        message: str,
        place: Callable[[], Place | None] | None = None,
        about: str = "",
        /,
        **evidence: object,
    ) -> bool:
        """Record whether a requirement of the clause ``holds``; the message says what is wrong.

        Values of ``evidence`` may be functions.  They are called only if it does not hold, and then
        ``place``.  Without evidence, the state of the guest is the evidence.
        """
        self.judged.setdefault(clause, set()).add(self._check)
        if not holds:
            enough = self._enough is not None and self._enough(clause, message)
            shown = {key: value() if callable(value) else value for key, value in evidence.items()}
            if not any(shown.values()):
                shown["guest"] = self.where()
            failure = Failure(
                self._check,
                self.variant.name,
                message,
                shown,
                layer=self._layer,
                place=self._located(place)
                or subject_of(self.image, self.variant.spec.port, clause),
                died=self._died,
                used=frozenset(self.used),
                about=about,
                patching=self.actions.patching(self.image) if self._layer is Layer.PATCHING else "",
            )
            self.failures.setdefault(clause, []).append(failure)
            if enough:
                raise SingleFailure
            if self._enough is None and self._layer is Layer.PATCHING and place is None:
                number = len(self.failures[clause]) - 1
                self.patched.append((clause, number, self.actions.so_far()))
        return holds

    def mark_unfinished(self) -> None:
        """The check ends before it has judged all of its clauses."""
        for clause in self._asked:
            self.unfinished.setdefault(clause, set()).add(self._check)

    def guest_died(self, error: HarnessError) -> None:
        """The check could not continue: all clauses of `fail_if_guest_dies` fail."""
        self.mark_unfinished()
        seen = error.evidence or self.where()
        boot = isinstance(error, NeverBoots) or (self._booting and self.locate is None)
        if isinstance(error, PortRefused):
            self._layer = Layer.PATCHING
        raised = None if boot or self._enough is not None else faulted(self._guest)
        found = None if boot else self._located(self.locate)
        home = [*map(self.isa.hex, self.registers.home_words)]
        about = BOOT if boot else subject_of_end(error, seen, home)
        if isinstance(error, Hang) and self._enough is None and (not found or found.how == CALLED):
            found = executed(self.guest, HUNG) or found
        self._died, clauses = True, self._asked if boot else self.clauses_if_dead
        if died_in := raised or found:
            clauses = self.inside.get(died_in.function, clauses)
        evidence = {"advice": [error.advice] if error.advice else [], "guest": seen}
        for clause in clauses:
            self.require(clause, False, error.message, lambda: found or raised, about, **evidence)

    def _located(self, locate: Callable[[], Place | None] | None) -> Place | None:
        """The result of ``locate``, which single-steps; None if the guest fails during it."""
        if self._enough is not None:
            return None
        used = set(self.used)
        try:
            if locate is not None:
                return locate()
        except (GuestError, GdbError):
            return None
        finally:
            self.used = used  # Of the observation, and not of the search.
        called = self.image.symbols.get(self.actions.patching(self.image))
        if called is None or self._layer is not Layer.PATCHING:
            return None
        return place_of(self.image, called, CALLED)

    def applies(self, clause: str) -> bool:
        """Whether a clause applies to this config."""
        return load_catalogue()[clause].applies_to(self.config)

    # The guest

    @property
    def guest(self) -> Guest:
        """The guest as the check has left it; call `fresh` first."""
        assert self._guest is not None, "fresh() makes the guest"
        return self._guest

    def fresh(self, memory: str = "") -> Guest:
        """The guest, stopped before its workload, as if just booted; with ``memory``, if given."""
        self._forget_modules()
        self._as_booted(memory)
        if memory:
            return self.start(memory)
        if self._guest is not None and self.rewinds:
            try:
                self._guest.restore(START)
            except HarnessError:
                # The debugger's state is unknown, or QEMU is gone: take a new guest.
                self.close()
            else:
                self._booting = False
                return self._guest
        guest = self.start()
        if self.rewinds:
            take_snapshot(guest, START, with_clock=self._judges_machine)
        return guest

    def reaches_workload(self) -> bool:
        """Whether the guest gets as far as its workload, with no tracer on."""
        try:
            self.fresh()
        except NeverBoots:
            return False
        return True

    def start(self, memory: str = "", plugins: Sequence[str] = (), changes: Changes = ()) -> Guest:
        """A new guest, stopped before its workload; `NeverBoots` if it does not get there.

        ``changes`` are written in front of its first instruction, each to its address.
        """
        if self.never_boots is not None:
            raise self.never_boots
        guest = self.boot(memory, plugins)
        for address, data in changes:
            self.write_memory(address, data)
        try:
            self.run_to(START)
        except GuestDied as error:
            self.never_boots = NeverBoots(error.message, error.advice, error.evidence)
            raise self.never_boots from error
        self._booting = False
        if not self.by_port:
            self.sites.put_right(self.code, changes)
        return guest

    def boot(self, memory: str = "", plugins: Sequence[str] = ()) -> Guest:
        """A new guest, at its first instruction."""
        self.close()
        self._as_booted(memory)
        self._booting = True
        spec = self.variant.spec
        if memory:
            machine = spec.config.qemu.model_copy(update={"memory": memory})
            spec = replace(spec, config=spec.config.model_copy(update={"qemu": machine}))
        self._running = self.power_on(spec, self.variant.kernel, plugins=plugins)
        self._guest = self._running.__enter__()
        self.registers = RegisterFile(self._guest.debugger, self.isa)
        return self._guest

    def _as_booted(self, memory: str) -> None:
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

    def run_to(self, *places: str | int) -> int:
        """Run the guest up to one of these functions or addresses; returns which.

        `Hang` if it hangs (`HangDetector`); `GuestDied` if it panics or ends its machine.
        """
        guest, machine = self.guest, self.guest.machine
        assert isinstance(machine, Machine), "the bench starts its guests itself"
        addresses = [self._address(place) for place in places]
        detector = HangDetector(machine.pid, self.config.qemu.smp)
        while True:
            try:
                outcome = guest.run(until=addresses, seconds=SLICE)
            except HostError as error:
                # If the guest resets its machine, QEMU exits with status 0; if QEMU is killed, it
                # does not.
                if machine.ended(timeout=1.0) and machine.child.status == 0:
                    report = machine.exit_report()
                    raise GuestDied("the guest ended its machine", "", report) from error
                raise
            if outcome is not Outcome.ELAPSED and guest.debugger.stop is not None:
                return guest.debugger.stop.address & self.isa.mask
            if detector.hangs:
                wanted = " or ".join(self.image.symbolize(address) for address in addresses)
                raise Hang(f"the guest did not come to {wanted}", "", guest.describe())

    def call(self, function: int, *arguments: int) -> int:
        """Call a function in the guest and return its ``int``; the registers are restored.

        Unlike gdb's own call this ends with `Hang` or `GuestDied` if the guest hangs or panics.
        """
        result = self.call_for_word(function, *arguments) & 0xFFFFFFFF
        return result - (result >> 31 << 32)

    def call_for_word(self, function: int, *arguments: int) -> int:
        """The same for a function that returns an ``unsigned long`` or a pointer."""
        before = self.enter(function, *arguments)
        self.run_to(CALL_RETURNS)
        after = self.registers.state()
        self._judge_mask(before, after)
        self.registers.put_back(before, after)
        return after[self.isa.abi.results[0]] & self.isa.mask

    def _judge_mask(self, before: Mapping[str, int], after: Mapping[str, int]) -> None:
        """Patching functions leave interrupts masked or enabled."""
        name, mask = self.actions.patching(self.image), self.isa.cpu.interrupt_mask
        status = self.isa.abi.status_registers[0]
        if name in EFFECTS and mask(before[status]) != mask(after[status]):
            layer, self._layer = self._layer, Layer.PATCHING
            told = {status: f"{before[status]:#x} -> {after[status]:#x}"}
            message = f"{name}() returned with another interrupt mask"
            self.require(EFFECTS[name], False, message, None, MASK, registers=told)
            self._layer = layer

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

    @property
    def port(self) -> PortCalls:
        """The port's own functions."""
        return PortCalls(self.image, self)

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

    @contextmanager
    def fail_if_guest_dies(
        self,
        *clauses: str,
        locate: Callable[[], Place | None] | None = None,
        inside: Mapping[str, Sequence[str]] = EVERYWHERE,
    ) -> Iterator[None]:
        """If the guest dies in this block, these clauses fail; ``locate`` finds the place.

        ``inside`` gives other clauses that fail instead if it dies in one of its functions.
        """
        before = self.clauses_if_dead, self.locate, self.inside
        self.clauses_if_dead, self.locate, self.inside = clauses, locate, inside
        yield
        self.clauses_if_dead, self.locate, self.inside = before

    def _address(self, place: str | int) -> int:
        return (self.image.symbols[place] if isinstance(place, str) else place) & self.isa.mask
