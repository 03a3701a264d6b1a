# SPDX-License-Identifier: MIT
"""Filters of events are compiled to predicates that only look forward, and wrong ones refused."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import UsageError
from harness.trace import event_formats
from harness.tracer.event_filter import ACCEPT, REJECT, FieldMissing, FilterKind, compile_filter

FORM = next(form for form in event_formats(8) if form.name == "sched_switch")
ENTER = next(form for form in event_formats(8) if form.name == "sys_enter")

EQUAL = 1


def evaluate(predicates, values):
    """As the guest does, for comparisons with ==."""
    at = 0
    while at < len(predicates):
        one = predicates[at]
        assert one.operation == EQUAL
        after = one.on_true if values[one.offset] == one.value else one.on_false
        assert after > at
        at = after
    assert at in (ACCEPT, REJECT)
    return at == ACCEPT


OFFSETS = {field.name: field.offset for field in FORM.fields}
leaves = st.tuples(st.sampled_from(["prev_pid", "next_pid", "common_pid"]), st.integers(0, 2)).map(
    lambda pair: (f"{pair[0]} == {pair[1]}",) * 2
)


def joined(parts):
    word, left, right = parts
    python = "and" if word == "&&" else "or"
    return f"({left[0]}) {word} ({right[0]})", f"({left[1]}) {python} ({right[1]})"


def negated(inner):
    return f"!({inner[0]})", f"not ({inner[1]})"


logic = st.recursive(
    leaves,
    lambda inner: st.one_of(
        inner.map(negated),
        st.tuples(st.sampled_from(["&&", "||"]), inner, inner).map(joined),
    ),
    max_leaves=12,
)


@given(logic, st.tuples(*[st.integers(0, 2)] * 3))
def test_logic(texts, numbers):
    text, python = texts
    names = dict(zip(("prev_pid", "next_pid", "common_pid"), numbers, strict=True))
    values = {OFFSETS[name]: number for name, number in names.items()}
    predicates = compile_filter(text, FORM)
    assert evaluate(predicates, values) == eval(python, {}, names)


def test_and_is_before_or():
    text = "prev_pid == 1 || prev_pid == 2 && next_pid == 3"
    values = {OFFSETS["prev_pid"]: 1, OFFSETS["next_pid"]: 0}
    assert evaluate(compile_filter(text, FORM), values)
    assert not evaluate(compile_filter(f"({text}) && next_pid == 3", FORM), values)


def test_a_number_is_as_wide_as_its_field():
    (one,) = compile_filter("prev_pid < -1", FORM)
    assert (one.kind, one.size, one.value) == (FilterKind.SIGNED, 4, 0xFFFFFFFF)
    (one,) = compile_filter("prev_state >= -0x1", FORM)
    assert (one.kind, one.size, one.value) == (FilterKind.SIGNED, 8, (1 << 64) - 1)
    (one,) = compile_filter("common_type == 010", FORM)
    assert (one.kind, one.size, one.value) == (FilterKind.UNSIGNED, 2, 8)
    (one,) = compile_filter("comm!='a b'", FORM)
    assert (one.kind, one.value) == (FilterKind.COMM, "a b")


@pytest.mark.parametrize(
    ("text", "column", "message"),
    [
        ("no == 1", 1, "no field no"),
        ("prev_pid = 1", 10, "is due"),
        ("prev_pid", 9, "is due"),
        ("prev_pid ==", 12, "a number is due"),
        ("prev_pid == 08", 13, "not a number"),
        ("prev_pid == 0x1_0 ", 13, "not a number"),
        ("prev_pid == 99999999999999999999", 13, "64 bits"),
        ("prev_pid ~ '1'", 10, "not possible"),
        ("prev_comm & 'a'", 11, "not possible"),
        ("prev_comm == a", 14, "in quotes"),
        ("prev_comm == 'a", 14, "no end"),
        ("prev_pid == 1 ||", 17, "the name of a field"),
        ("(prev_pid == 1", 15, "parenthesis is missing"),
        ("prev_pid == 1)", 14, "too many closing"),
        ("prev_pid == 1 prev_pid == 1", 15, "&& or ||"),
        ("!", 2, "the name of a field"),
        ("", 1, "the name of a field"),
        ("prev_pid == 1 ; 2", 15, "&& or ||"),
        ("(" * 65 + "prev_pid == 1", 65, "too many parentheses"),
    ],
)
def test_what_is_refused(text, column, message):
    with pytest.raises(UsageError) as caught:
        compile_filter(text, FORM)
    assert message in caught.value.message
    assert isinstance(caught.value, FieldMissing) == ("no field" in message)
    assert caught.value.evidence.split("\n")[1].index("^") == column + 3


def test_what_is_not_one_line_is_refused():
    for text in ("prev_pid == 1\nprev_pid == 2", "prev_comm == 'é'", "x" * 1025):
        with pytest.raises(UsageError):
            compile_filter(text, FORM)
    with pytest.raises(UsageError, match="cannot be compared"):
        compile_filter("args == 1", ENTER)
