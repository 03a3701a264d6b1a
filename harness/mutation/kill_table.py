# SPDX-License-Identifier: MIT
"""The kill table: for each mutant, the check that catches it and the clause."""

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import as_completed
from dataclasses import dataclass, replace
from difflib import SequenceMatcher
from itertools import chain

from harness.conformance.checks import Check
from harness.conformance.combinations import CLAUSE, try_combinations
from harness.conformance.engine import checks_for, run_checks, select
from harness.conformance.registry import (
    DYNAMIC,
    MODULES,
    STATIC,
    STATIC_MODULES,
    VARIANTS,
)
from harness.conformance.variants import Edits, build_variant, variant_of
from harness.errors import UsageError
from harness.image import Image
from harness.isa import AsmSyntax
from harness.kbuild import GuestSpec, build_guest, plan_build
from harness.mutation.assembly import Statement, statements
from harness.mutation.c_builds import COMBINATIONS, first_builds, port_faults
from harness.mutation.mutants import Collection, Stub, load, matching
from harness.mutation.operators import PROOFS, SAME_CODE, faults
from harness.process import workers

Tell = Callable[[str], None]

OF_C = "c"
"""In the names of faults in C, in place of a build."""

OF_MODULES = {DYNAMIC: MODULES, STATIC: STATIC_MODULES}
"""The build in which modules call the stubs of another one."""

FIRST = {
    "return_to_handler": "the-way-home-of-a-hijacked-call",
    "graph": "a-call-that-is-hijacked",
    "regs_caller": "all-registers-of-the-site",
    "": "a-call-of-the-tracer",
}
"""The checks that find most faults, by a part of the stub's name."""

OF_CALLS = frozenset({*FIRST.values(), "events-of-modules"})
"""They run before the checks of other layers."""


@dataclass(frozen=True, slots=True)
class Task:
    """One mutant on one config; without ``clauses`` any clause may catch it."""

    spec: GuestSpec
    name: str
    about: str
    clauses: tuple[str, ...]
    variants: tuple[str, ...]
    edits: Edits
    equivalent: str = ""


@dataclass(frozen=True, slots=True)
class MutantOutcome:
    """The outcome of a mutant: the clause, check, build and message that caught it.

    ``built`` is false for a generated fault that does not assemble.
    """

    config: str
    name: str
    about: str
    expected: tuple[str, ...]
    clause: str = ""
    check: str = ""
    variant: str = ""
    message: str = ""
    equivalent: str = ""
    built: bool = True

    @property
    def generated(self) -> bool:
        """Whether it was generated and not written by hand."""
        return "/" in self.name

    @property
    def killed(self) -> bool:
        """Whether some check failed."""
        return bool(self.clause)

    @property
    def right(self) -> bool:
        """Whether it was caught for its clauses, or is equivalent and was not caught."""
        if not self.built:
            return self.generated
        if self.killed:
            return not self.equivalent and (not self.expected or self.clause in self.expected)
        return bool(self.equivalent)


def kill_table(
    specs: Sequence[GuestSpec], names: Sequence[str], tell: Tell = lambda _line: None
) -> list[MutantOutcome]:
    """Judge the mutants of guests with reference ports: ``all``, or those that match globs."""
    tasks = [task for spec in specs for task in _tasks(spec, names, tell)]
    if not tasks:
        configs = ", ".join(spec.config.name for spec in specs)
        raise UsageError(
            f"there is no mutant {', '.join(names)} for {configs}",
            "Mutants are in the port's directory mutants; all names all of them.",
        )
    outcomes = []
    with workers() as pool:
        futures = {pool.submit(judge_mutant, task): task for task in tasks}
        for done, future in enumerate(as_completed(futures), 1):
            outcome = future.result()
            outcomes.append(outcome)
            if not outcome.right:
                tell(line(outcome))
            if done % 25 == 0 or done == len(tasks):
                tell(f"{done} of {len(tasks)} mutants")
    order = {(task.spec.config.name, task.name): at for at, task in enumerate(tasks)}
    return sorted(outcomes, key=lambda outcome: order[outcome.config, outcome.name])


def _tasks(spec: GuestSpec, names: Sequence[str], tell: Tell) -> Iterator[Task]:
    config = spec.effective_config
    collection = load(spec.port.name)
    for mutant in collection.mutants:
        if matching(names, mutant.id) and mutant.applies_to(config):
            variants = tuple(v for v in mutant.variants if variant_of(spec, v))
            if variants:
                about, clauses, edits = mutant.about, mutant.clauses, mutant.edits(spec.port)
                yield Task(spec, mutant.id, about, clauses, variants, edits)
    if any(name == "all" or "/" in name for name in names):
        tell(f"{config.name}: planting faults")
        yield from _generated(spec, names, collection)


def _generated(spec: GuestSpec, names: Sequence[str], collection: Collection) -> Iterator[Task]:
    """Faults in every instruction of every stub and in every C file, with recorded equivalents."""
    config = spec.effective_config
    stale = [one for one in collection.equivalents if one.applies_to(config)]
    tasks = _of_assembly(spec, names, collection)
    if any(matching([name], f"{OF_C}/") or name.startswith(f"{OF_C}/") for name in names):
        tasks = chain(tasks, _of_c(spec, names, collection))
    for task in tasks:
        record = collection.equivalent(config, task.name, task.about)
        if record is None or task.equivalent:
            yield task
        else:
            stale = [one for one in stale if one is not record]
            yield replace(task, equivalent=record.reason)
    if "all" in names and stale:
        raise UsageError(
            f"{config.name}: no fault is equivalent because of: {stale[0].reason.strip()}",
            f"Remove it from equivalent.toml, or fix it: {', '.join(stale[0].faults)}",
        )


def _of_assembly(spec: GuestSpec, names: Sequence[str], collection: Collection) -> Iterator[Task]:
    """Faults in every instruction of every stub; those that two builds share are planted in one."""
    config = spec.effective_config
    known: dict[str, dict[str, list[list[str]]]] = {}
    for variant in VARIANTS:
        built = variant_of(spec, variant)
        if built is None:
            continue
        syntax = syntax_of(built)
        for file, text in plan_build(built).preprocess().items():
            found = statements(text)
            new = _new_statements(found, known.setdefault(file, {}))
            for fault in faults(found, syntax):
                name = f"{variant}/{fault.name}"
                if fault.at in new and matching(names, name):
                    stub = collection.stub(found[fault.at])
                    clauses = stub.clauses_on(config) if stub else ()
                    builds = _builds(spec, variant, stub)
                    edits = {} if fault.equivalent else {file: fault.source}
                    yield Task(spec, name, fault.about, clauses, builds, edits, fault.equivalent)


def _of_c(spec: GuestSpec, names: Sequence[str], collection: Collection) -> Iterator[Task]:
    """Faults in every file in C, each in the first build in which it changes the code."""
    config = spec.effective_config
    wanted = [one for one in port_faults(spec) if matching(names, f"{OF_C}/{one.name}")]
    for fault, variant in first_builds(spec, wanted):
        name = f"{OF_C}/{fault.name}"
        if not variant:
            yield Task(spec, name, fault.about, (), (), {}, SAME_CODE)
            continue
        edits = {fault.file: fault.text}
        if variant == COMBINATIONS:
            yield Task(spec, name, fault.about, (CLAUSE,), (), edits)
            continue
        function = f"{fault.file}:{fault.function}"
        stub = collection.stub(Statement(fault.about, function, function))
        clauses = stub.clauses_on(config) if stub else ()
        yield Task(spec, name, fault.about, clauses, _builds(spec, variant, stub), edits)


def syntax_of(spec: GuestSpec) -> AsmSyntax:
    """The assembler's syntax of a guest's port."""
    kernel = build_guest(spec)
    return Image(kernel.read_bytes(), str(kernel)).isa.asm_syntax


def _builds(spec: GuestSpec, variant: str, stub: Stub | None) -> tuple[str, ...]:
    """The builds that show a fault of a build: itself, and that with modules that call it."""
    with_modules = OF_MODULES.get(variant, "")
    if not with_modules or variant_of(spec, with_modules) is None:
        return (variant,)
    return (with_modules,) if stub and stub.modules else (variant, with_modules)


def _new_statements(found: Sequence[Statement], known: dict[str, list[list[str]]]) -> set[int]:
    """The numbers of the statements in no earlier build; adds them to ``known``."""
    functions: dict[str, list[int]] = {}
    for at, one in enumerate(found):
        if one.is_instruction:
            functions.setdefault(one.function, []).append(at)
    new = set()
    for function, places in functions.items():
        texts = [found[at].text for at in places]
        of_function = set(places)
        for before in known.setdefault(function, []):
            matcher = SequenceMatcher(None, before, texts, autojunk=False)
            for block in matcher.get_matching_blocks():
                of_function -= set(places[block.b : block.b + block.size])
        known[function].append(texts)
        new |= of_function
    return new


def judge_mutant(task: Task) -> MutantOutcome:
    """Build a mutant and run checks until a clause that it breaks fails.

    A mutant with a proof that it changes nothing has no edits and is not run.
    """
    outcome = MutantOutcome(
        task.spec.config.name, task.name, task.about, task.clauses, equivalent=task.equivalent
    )
    if not task.edits:
        return outcome
    if task.clauses == (CLAUSE,):
        failures = try_combinations(task.spec, task.edits).failures.get(CLAUSE)
        if failures:
            first = failures[0]
            return replace(
                outcome,
                clause=CLAUSE,
                check=first.check,
                variant=first.variant,
                message=first.message,
            )
        return outcome
    other = None
    # A mutant recorded as equivalent is not run against the clauses of other stubs.
    for own in (True,) if task.equivalent and task.clauses else (True, False):
        for variant in task.variants:
            spec = variant_of(task.spec, variant)
            checks = _checks(task, variant, spec.features, own) if spec else []
            if spec is None or not checks:
                continue
            try:
                found = _failure(task, variant, spec, checks)
            except UsageError as error:
                return replace(outcome, variant=variant, message=error.message, built=False)
            if found is None:
                continue
            clause, check, message = found
            killed = replace(outcome, clause=clause, check=check, variant=variant, message=message)
            if killed.right:
                return killed
            other = other or killed
    return other or outcome


def _checks(task: Task, variant: str, features: Sequence[str], own: bool) -> list[Check]:
    """The checks of the task's ``own`` clauses, or all others.

    Checks of the faulty stub come first, then those that find most.
    """
    stub = next(part for part in FIRST if part in task.name)
    config = task.spec.effective_config
    return sorted(
        (
            check
            for check in checks_for(config, variant, features, select(config))
            if own == any(clause in task.clauses for clause in check.clauses)
        ),
        key=lambda check: (check.name != FIRST[stub], check.name not in OF_CALLS),
    )


def _failure(
    task: Task, variant: str, spec: GuestSpec, checks: Sequence[Check]
) -> tuple[str, str, str] | None:
    """Clause, check and message of the first failure of a clause of the task, else of another."""

    def enough(clause: str) -> bool:
        return not task.clauses or clause in task.clauses

    built = build_variant(spec, variant, task.edits)
    found = run_checks(built, checks, lambda clause, _message: enough(clause)).failures
    for clause in sorted(found, key=enough, reverse=True):
        return clause, found[clause][0].check, found[clause][0].message
    return None


def line(outcome: MutantOutcome) -> str:
    """The outcome of one mutant, with a mark before it if it is wrong."""
    mark = "  " if outcome.right else "! "
    if outcome.killed:
        end = f"{outcome.clause} {outcome.check} ({outcome.variant}): {outcome.message}"
        if outcome.equivalent:
            end += "; recorded as equivalent"
        elif not outcome.right:
            end += f"; not for {', '.join(outcome.expected)}"
    elif not outcome.built:
        end = f"does not build: {outcome.message}"
    else:
        end = f"equivalent: {outcome.equivalent}" if outcome.equivalent else "SURVIVES"
    return f"{mark}{outcome.config} {outcome.name}: {outcome.about}: {end}"[:400]


def table_lines(outcomes: Sequence[MutantOutcome]) -> Iterator[str]:
    """A line for each mutant, then one for each config with the number caught."""
    yield from (line(outcome) for outcome in outcomes if outcome.built or not outcome.right)
    for config in dict.fromkeys(outcome.config for outcome in outcomes):
        yield _summary(config, [outcome for outcome in outcomes if outcome.config == config])


def _summary(config: str, outcomes: Sequence[MutantOutcome]) -> str:
    built = [outcome for outcome in outcomes if outcome.built]
    killed = [outcome for outcome in built if outcome.killed]
    lived = [outcome for outcome in built if not outcome.killed]
    right = sum(outcome.right for outcome in killed)
    proved = sum(outcome.equivalent in PROOFS for outcome in lived)
    equivalent = sum(bool(outcome.equivalent) for outcome in lived)
    return (
        f"{config}: {len(built)} mutants: {right} caught, {len(killed) - right} not as expected, "
        f"{proved} equivalent by proof, {equivalent - proved} for a reason that is recorded, "
        f"{len(lived) - equivalent} alive; {len(outcomes) - len(built)} more do not build"
    )


def table_json(outcomes: Sequence[MutantOutcome]) -> str:
    """The table for programs: a list of objects."""
    return json.dumps(
        [
            {
                "config": one.config,
                "mutant": one.name,
                "about": one.about,
                "expected": one.expected,
                "built": one.built,
                "killed": one.killed,
                "right": one.right,
                "clause": one.clause,
                "check": one.check,
                "build": one.variant,
                "message": one.message,
                "equivalent": one.equivalent,
            }
            for one in outcomes
        ],
        indent=2,
    )
