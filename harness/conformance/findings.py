# SPDX-License-Identifier: MIT
"""Findings: the failures of all builds of a port, grouped by what causes them."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harness.conformance.verdict import BOOT, CALLED, REFUSAL, WROTE, Failure, Finding, Layer

_NUMBER = re.compile(r"0x[0-9a-f]+|\b\d+\b")
_SITE = re.compile(r"^[\w.$]+: ")
_CALL = re.compile(
    r"^(the first call of the workload|an?( \w+)? call of [\w.$]+"
    r"( that is traced too| with (the site \w+|no tracer|function_trace_stop))?):? "
)
"""What a message begins with that is about one call."""

OF_SLOTS = ("ftrace_update_ftrace_func", "ftrace_enable", "ftrace_disable", "ftrace_modify_graph")
"""What the names of the port's functions begin with that patch the slots of tracers."""

MAINTENANCE = ("C9j", "C9k")

COMBINATIONS = "every-combination-of-features"
AT_BOOT = ("the-first-call-at-boot", "switching-off-at-boot")
"""Checks of a guest that does not come to its workload."""
OF_BOOT = ("C9a", "C3c")
"""What a guest that dies at boot breaks if nothing more is known: its sites cannot be switched off,
or, in a static build, a call that nobody traces goes wrong."""

Told = tuple[str, Failure]
"""A failure, and the clause that it is of."""


@dataclass
class _Group:
    """Failures that have something in common which only one cause explains."""

    told: list[Told] = field(default_factory=list)
    followed: list[Told] = field(default_factory=list)
    """What follows from them."""

    @property
    def layer(self) -> Layer:
        return min(failure.layer for _, failure in self.told)

    @property
    def aspects(self) -> set[str]:
        """What of patching they are about; nothing for those of another layer."""
        return {
            aspect_of(c, failure) for c, failure in self.told if failure.layer is Layer.PATCHING
        }

    @property
    def subjects(self) -> set[str]:
        """What is patched wrongly."""
        return {_subject(failure) for _, failure in self.told if failure.layer is Layer.PATCHING}

    @property
    def at_boot(self) -> bool:
        """Whether nothing was seen but that the guest does not come to its workload."""
        return all(failure.about == BOOT for _, failure in self.told)

    @property
    def leading(self) -> Told:
        """What shows it best: in the lowest layer, by a guest that lived, with a place."""
        return min(self.told, key=_less_telling)


def _less_telling(one: Told) -> tuple[bool, Layer, bool, bool]:
    clause, failure = one
    vague = failure.about == BOOT and clause not in OF_BOOT
    return vague, failure.layer, failure.died, failure.place is None


def find(told: Sequence[Told], order: Sequence[str]) -> list[Finding]:
    """One finding for each cause, those first that others may follow from.

    ``told`` is in the order of the checks; ``order`` are the clauses of the catalogue.  Failures
    are of one cause if they come from one place of the port, or say the same but for names and
    numbers, or if an experiment has shown it (`Failure.cause`).  What was seen of a whole workload
    follows from what goes wrong in one call, or earlier in another check, on the way that the
    workload takes through the port.
    """
    groups = sorted(_groups(told), key=lambda group: (group.at_boot, group.layer))
    roots: list[_Group] = []
    for group in groups:
        root = next((other for other in roots if _follows(group, other)), None)
        if root is None:
            roots.append(group)
        else:
            root.followed += group.told
    return [_finding(group, order) for group in roots]


def _groups(told: Sequence[Told]) -> list[_Group]:
    groups: list[_Group] = []
    held: dict[object, _Group] = {}
    for one in told:
        keys = list(_keys(*one))
        met = list({id(held[key]): held[key] for key in keys if key in held}.values())
        group = met[0] if met else _Group()
        if not met:
            groups.append(group)
        for other in met[1:]:
            group.told += other.told
            groups.remove(other)
            held.update({key: group for key, value in held.items() if value is other})
        group.told.append(one)
        held.update(dict.fromkeys(keys, group))
    return groups


def _keys(clause: str, failure: Failure) -> Iterator[object]:
    """What two failures of one cause have in common."""
    if failure.cause is not None:
        yield from _keys(*failure.cause)
        return
    place = failure.place
    if failure.layer is Layer.PATCHING and failure.about != BOOT:
        yield _subject(failure), aspect_of(clause, failure)
        if place is not None and place.how not in (CALLED, WROTE):
            yield place.file, place.line, aspect_of(clause, failure)
        return
    if place is not None:
        yield place.function, place.file, place.line
    if failure.about:
        yield failure.about
    if not failure.died:
        # The same of another call is the same, whichever check has had it made.
        check = "" if failure.layer is Layer.CALL else failure.check
        yield check, shape(failure.message)
    elif place is None:
        yield failure.check, "died"


def _subject(failure: Failure) -> str:
    """What is patched: the call sites, or the slots of the tracers."""
    return "slots" if failure.patching.startswith(OF_SLOTS) else "call sites"


def aspect_of(clause: str, failure: Failure) -> str:
    """What of it: the words that are written, what is refused, or how they become visible."""
    if clause in MAINTENANCE:
        return clause
    return "refused" if failure.about == REFUSAL else "words"


def shape(message: str) -> str:
    """A message without the call or the site that it begins with, and without numbers."""
    return _NUMBER.sub("#", _SITE.sub("", _CALL.sub("", message)))


def _follows(group: _Group, root: _Group) -> bool:
    """Whether the failures of a group follow from what the root's were seen of."""
    if group.at_boot:
        return any(failure.check in AT_BOOT for _, failure in root.told)
    if group.layer is Layer.PATCHING:
        # Words that are wrong are refused, or accepted, when they are to be replaced.
        return (
            root.aspects == {"words"}
            and group.aspects == {"refused"}
            and (root.subjects & group.subjects != set())
        )
    # The combinations of features have no checks of their own that could tell.
    alone = all(failure.check == COMBINATIONS for _, failure in group.told)
    died = all(failure.died and failure.place is None for _, failure in group.told)
    if group.layer is not Layer.WORKLOAD and not (group.layer is Layer.CALL and died):
        return False
    if root.layer not in (Layer.CALL, Layer.WORKLOAD) and not alone:
        return False
    return all(
        any(_same_way(failure, other) for _, other in root.told) for _, failure in group.told
    )


def _same_way(failure: Failure, earlier: Failure) -> bool:
    """In a build of the same kind, with no tracer that the later one has not switched on too."""
    return bool(_kinds(failure) & _kinds(earlier)) and earlier.used <= failure.used


def _kinds(failure: Failure) -> frozenset[str]:
    kinds = {"dynamic": ("dynamic",), "modules": ("dynamic",)}
    return frozenset(kinds.get(failure.variant, ("static",)))


def _finding(group: _Group, order: Sequence[str]) -> Finding:
    clause, failure = group.leading
    places = (
        other.place
        for _, other in group.told
        if other.place is not None and other.layer is failure.layer
    )
    place = failure.place or next(places, None)
    every = [*group.told, *group.followed]
    blocks = {other for other, _ in every} - {clause}
    return Finding(clause, failure.message, place, every, sorted(blocks, key=order.index))
