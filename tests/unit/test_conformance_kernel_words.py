# SPDX-License-Identifier: MIT
"""What [kernel] in port.toml takes out of the suite, and what is said of it."""

import re
from pathlib import Path

import pytest

from harness.config import KernelFile, list_configs, load_config, load_port
from harness.conformance import load_catalogue
from harness.conformance.coverage import Covered, covered
from harness.conformance.engine import BuildFindings, about, checks_for, select, verdicts
from harness.conformance.kernel_words import (
    WORDS,
    excused,
    live_registers,
    narrowed,
    ruled_out,
    since_2013,
)
from harness.conformance.registry import DYNAMIC, MODULES, VARIANTS
from harness.conformance.variants import features_of, suite_spec, variant_of
from harness.conformance.verdict import Failure, Verdict
from harness.isa import Form, for_elf
from harness.kbuild import plan_build
from kernel_words_page import kernel_words_page

REPOSITORY = Path(__file__).parents[2]
CLAUSES = {clause.id: clause for clause in load_catalogue().clause}
EVERYTHING = KernelFile(
    nested_functions=False,
    floating_point=False,
    FRAME_WARN=2048,
    DYNAMIC_FTRACE=True,
    PREEMPTION=False,
    call_target="ftrace_caller",
    tracers="kernel",
    sites_told_by="address",
    KPROBES=True,
    retp="cookie",
    graph_tracer="slot",
    syscall_numbers="table",
    mips_sites=2013,
)


def spec_with(config="mips-malta", **words):
    port = load_port(load_config(config).port)
    return suite_spec(config, port.model_copy(update={"kernel": KernelFile(**words)}))


def verdict(spec, clause, *, judged=True, failures=()):
    found = BuildFindings(
        DYNAMIC,
        {clause: {"a check"}} if judged else {},
        {clause: list(failures)} if failures else {},
    )
    (result,), _ = verdicts(spec, [CLAUSES[clause]], [found])
    return result


def test_the_page_is_current():
    page = (REPOSITORY / "docs/kernel-words.rst").read_text()
    assert page == kernel_words_page(), "run `python tools/documents`"


def test_the_page_has_every_word_with_all_its_clauses():
    page = (REPOSITORY / "docs/kernel-words.rst").read_text()
    assert [word.key for word in WORDS] == list(KernelFile.model_fields)
    for word in WORDS:
        entry = page.split(f"\n{word.key} = {word.value}\n===")[1].split("\n===")[0]
        for verb, clauses in (("Excuses", word.excuses), ("Narrows", word.narrows)):
            named = re.search(rf"{verb} ([^.]+)\.", entry)
            assert tuple(re.findall(r"\w+", named[1]) if named else ()) == clauses, word.key


def test_words_name_clauses_that_exist():
    for word in WORDS:
        assert word.excuses or word.narrows, word.key
        assert {*word.excuses, *word.narrows} <= set(CLAUSES), word.key
        assert not set(word.excuses) & set(word.narrows), word.key


@pytest.mark.parametrize("name", sorted({load_config(one).port for one in list_configs()}))
def test_of_the_reference_ports_nothing_is_excused(name):
    """But for nested functions, whose static chain gcc may push in front of the site."""
    kernel = load_port(name).kernel
    words = [word.key for word in ruled_out(kernel)]
    assert words in ([], ["nested_functions"])
    assert not any(excused(kernel, id_) for id_ in CLAUSES)
    assert words or not any(narrowed(kernel, id_) for id_ in CLAUSES)


def test_every_word_is_one_by_itself():
    assert list(ruled_out(EVERYTHING)) == list(WORDS)
    for word in WORDS:
        alone = KernelFile(**{word.key: getattr(EVERYTHING, word.key)})
        assert list(ruled_out(alone)) == [word]
        assert all(excused(alone, id_) for id_ in word.excuses)
        assert all(narrowed(alone, id_) for id_ in word.narrows)


def test_an_excused_clause_is_not_claimed_and_says_why():
    spec = spec_with(tracers="kernel")
    result = verdict(spec, "C10d", judged=False)
    assert result.verdict is Verdict.NOT_CLAIMED
    assert result.reason == "port.toml: tracers are functions of the kernel itself"
    judged = frozenset(CLAUSES)
    for word, expected in (("kernel", Covered.NOT_CLAIMED), ("any", Covered.YES)):
        port = spec_with(tracers=word).port
        assert covered(CLAUSES["C10d"], spec.config, port, judged) is expected


def test_a_narrowed_clause_is_judged_by_the_rest_and_says_what_was_left_out():
    reason = "port.toml: the kernel has no nested functions"
    spec = spec_with(nested_functions=False)
    passed = verdict(spec, "C1d")
    assert (passed.verdict, passed.reason) == (Verdict.PASS, reason)
    failed = verdict(spec, "C1d", failures=[Failure("a check", DYNAMIC, "something is wrong")])
    assert (failed.verdict, failed.reason) == (Verdict.FAIL, reason)
    nothing = verdict(spec, "C1d", judged=False)
    assert (nothing.verdict, nothing.reason) == (Verdict.NOT_CLAIMED, reason)
    assert not verdict(suite_spec("mips-malta"), "C1d").reason


@pytest.mark.parametrize("name", list_configs())
def test_a_guest_that_dies_fails_no_excused_clause(name):
    config = load_config(name)
    port = load_port(config.port)
    for variant in VARIANTS:
        features = features_of(config, port, variant)
        if features is not None:
            for check in checks_for(config, variant, features, select(config)):
                at_stake = about(check, config, variant, features, EVERYTHING)
                assert not any(excused(EVERYTHING, id_) for id_ in at_stake), check.name


def test_there_is_no_static_build_of_a_kernel_that_has_none():
    spec = spec_with(DYNAMIC_FTRACE=True)
    built = {variant for variant in VARIANTS if variant_of(spec, variant)}
    assert built == {DYNAMIC, MODULES}


def test_the_static_chain_is_no_register_of_a_kernel_without_nested_functions():
    abi = for_elf(8, 32, "big").abi
    with_them = live_registers(abi, Form.MCOUNT, KernelFile())
    without = live_registers(abi, Form.MCOUNT, EVERYTHING)
    assert set(with_them) - set(without) == {"v0"}


def test_the_words_of_mips_sites():
    assert since_2013(EVERYTHING)
    assert not since_2013(KernelFile())


def test_make_leaves_out_what_is_ruled_out():
    variables = plan_build(spec_with(nested_functions=False, FRAME_WARN=1024)).variables
    assert variables["WITHOUT"] == "nested-functions"
    assert variables["FRAME_WARN"] == "1024"
    assert not {"WITHOUT", "FRAME_WARN"} & plan_build(suite_spec("mips-malta")).variables.keys()


def test_what_was_not_built_is_no_word_of_the_kernel():
    spec = spec_with(nested_functions=False)
    found = BuildFindings(MODULES, {}, {}, "no module builds with this port: why")
    (result,), _ = verdicts(spec, [CLAUSES["M1a"]], [found])
    assert result.verdict is Verdict.NOT_OBSERVABLE
    assert result.reason == found.reason
