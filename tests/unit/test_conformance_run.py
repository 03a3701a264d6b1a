# SPDX-License-Identifier: MIT
"""The checks of one build: judged in two parts, repeated, and told if it does not boot."""

from dataclasses import replace

from harness.conformance.engine import BuildFindings, can_be_repeated, checks_for
from harness.conformance.registry import DYNAMIC
from harness.conformance.run import jobs_for, joined, parts_of, why_dead
from harness.conformance.variants import suite_spec
from harness.conformance.verdict import BOOT, Failure, Layer, Place


def dynamic(*wanted):
    jobs = jobs_for(suite_spec("aarch64-virt"), wanted)
    return next(job for job in jobs if job.variant == DYNAMIC)


def names(job):
    checks = checks_for(job.spec.effective_config, DYNAMIC, job.spec.features, job.clauses)
    first, step = job.share
    return [check.name for check in checks][first::step]


def failed(check, message):
    return Failure(check, DYNAMIC, message)


def test_each_check_is_in_one_part():
    job = dynamic()
    first, second = parts_of(job)
    assert sorted(names(first) + names(second)) == sorted(names(job))
    assert abs(len(names(first)) - len(names(second))) <= 1


def test_a_few_checks_stay_together():
    job = dynamic("C9e")
    assert parts_of(job) == [job]


def test_what_two_parts_found_is_as_one_would_have_found_it():
    job = dynamic()
    a, b, c, *_ = names(job)
    first = BuildFindings(
        DYNAMIC,
        {"C1a": {a}, "C2a": {c}},
        {"C2a": [failed(a, "one"), failed(c, "four")], "C1a": [failed(a, "two")]},
        unfinished={"C3d": {a}},
    )
    second = BuildFindings(
        DYNAMIC, {"C1a": {b}}, {"C1a": [failed(b, "three")]}, unfinished={"C3d": {b}, "C4a": {b}}
    )
    found = joined(job, [first, second])
    assert {clause: [one.message for one in all_] for clause, all_ in found.failures.items()} == {
        "C2a": ["one", "four"],
        "C1a": ["two", "three"],
    }
    assert list(found.failures) == ["C2a", "C1a"]
    assert found.judged == {"C1a": {a, b}, "C2a": {c}}
    assert found.unfinished == {"C3d": {a, b}, "C4a": {b}}


def test_what_does_not_build_has_its_reason():
    job = dynamic()
    parts = [BuildFindings(DYNAMIC, {}, {}, "why"), BuildFindings(DYNAMIC, {}, {}, "why")]
    assert joined(job, parts).reason == "why"


def test_a_build_that_does_not_boot_is_named_with_what_it_dies_of():
    place = Place("ftrace_make_nop", "ftrace.c", 45, 0x40201000, "str w2, [x3]", "wrote it last")
    died = Failure("a-call", DYNAMIC, "the guest panicked", layer=Layer.CALL, about=BOOT, died=True)
    wrote = Failure(
        "switching-off-at-boot", DYNAMIC, "a wrong word", layer=Layer.PATCHING, place=place
    )
    assert why_dead(BuildFindings(DYNAMIC, {}, {"C1a": [died], "C9a": [died, wrote]})) == (
        "; dynamic does not boot: C9a, ftrace.c:45, ftrace_make_nop"
    )
    assert why_dead(BuildFindings(DYNAMIC, {}, {"C9a": [wrote]})) == ""
    # It may have another fault, which is told first.
    table = Failure("the-table", DYNAMIC, "a record too many", layer=Layer.PATCHING, about="more")
    assert why_dead(BuildFindings(DYNAMIC, {}, {"C7a": [table], "C9a": [died]})) == (
        "; dynamic does not boot: C9a"
    )


def test_what_fails_at_boot_is_not_repeated_without_the_ports_patching():
    one = Failure("a-call", DYNAMIC, "the guest panicked", layer=Layer.CALL)
    assert can_be_repeated(one)
    assert not can_be_repeated(replace(one, about=BOOT))
    assert not can_be_repeated(replace(one, check="the-first-call-at-boot"))
    assert not can_be_repeated(replace(one, layer=Layer.PATCHING))
