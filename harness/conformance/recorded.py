# SPDX-License-Identifier: MIT
"""Repeat a failure in a recorded run, and go to the wrong place in its replay."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from harness.conformance.checks import all_checks
from harness.conformance.engine import run_on
from harness.conformance.findings import shape
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import Variant
from harness.conformance.variants import build_variant, variant_of
from harness.conformance.verdict import Failure, Finding
from harness.errors import GuestError, HarnessError, HostError, UsageError
from harness.files import ScratchDirectory, atomic_file
from harness.guest import FAULT_LINES, Guest, find_fault, run_kernel
from harness.kbuild import GuestSpec
from harness.replay import Recorder, ReplayedGuest, move_recording, open_replay


@dataclass(slots=True)
class _Run:
    """The recorded run of one guest, which ends before the guest does; ``saved``: it is on disk."""

    recorder: Recorder
    trace: Path
    ended: bool = False
    saved: bool = False

    def end(self, guest: Guest) -> None:
        """The recording is over; its events, as far as they can be read, are in the trace."""
        if self.ended:
            return
        self.ended = True
        guest.debugger.journal = None
        # A guest may have died before it had a ring buffer, and may have ended QEMU.
        with suppress(HarnessError):
            self.recorder.ends()
        with suppress(HarnessError):
            _save_events(guest, self.trace)


def _save_events(guest: Guest, trace: Path) -> None:
    guest.collector.drain()
    with atomic_file(trace) as stream:
        guest.tracer.write(stream, ask=False)


class RecordedBench(Bench):
    """A bench that records each of its guests.  The checks end with the wanted failure.

    ``found`` is the run with that failure, complete when the bench is closed.
    """

    def __init__(self, variant: Variant, clause: str, failure: Failure, directory: Path) -> None:
        super().__init__(variant, self._is_wanted)
        # QEMU loads no snapshot while it records.
        self.rewinds = False
        self.power_on = self._recorded
        self._clause = clause
        self._failure = failure
        self._directory = directory
        self._count = 0
        self._run: _Run | None = None
        self._dead: _Run | None = None
        self.seen = False
        self.found: _Run | None = None

    @contextmanager
    def _recorded(
        self, spec: GuestSpec, kernel: Path, *, plugins: Sequence[str] = ()
    ) -> Iterator[Guest]:
        self._count += 1
        trace = self._directory / f"{self._count}.dat"
        run = _Run(Recorder(spec, trace), trace)
        try:
            with run_kernel(spec, kernel, replay=run.recorder.log, plugins=plugins) as guest:
                run.recorder.begins(guest)
                self._run = run
                yield guest
        finally:
            if run.ended:
                run.saved = run.recorder.save()
            else:
                run.recorder.discard()

    def run_to(self, *places: str | int, on_the_way: Iterable[int] = ()) -> int:
        """As `Bench.run_to`; a check may go on with another guest when this one has died."""
        try:
            return super().run_to(*places, on_the_way=on_the_way)
        except GuestError:
            self._dead = self._run
            if self._run is not None:
                self._run.end(self.guest)
            raise

    def close(self) -> None:
        """End the guest, and the recording of the wanted failure in it."""
        if self._run is not None and self._run is self.found:
            self._run.end(self.guest)
        self._run = None
        super().close()

    def _is_wanted(self, clause: str, message: str) -> bool:
        self.seen = clause == self._clause and shape(message) == shape(self._failure.message)
        if self.seen:
            self.found = self._dead if self._died else self._run
        return self.seen


def record_failure(spec: GuestSpec, finding: Finding, trace: Path) -> None:
    """Run the check that shows a finding again, and record the guest in which it fails.

    Raises:
        UsageError: no guest runs for it, or it cannot be replayed.
        GuestError: it does not fail again.
    """
    failure = finding.first
    check = next((one for one in all_checks() if one.name == failure.check), None)
    built = variant_of(spec, failure.variant) if check is not None else None
    if check is None or built is None:
        raise UsageError(f"{failure.check} runs no single guest, and there is none to go into")
    try:
        trace.parent.mkdir(parents=True, exist_ok=True)
        scratch = ScratchDirectory(trace.parent)
    except OSError as error:
        raise HostError(f"{trace.parent} cannot be written: {error.strerror}") from error
    with scratch:
        variant = build_variant(built, failure.variant)
        bench = RecordedBench(variant, finding.clause, failure, scratch.path)
        run_on(bench, [check])
        if not bench.seen:
            raise GuestError(
                f"{finding.clause} does not fail again in {failure.check} while the guest's clock "
                f"counts instructions: {failure.message}"
            )
        if bench.found is None or not bench.found.saved:
            raise UsageError(
                f"there is no run to go into: {finding.clause} fails before a guest runs, or QEMU "
                "has ended with it"
            )
        move_recording(bench.found.trace, trace)


@contextmanager
def replayed(
    trace: Path, finding: Finding, progress: Callable[[str], None] = lambda line: None
) -> Iterator[tuple[ReplayedGuest, str]]:
    """The guest of `record_failure` where its finding comes from, and a line about that.

    Errors are those of `open_replay`.
    """
    with open_replay(trace, progress) as guest:
        yield guest, _go_to(guest, finding)


def _go_to(guest: ReplayedGuest, finding: Finding) -> str:
    """Go to the last time that the place of a finding was executed, or to what died of it."""
    place = finding.first.place
    if place is not None and place.instruction and not place.is_hint:
        if _back_to(guest, place.address):
            return place.sentence
        return f"{place.function} was not at `{place.instruction}`: this is where it was seen"
    fault = find_fault(guest.debugger, guest.image, guest.machine.console.tail(FAULT_LINES))
    if fault is not None and fault.instruction is not None and _back_to(guest, fault.instruction):
        return fault.headline
    if place is not None and place.instruction and _back_to(guest, place.address):
        return place.sentence
    return "no instruction of the port is known for it: this is where it was seen"


def _back_to(guest: ReplayedGuest, address: int) -> bool:
    """Whether an instruction was executed, and the guest is in front of the last time."""
    place = address & guest.image.isa.mask
    if guest.replay.back_to(place):
        return True
    guest.replay.goto(guest.replay.end)
    return False
