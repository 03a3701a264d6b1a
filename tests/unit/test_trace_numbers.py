# SPDX-License-Identifier: MIT
"""The numbers of events in the views: those of the file's events, whatever is selected."""

import io
import json
import re

import pytest

from graph_files import graph_trace, random_calls
from harness.errors import UsageError
from harness.report import VIEWS, report_bytes, report_lines
from harness.trace import TraceDatReader
from trace_files import function_trace

FORM = ("little", 4)
COLUMN = re.compile(r"( *\d+| {8}) ")


def reader(data):
    return TraceDatReader(io.BytesIO(data))


def split(line):
    """Number and rest of a numbered line."""
    found = COLUMN.match(line)
    return (int(found[1]) if found[1].strip() else None), line[len(found[0]) :]


def traces():
    """Random calls on three CPUs, with the same time stamps on two, and plain functions."""
    for seed in range(5):
        first, second = random_calls(seed)[0], random_calls(seed + 100)[0]
        yield graph_trace(FORM, first, second, first)
    yield function_trace(FORM, 5)


def body(data, form, *words):
    """The lines below the header."""
    return [line for line in report_lines(reader(data), form, words=words) if line[:1] != "#"]


@pytest.mark.parametrize("form", ["text", "graph"])
def test_the_rest_of_a_line_is_what_it_is_without(form):
    for data in traces():
        numbered = [split(line)[1] if line else "" for line in body(data, form, "number")]
        assert numbered == body(data, form)


@pytest.mark.parametrize("form", ["text", "graph"])
def test_the_titles_are_above_their_columns(form):
    for data in traces():
        plain, numbered = (
            [line for line in report_lines(reader(data), form, words=words) if line[:1] == "#"]
            for words in ((), ("number",))
        )
        assert len(plain) == len(numbered)
        for line, shifted in zip(plain, numbered, strict=True):
            assert shifted in (line, f"#{' ' * 9}{line[1:]}")
        assert numbered[-1] != plain[-1]


def test_every_number_is_that_of_its_event():
    for data in traces():
        events = list(reader(data).events())
        seen = []
        for number, text in map(split, filter(None, body(data, "graph", "number"))):
            if number is None:
                continue
            seen.append(number)
            if called := re.search(r"(\w+)\(\)", text):
                assert called[1] == events[number].function
                assert events[number].name == "funcgraph_entry"
                assert text.startswith(f" {events[number].cpu}) ")
            elif "}" in text:
                assert events[number].name == "funcgraph_exit"
        assert seen == sorted(seen)
        left_out = set(range(len(events))) - set(seen)
        assert all(events[number].name == "funcgraph_exit" for number in left_out)


def test_a_filter_leaves_the_numbers():
    data = function_trace(FORM, 5)
    (last,) = list(report_lines(reader(data), "text", ["function: ip == leaf"], ["number"]))[-1:]
    events = list(reader(data).events())
    assert events[split(last)[0]].function == "leaf"
    found = json.loads("\n".join(report_lines(reader(data), "json", ["function: ip == leaf"])))
    assert [events[one["number"]].function for one in found["events"]] == ["leaf"] * len(
        found["events"]
    )


@pytest.mark.parametrize("form", VIEWS)
def test_views_without_numbers_say_so(form):
    data = function_trace(FORM, 2)
    if form in ("text", "graph", "json", "html"):
        assert b"".join(report_bytes(reader(data), form, words=["number"]))
        return
    with pytest.raises(UsageError, match=f"the {form} view has no numbers of events"):
        b"".join(report_bytes(reader(data), form, words=["number"]))
