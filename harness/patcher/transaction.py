# SPDX-License-Identifier: MIT
"""Applies a plan: read, compare, write, read back; on any failure restore everything."""

from collections.abc import Callable, Collection, Iterable
from typing import Protocol

from harness.errors import DeadlineMissed, GuestError, HarnessError, SiteMismatch
from harness.patcher.plan import GAP, Patch, PatchPlan, Span

MAX_STEPS = 500
"""Single steps after which a CPU is considered stuck."""

MAX_RUNS = 100
"""How often the guest may run until all threads have left such places."""

Disassemble = Callable[[bytes, int], Iterable[object]]


class Text(Protocol):
    """The guest's text through the debug stub (TCG does not notice other writes)."""

    def dump_memory(self, address: int, size: int) -> bytes: ...
    def restore_memory(self, address: int, data: bytes) -> None: ...


class Cpus(Protocol):
    """The stopped CPUs of the guest, and where its threads will continue."""

    def program_counters(self) -> dict[int, int]:
        """The program counter of every CPU by its number."""
        ...

    def step(self, cpu: int) -> None:
        """Execute exactly one instruction on one CPU."""
        ...

    def enters(self, pc: int) -> bool:
        """Whether ``pc`` is in interrupt entry code, before the interrupted address is saved."""
        ...

    def saved_contexts(self) -> dict[str, int]:
        """Where preempted threads and interrupted frames continue, by names for messages."""
        ...

    def run_to(self, address: int) -> None:
        """Run all CPUs until one reaches ``address``; DeadlineMissed if none does."""
        ...

    def run_briefly(self) -> None:
        """Run all CPUs for a moment."""
        ...


def apply(
    plan: PatchPlan, text: Text, cpus: Cpus, disassemble: Disassemble, gap: int = GAP
) -> None:
    """Write every patch of ``plan``, or none; those closer than ``gap`` bytes in one transfer.

    Raises:
        SiteMismatch: a word is not the expected one; nothing was written.
        GuestError: a CPU or a thread cannot be moved out of a site, or a write did not arrive; what
            had been written is back as it was.
        HarnessError: as raised by the transport; what had been written is put back if the
            transport still allows it, and the message says so if not.
    """
    move_out(plan, cpus)
    spans = list(plan.spans(gap))
    before = [text.dump_memory(span.address, span.size) for span in spans]
    for span, memory in zip(spans, before, strict=True):
        _verify(span, memory, disassemble)
    written: list[tuple[Span, bytes]] = []
    try:
        for span, memory in zip(spans, before, strict=True):
            written.append((span, memory))
            text.restore_memory(span.address, span.patched(memory))
        for span, memory in written:
            if text.dump_memory(span.address, span.size) != span.patched(memory):
                raise GuestError(f"the text at {span.address:#x} did not take what was written")
    except BaseException as failure:
        _put_back(written, text, failure)
        raise


def move_out(plan: PatchPlan, cpus: Cpus) -> None:
    """Move every CPU and thread out of the sites that are to change.

    A CPU is stepped.  For a thread that does not run, the guest runs until that thread has
    continued.
    """
    inside = {address for patch in plan for address in patch.interior}
    unsafe = {address: patch for patch in plan for address in patch.unsafe}
    if not unsafe:
        return
    for _ in range(MAX_RUNS):
        stuck = _step_out(inside, cpus)
        if stuck:
            # A handler may wait for some time to pass; the clock runs during steps.
            cpus.run_briefly()
            continue
        saved = [(what, pc) for what, pc in cpus.saved_contexts().items() if pc in unsafe]
        if not saved:
            return
        what, pc = saved[0]
        stuck = f"{what} at {pc:#x}"
        try:
            cpus.run_to(unsafe[pc].behind)
        except DeadlineMissed as error:
            raise _stuck(stuck) from error
    raise _stuck(stuck)


def _step_out(inside: Collection[int], cpus: Cpus) -> str:
    """Step each CPU until it is outside, and its interrupted address is known.

    Returns the name of the first one that does not get there; empty if all do.
    """
    for cpu, pc in cpus.program_counters().items():
        steps = 0
        while pc in inside or cpus.enters(pc):
            if steps == MAX_STEPS:
                return f"CPU {cpu} at {pc:#x}"
            cpus.step(cpu)
            steps += 1
            pc = cpus.program_counters()[cpu]
    return ""


def _stuck(who: str) -> GuestError:
    return GuestError(
        f"{who} does not leave a call site that is to change; nothing has been changed",
        "Let the guest run on to another place, then repeat this.",
    )


def _verify(span: Span, memory: bytes, disassemble: Disassemble) -> None:
    wrong = [patch for patch in span.patches if span.found(memory, patch) != patch.old]
    if not wrong:
        return
    first = wrong[0]
    raise SiteMismatch(
        f"{first.what} at {first.address:#x} does not hold the expected words"
        + (f", nor do {len(wrong) - 1} more sites" if len(wrong) > 1 else "")
        + "; nothing has been changed",
        "Compare the text with the image (list sites), or start the guest afresh.",
        "\n".join(_mismatch(span, memory, patch, disassemble) for patch in wrong[:8]),
    )


def _mismatch(span: Span, memory: bytes, patch: Patch, disassemble: Disassemble) -> str:
    lines = [f"{patch.what}:"]
    for label, code in (("expected", patch.old), ("found", span.found(memory, patch))):
        lines += [f"  {label:8} {line}" for line in disassemble(code, patch.address)]
    return "\n".join(lines)


def _put_back(written: list[tuple[Span, bytes]], text: Text, failure: BaseException) -> None:
    try:
        for span, memory in reversed(written):
            text.restore_memory(span.address, memory)
    except HarnessError as second:
        failure.add_note(f"the text could not be put back either: {second.message}")
