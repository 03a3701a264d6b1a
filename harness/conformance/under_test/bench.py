# SPDX-License-Identifier: MIT
"""The guest of a check, of one build of a port, and the results of the check."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager

from harness.conformance.catalogue import BuildKind, load_catalogue
from harness.conformance.places import faulted, hung, place_of, subject_of, with_macro
from harness.conformance.under_test.actions import EFFECTS, Actions
from harness.conformance.under_test.build_guest import CALL_RETURNS, BuildGuest, Variant
from harness.conformance.under_test.hang import Hang, NeverBoots, PortRefused, subject_of_end
from harness.conformance.verdict import BOOT, CALLED, MASK, Failure, Layer, Place
from harness.errors import GdbError, GuestError, HarnessError
from harness.tracer import PortCalls

EVERYWHERE: Mapping[str, Sequence[str]] = {}
"""The same clauses fail, whatever function the guest died in."""


class SingleFailure(Exception):
    """The failure after which the checks end."""


class Bench(BuildGuest):
    """The guest of the checks of one build, and their results.

    A check reports each observation with `require`.  If the guest dies or hangs instead, all
    clauses of `fail_if_guest_dies` fail.
    """

    def __init__(self, variant: Variant, enough: Callable[[str, str], bool] | None = None) -> None:
        """``enough``: whether the checks end when this clause has failed with this message.

        With it no failure gets a place in the port.
        """
        judges_clock = enough is None and variant.name == BuildKind.DYNAMIC
        super().__init__(variant, judges_clock=judges_clock)
        self._enough = enough
        self._check, self._layer = "", Layer.WORKLOAD
        self._died = False
        self.patched: list[tuple[str, int, Actions]] = []
        """Failures of patching functions: clause, number, and the actions that led to them."""
        self.kept_words: dict[int, Place | None] = {}  # Where words were made wrong at boot.
        self.locate: Callable[[], Place | None] | None = None
        """Finds the port's last instruction before the guest died, by repeating the actions."""
        self.clauses_if_dead: Sequence[str] = ()
        self.inside: Mapping[str, Sequence[str]] = EVERYWHERE
        self.judged: dict[str, set[str]] = {}
        self.failures: dict[str, list[Failure]] = {}
        self._asked: tuple[str, ...] = ()
        self.unfinished: dict[str, set[str]] = {}
        """For clauses, the checks that could not finish."""

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
            found = self._located(place) or subject_of(self.image, self.variant.spec.port, clause)
            failure = Failure(
                self._check,
                self.variant.name,
                message,
                shown,
                layer=self._layer,
                place=found and with_macro(self.variant.spec.port.directory, found),
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
        raised = None
        if self._enough is None:
            # A guest that does not boot may be gone.
            raised = error.place if isinstance(error, NeverBoots) else faulted(self._guest)
        found = None if boot else self._located(self.locate)
        if isinstance(error, PortRefused) and (found or self._enough is not None):
            self._layer = Layer.PATCHING
        home = [*map(self.isa.hex, self.registers.home_words)]
        about = BOOT if boot else subject_of_end(error, seen, home)
        if isinstance(error, Hang) and self._enough is None and (not found or found.how == CALLED):
            found = hung(self.guest) or found
        self._died = True
        clauses = self._asked if boot else self.clauses_if_dead
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

    # Calls

    @property
    def port(self) -> PortCalls:
        """The port's own functions."""
        return PortCalls(self.image, self)

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
