# SPDX-License-Identifier: MIT
"""Findings: the failures of all builds of a port, grouped by cause."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from harness.conformance.verdict import (
    BOOT,
    CONSTANT,
    DECIDED_LAST,
    FRAME_POINTER,
    HALF_DONE,
    MASK,
    OTHERS_DATA,
    REACH,
    RECORDS,
    REFUSAL,
    SHARED,
    UNLOADED,
    WORDS,
    Failure,
    Finding,
    Layer,
    Place,
)

_NUMBER = re.compile(r"0x[0-9a-f]+|\b\d+\b")
_ADDRESS = re.compile(r"0x[0-9a-f]{5,}")
"""An address, or another long word.  Those in instructions of a macro differ where it is used."""
_SITE = re.compile(r"^[\w.$]+: ")
_CALL = re.compile(
    r"^(the first call of the workload|an?( \w+)? call of [\w.$]+"
    r"( that is traced too| with (the site \w+|no tracer|function_trace_stop))?):? "
)
"""How messages about one call begin."""
_CHANGE = re.compile(r"(0x[0-9a-f]+) -> (0x[0-9a-f]+)")
_PANIC = re.compile(r"Bad frame pointer: expected (0x[0-9a-f]+), received (0x[0-9a-f]+)")
"""Two values, of which the second is wrong: of a register, and in the kernel's panic."""
_COMBINATION = re.compile(r"^\w+ without [A-Z_, ]+: ")
"""How messages about a combination of features begin."""

OF_SLOTS = ("ftrace_update_ftrace_func", "ftrace_enable", "ftrace_disable", "ftrace_modify_graph")
"""Prefixes of the names of the port's functions that patch the slots of tracers."""

WHOLE, FETCHED, ORDERED = "C9j", "C9k", "C22b"
"""Clauses about single stores: each word is written at once, fetches see it afterwards, and other
CPUs see a literal before the branch."""
OF_STORES = (WHOLE, FETCHED, ORDERED)
"""Aspects of stores that are wrong whatever they write."""
REFUSALS = (REFUSAL, HALF_DONE, REACH)
OF_FRAME_POINTERS = ("C6a", "C6b")
"""Clauses about what the kernel panics of where it tests frame pointers."""
REFUSED = "a-call-that-the-graph-tracer-refuses"
"""A check in which no frame pointer is ever tested, unless its own clause is broken."""

POINTERS = "C1g"
"""The clause about the global and the thread pointer: C code does anything with a wrong one."""

SHORT_WAY = "C3d"
"""The clause about what is executed without a tracer."""
ONE_FACT = (SHORT_WAY, "C4b", "C16a")
"""Clauses that say that something does not happen: whatever shows that it does has one cause."""
CONDITIONS = ({"C3b", "C16a"}, {"C4d", "C4f"}, {"C13c", "C13d"})
"""Clauses about something that happens under a condition, and does not without it.  If both are
broken, the condition is tested wrongly."""
UNTRACED = frozenset({"C3c", "C4b"})
"""Clauses about what a call without a tracer changes."""

PRESUPPOSED = {
    "C6b": {"C18c"},
    "C19a": {"C18d"},
    "C19b": {"C18b"},
    "C19c": {"C18c"},
    "C21e": {"C21c"},
    "C22f": {"C18a", "C22a"},
    "C23b": {"C2a"},
    "C23d": {"C22c"},
    "C23f": {"C2a", "C22c", "C23a", "C23b", "C23c"},
}
"""Clauses without which another one cannot hold: what a tracer changes is where it reads it, the
kernel reads the frame pointer there too, what is judged on a site of a module or under an
interrupted CPU is right without that, and the kernel finds a trampoline by the ip that it gets."""

OF_UNWINDERS = frozenset({"C12b", "C14b"})
"""Clauses about unwinding; their failures cannot cause other failures."""

WITH_MODULES = frozenset({"modules", "static-modules"})
"""The builds with modules."""

SITES_OF_MODULES = "switching-module-sites"
IN_STEPS = ("stores-and-maintenance", "a-call-of-the-stub-behind-each-store")
AFTER_BOOT = "text-after-boot"
UNDER_NMIS = "an-nmi-while-a-site-is-patched"

COMBINATIONS = "every-combination-of-features"
AT_BOOT = ("the-first-call-at-boot", "switching-off-at-boot")
"""Checks of a guest that does not reach its workload."""
OF_BOOT = ("C8h", "C9a", "C3c")
"""The clause that a guest breaks by dying at boot: the port is not ready or, if nothing more is
known, its sites cannot be switched off or, in a static build, an untraced call fails."""

Told = tuple[str, Failure]
"""A failure and its clause."""


@dataclass(eq=False)
class _Group:
    """Failures that have one cause."""

    told: list[Told] = field(default_factory=list)
    followed: list[Told] = field(default_factory=list)
    """The groups that follow from this one."""

    @property
    def clauses(self) -> set[str]:
        """The clauses of its failures."""
        return {clause for clause, _ in self.told}

    @property
    def layer(self) -> Layer:
        return min(failure.layer for _, failure in self.told)

    @property
    def aspects(self) -> set[str]:
        """The aspects of patching that fail; empty for other layers."""
        return {
            aspect_of(c, failure) for c, failure in self.told if failure.layer is Layer.PATCHING
        }

    @property
    def subjects(self) -> set[str]:
        """The subjects of patching: call sites, or the slots of tracers."""
        return {_subject(failure) for _, failure in self.told if failure.layer is Layer.PATCHING}

    @property
    def writes_wrong_calls(self) -> bool:
        """Whether call sites get wrong words, or calls of what they cannot reach."""
        return "call sites" in self.subjects and bool(self.aspects & {WORDS, REACH})

    @property
    def spoils_untraced_calls(self) -> bool:
        """Whether calls go wrong while no tracer is on."""
        return any(clause in UNTRACED and not failure.used for clause, failure in self.told)

    @property
    def builds(self) -> set[str]:
        """The builds that fail."""
        return {failure.variant for _, failure in self.told}

    @property
    def first_builds(self) -> set[str]:
        """The builds that fail in the layer in which it is seen first."""
        return {failure.variant for _, failure in self.told if failure.layer is self.layer}

    @property
    def dies_with_modules(self) -> bool:
        """Whether all that was seen is that guests with modules do not load them, or die later."""
        lost = (failure.died or failure.about == UNLOADED for _, failure in self.told)
        return self.builds <= WITH_MODULES and all(lost)

    @property
    def at_boot(self) -> bool:
        """Whether all that was seen is that the guest does not reach its workload."""
        return all(failure.about == BOOT for _, failure in self.told)

    @property
    def leading(self) -> Told:
        """The best evidence: from the lowest layer, of a guest that survived, with a place."""
        return min(self.told, key=_less_telling)


def _less_telling(one: Told) -> tuple[bool, Layer, bool, bool, bool, bool]:
    clause, failure = one
    best = {BOOT: OF_BOOT, FRAME_POINTER: OF_FRAME_POINTERS}.get(failure.about, (clause,))
    refused = failure.about == FRAME_POINTER and failure.check == REFUSED
    vague = clause not in best and not refused
    # Wrong words are better evidence than an error that they caused, and sites are written
    # before slots.
    patching = failure.layer is Layer.PATCHING
    not_observed = patching and "found" not in failure.evidence
    slots = patching and _subject(failure) == "slots"
    return vague, failure.layer, failure.died, not_observed, slots, _cause_at(failure) is None


def _cause_at(failure: Failure) -> Place | None:
    """The failure's place, if failures with this place have one cause."""
    return None if failure.place is None or failure.place.is_hint else failure.place


def find(told: Sequence[Told], order: Sequence[str]) -> list[Finding]:
    """One finding for each cause, in an order in which later ones may follow from earlier ones.

    ``told`` is in the order of the checks; ``order`` are the clauses of the catalogue.  Failures
    have one cause if they come from one place of the port, if their messages differ only in names
    and numbers, or if an experiment has shown it (`Failure.cause`).  A failure of a whole workload
    follows from a failure of one call, or of an earlier check, if the workload uses the same path
    through the port.
    """
    groups = _groups(told)
    later = {group for group in groups if any(_presupposes(group, one) for one in groups)}
    groups.sort(key=lambda group: (group.at_boot, group.layer, group in later))
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
        # The group that was there first keeps its rank.
        met = [group for group in groups if any(held.get(key) is group for key in keys)]
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
    """The keys that two failures of one cause share."""
    if failure.cause is not None:
        yield from _keys(*failure.cause)
        return
    place = _cause_at(failure)
    if failure.about == RECORDS:
        # Whatever is written there.
        yield RECORDS
        return
    if failure.layer is Layer.PATCHING and failure.about != BOOT:
        if failure.about == UNLOADED:
            yield UNLOADED
        aspect = aspect_of(clause, failure)
        # Targets are encoded for sites as for slots.
        yield "" if aspect == REACH else _subject(failure), aspect
        # A wrong store is wrong in every check.
        if place is not None and (place.how not in SHARED or aspect in OF_STORES):
            yield place.file, place.line, aspect
        if place is not None and place.how in CONSTANT:
            yield place.file, place.line, place.how
        return
    if place is not None:
        yield place.function, place.file, place.line
        if place.macro:
            yield place.macro, _ADDRESS.sub("#", place.instruction)
    if failure.about:
        yield failure.about
    if clause in ONE_FACT:
        yield clause
    if not failure.died:
        # The same message about another call is the same failure, also from another check.
        check = "" if failure.layer is Layer.CALL else failure.check
        yield check, shape(failure.message)
    elif place is None:
        yield failure.check, "died"


def _subject(failure: Failure) -> str:
    """The subject of patching: the call sites, or the slots of tracers."""
    return "slots" if failure.patching.startswith(OF_SLOTS) else "call sites"


def aspect_of(clause: str, failure: Failure) -> str:
    """The aspect: the written words, the refused requests, the stores, or the interrupt mask."""
    if clause in OF_STORES:
        return clause
    if failure.about in (*REFUSALS, MASK, OTHERS_DATA):
        return failure.about
    return WHOLE if clause == "C10c" and failure.check in IN_STEPS else WORDS


def shape(message: str) -> str:
    """A message without the build, the call or the site at its beginning, and without numbers."""
    return _NUMBER.sub("#", _SITE.sub("", _CALL.sub("", _COMBINATION.sub("", message))))


def _follows(group: _Group, root: _Group) -> bool:
    """Whether the failures of a group follow from those of the root."""
    if group.at_boot:
        return any(failure.check in AT_BOOT for _, failure in root.told)
    if group.builds <= WITH_MODULES and _spoils_modules(root, group):
        return True
    sides = {group.leading[0], root.leading[0]}
    if sides in CONDITIONS and group.first_builds <= root.first_builds:
        return True
    if group.layer is Layer.PATCHING:
        died_in = {failure.patching for _, failure in root.told if failure.died}
        if all(failure.died and failure.patching in died_in for _, failure in group.told):
            return True
        # Wrong words may be refused or accepted when they are to be replaced.
        return (
            root.aspects == {WORDS}
            and group.aspects <= {*REFUSALS}
            and (root.subjects & group.subjects != set())
        )
    if root.layer is Layer.PATCHING and "call sites" in root.subjects:
        # An NMI sees the words that patching writes without one, and a call without a tracer
        # executes those that the boot has left.
        checks = {failure.check for _, failure in group.told}
        idle = group.layer is Layer.CALL and not any(failure.used for _, failure in group.told)
        if checks == {UNDER_NMIS} and root.aspects & {WORDS, WHOLE}:
            return True
        if idle and any(failure.check == AFTER_BOOT for _, failure in root.told):
            return True
    if group.leading[0] == SHORT_WAY and root.spoils_untraced_calls:
        return True
    if _presupposes(group, root) or _given_on(group, root):
        return True
    known = [failure for _, failure in (*root.told, *root.followed)]
    same = [any(_same_way(failure, other) for other in known) for _, failure in group.told]
    if POINTERS in root.clauses and group.layer is Layer.CALL and all(same):
        return True
    # No other checks run on the combinations of features.
    alone = all(failure.check == COMBINATIONS for _, failure in group.told)
    died = all(failure.died and _cause_at(failure) is None for _, failure in group.told)
    if group.layer is not Layer.WORKLOAD and not (group.layer is Layer.CALL and died):
        return False
    if root.layer not in (Layer.CALL, Layer.WORKLOAD) and not alone:
        return False
    if root.clauses <= OF_UNWINDERS and not group.clauses <= OF_UNWINDERS:
        return False
    # A group has one cause: a part of it shows that, if nothing speaks for another one.
    return any(same) if died or group.leading[0] == root.leading[0] else all(same)


def _presupposes(group: _Group, root: _Group) -> bool:
    """Whether what a group is about presupposes a clause that the root breaks."""
    return bool(PRESUPPOSED.get(group.leading[0], set()) & root.clauses)


def _given_on(group: _Group, root: _Group) -> bool:
    """Whether the kernel panics of what calls have made wrong, or an unwinder comes to it."""
    made = {one for _, failure in root.told for one in _wrong(failure)}
    return any(
        (wrong := _wrong(failure)) and wrong <= made
        for clause, failure in group.told
        if failure.about == FRAME_POINTER or clause in OF_UNWINDERS
    )


def _wrong(failure: Failure) -> set[object]:
    """The wrong words of a call, and the right and wrong values of registers."""
    if failure.layer is not Layer.CALL:
        return set()
    texts = (str(failure.evidence.get(one, "")) for one in ("registers", "guest"))
    expected, found = (str(failure.evidence.get(one, "")) for one in ("expected", "found"))
    words = {*_ADDRESS.findall(found)} - {*_ADDRESS.findall(expected)}
    return words.union(*map(re.findall, (_CHANGE, _PANIC), texts))


def _spoils_modules(root: _Group, group: _Group) -> bool:
    """Whether a cause explains what was seen in guests with modules alone.

    Their sites are written by the port's functions, which the debugger cannot replace here, and
    lead through its trampolines.  A dynamic build does not explain a static one.
    """
    kinds = frozenset().union(*(_kinds(failure) for _, failure in root.told))
    if not all(_kinds(failure) <= kinds for _, failure in group.told):
        return False
    if group.dies_with_modules:
        died = any(one.died for _, one in root.told if one.variant in WITH_MODULES)
        return died or root.writes_wrong_calls
    sites = any(failure.check == SITES_OF_MODULES for _, failure in root.told)
    return sites and root.writes_wrong_calls and group.layer is Layer.WORKLOAD


def _same_way(failure: Failure, earlier: Failure) -> bool:
    """Whether an earlier failure has a build of this kind, and no tracer that is off here."""
    return bool(_kinds(failure) & _kinds(earlier)) and earlier.used <= failure.used


def _kinds(failure: Failure) -> frozenset[str]:
    kinds = {"dynamic": ("dynamic",), "modules": ("dynamic",)}
    return frozenset(kinds.get(failure.variant, ("static",)))


def _finding(group: _Group, order: Sequence[str]) -> Finding:
    clause, failure = group.leading
    every = [*group.told, *group.followed]
    others = (other for _, other in group.told if other.layer is failure.layer)
    places = (at for at in map(_cause_at, (failure, *others)) if at is not None)
    place = next(places, failure.place)
    if place is not None and place.how.startswith(DECIDED_LAST):
        seen = (other.place for broken, other in every if broken == clause)
        place = next((at for at in seen if at is not None and at.is_proven), place)
    blocks = {other for other, _ in every} - {clause}
    return Finding(clause, failure.message, place, every, sorted(blocks, key=order.index))
