# SPDX-License-Identifier: MIT
"""The catalogue of clauses, against the specification that it stands for."""

from pathlib import Path
from typing import get_args

import pytest
from pydantic import ValidationError

from clauses_page import JUDGES, clauses_page
from harness.config import list_configs, load_config, load_port
from harness.config.models import Feature
from harness.conformance import BuildKind, Catalogue, Judge, load_catalogue
from harness.isa import Form

CATALOGUE = load_catalogue()
IDS = [clause.id for clause in CATALOGUE.clause]
PAGE = Path(__file__).parents[2] / "docs" / "clauses.rst"

HEADINGS = {
    "Prerequisites",
    "HAVE_FUNCTION_TRACER",
    "HAVE_FUNCTION_GRAPH_TRACER",
    "HAVE_FUNCTION_GRAPH_FP_TEST",
    "HAVE_FUNCTION_GRAPH_RET_ADDR_PTR",
    "HAVE_SYSCALL_TRACEPOINTS",
    "HAVE_FTRACE_MCOUNT_RECORD",
    "HAVE_DYNAMIC_FTRACE",
    "HAVE_DYNAMIC_FTRACE + HAVE_FUNCTION_GRAPH_TRACER",
}
"""Those of ftrace-design.rst; its introduction requires nothing."""

MINIMAL = {
    "id": "C1a",
    "title": "a title",
    "source": "text",
    "section": "One",
    "features": ["FUNCTION_TRACER"],
    "requires": "something",
    "judges": ["text"],
    "observed": "somehow",
}


def catalogue(*changes):
    """A catalogue of one clause for each change of the minimal one."""
    return Catalogue.model_validate(
        {
            "document": [{"key": "text", "title": "A text", "sections": ["One"]}],
            "clause": [{**MINIMAL, **change} for change in changes],
        }
    )


def applying(name):
    config = load_config(name)
    return {clause.id for clause in CATALOGUE.clause if clause.applies_to(config)}


def test_ids_are_in_order_and_unique():
    assert len(set(IDS)) == len(IDS)
    for stem in {clause.stem for clause in CATALOGUE.clause}:
        letters = [clause.id[-1] for clause in CATALOGUE.clause if clause.stem == stem]
        assert letters == [chr(ord("a") + number) for number in range(len(letters))]


def test_every_subject_of_known_bugs_is_there():
    subjects = {f"C{number}" for number in range(1, 16)} | {f"M{number}" for number in range(1, 6)}
    older = {"C16", "C17"}
    of_tracers_with_ops = {"C18", "C19", "C20", "C21", "C22", "C23", "C24"}
    assert {clause.stem for clause in CATALOGUE.clause} == subjects | older | of_tracers_with_ops


def test_every_section_has_a_clause():
    (design,) = (part for part in CATALOGUE.document if part.key == "ftrace-design")
    assert set(design.sections) == HEADINGS
    places = {(part.key, section) for part in CATALOGUE.document for section in part.sections}
    assert {(clause.source, clause.section) for clause in CATALOGUE.clause} == places


def test_features_are_those_of_port_toml_and_none_is_without_a_clause():
    words = {word for clause in CATALOGUE.clause for word in clause.features}
    assert words == set(get_args(Feature))


def test_only_ports_of_dynamic_ftrace_have_clauses_of_dynamic_guests():
    for clause in CATALOGUE.clause:
        if "DYNAMIC_FTRACE" in clause.features:
            assert clause.builds == (BuildKind.DYNAMIC,), clause.id


def test_clauses_of_the_commit_are_for_its_architecture_and_no_others_are_named_so():
    for clause in CATALOGUE.clause:
        assert (clause.source == "mips-commit") == clause.id.startswith("M"), clause.id
        assert clause.source != "mips-commit" or clause.architectures == ("mips",), clause.id


def test_static_clauses_leave_out_forms_that_only_dynamic_guests_have():
    for clause in CATALOGUE.clause:
        if clause.builds == (BuildKind.STATIC,):
            assert Form.PATCHABLE_ENTRY not in clause.forms, clause.id


@pytest.mark.parametrize("name", list_configs())
def test_every_clause_that_applies_has_a_build(name):
    config = load_config(name)
    # A form that calls nothing as built has no static guests.
    lacking = {BuildKind.STATIC} if config.build.form == Form.PATCHABLE_ENTRY else set()
    for clause in CATALOGUE.clause:
        assert not clause.applies_to(config) or set(clause.builds) - lacking, clause.id


def test_what_a_config_is_confined_to():
    o32, ra, n64 = map(applying, ("mips-malta", "mips-malta-ra", "mips64el-malta"))
    plain, patchable, signed = map(
        applying, ("aarch64-virt", "aarch64-virt-patchable", "aarch64-virt-bti-pac")
    )
    assert o32 - n64 == {"M4b"}
    assert n64 - o32 == {"M4d"}
    assert ra - o32 == {"C4h"}
    assert o32 - ra == {"C4i"}
    assert {"M1a", "M3a"} <= o32
    assert signed - plain == {"C2d", "C4j", "C5f"}
    assert plain - patchable == {"C3a", "C3b", "C3d", "C3f", "C4a", "C4b", "C8a", "C8d"} | {
        "C16a",
        "C16b",
    }
    assert patchable <= plain


def test_what_cannot_be_seen_depends_on_the_architecture():
    clause = CATALOGUE["C9o"]
    assert "page tables" in clause.why_not_observable(load_config("mips-malta"))
    assert clause.why_not_observable(load_config("aarch64-virt")) == ""


def test_judges_are_described_and_used():
    assert set(JUDGES) == set(Judge)
    assert {judge for clause in CATALOGUE.clause for judge in clause.judges} == set(Judge)


def test_the_page_is_made_from_the_catalogue():
    assert PAGE.read_text() == clauses_page(), "run `python tools/documents`"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ([{}, {}], "C1a stands twice"),
        ([{"section": "Two"}], "no section 'Two' in text"),
        ([{"id": "C1"}], "string_pattern_mismatch"),
        ([{"features": ["FUNCTION_TRACKER"]}], "literal_error"),
        ([{"features": []}], "too_short"),
        ([{"architectures": ["pdp11"]}], "architectures"),
        ([{"judges": [], "observed": None}], "nor why it cannot be"),
        ([{"observed": None, "not_observable": {"*": "why"}}], "go together"),
        ([{"unknown": 1}], "extra_forbidden"),
    ],
)
def test_a_catalogue_that_contradicts_itself(changes, said):
    with pytest.raises(ValidationError, match=said):
        catalogue(*changes)


def test_what_a_port_does_in_another_way_is_not_claimed():
    only = {"features": ["DYNAMIC_FTRACE"], "without": ["DYNAMIC_FTRACE_WITH_ARGS"]}
    (clause,) = catalogue(only).clause
    assert clause.why_not_claimed(["DYNAMIC_FTRACE"]) == ""
    assert clause.why_not_claimed([]) == "the port has no DYNAMIC_FTRACE"
    both = ["DYNAMIC_FTRACE", "DYNAMIC_FTRACE_WITH_ARGS"]
    assert clause.why_not_claimed(both) == "the port has DYNAMIC_FTRACE_WITH_ARGS instead"
    assert "not with ``DYNAMIC_FTRACE_WITH_ARGS``" in clauses_page(catalogue(only))


def test_one_of_several_features_may_be_enough():
    either = ["DYNAMIC_FTRACE_WITH_ARGS", "DYNAMIC_FTRACE_WITH_REGS"]
    (clause,) = catalogue({"features": ["DYNAMIC_FTRACE"], "either": either}).clause
    for one in either:
        assert clause.why_not_claimed(["DYNAMIC_FTRACE", one]) == ""
    said = f"the port has neither {either[0]} nor {either[1]}"
    assert clause.why_not_claimed(["DYNAMIC_FTRACE"]) == said


def test_a_port_has_the_graph_tracers_slot_or_the_one_slot():
    older, newer = (
        {clause.id for clause in CATALOGUE.clause if not clause.why_not_claimed(port.features)}
        for port in map(load_port, ("aarch64", "aarch64-args"))
    )
    regs = {
        clause.id
        for clause in CATALOGUE.clause
        if not clause.why_not_claimed(load_port("aarch64-regs").features)
    }
    assert regs - newer == {id_ for id_ in IDS if id_.startswith("C21")}
    own = {clause for clause in newer - older if clause.startswith(("C18", "C19", "C20"))}
    assert own == newer - older == {id_ for id_ in IDS if id_[:3] in ("C18", "C19", "C20")}
    assert {clause for clause in older - newer if clause.startswith(("C4", "C11"))} == {
        "C4l",
        *(f"C11{letter}" for letter in "abcde"),
    }


def test_lines_are_joined():
    assert catalogue({"requires": "\na\nb  c"}).clause[0].requires == "a b c"


def test_what_has_no_judge_says_why():
    (clause,) = catalogue({"judges": [], "observed": None, "not_observable": {"*": "why"}}).clause
    assert "Not observable: why." in clauses_page(
        catalogue({"judges": [], "observed": None, "not_observable": {"*": "why"}})
    )
    assert clause.why_not_observable(load_config("mips-malta")) == "why"


def test_an_unknown_id():
    with pytest.raises(KeyError):
        CATALOGUE["C99z"]
