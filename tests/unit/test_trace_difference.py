# SPDX-License-Identifier: MIT
"""Two traces with a known difference, and what is said of it."""

import io
import json

import pytest

from graph_files import NESTED, back, call, graph_trace, random_calls
from harness.errors import UsageError
from harness.trace import TraceDatReader, difference_json, difference_text, trace_difference
from harness.trace.events import HARDIRQ
from trace_files import FORMATS, address, function_trace, kallsyms

FORM = FORMATS[0]
NAMES = ("a.dat", "b.dat")


def reader(data):
    return TraceDatReader(io.BytesIO(data))


def graphs(a, b, filters=(), **changes):
    """The difference of two traces of graph events."""
    made = (reader(graph_trace(FORM, events, **changes)) for events in (a, b))
    return trace_difference(*made, filters)


def leaf(stamp, depth=1, **changes):
    """A call of leaf and its return."""
    return [call(stamp, "leaf", depth, **changes), back(stamp + 10, "leaf", depth, stamp)]


def around(*inner, pid=1, at=100):
    """A call of start with calls in it."""
    return [
        call(at, "start", 0, pid=pid),
        *(one for events in inner for one in events),
        back(at + 800, "start", 0, at, pid=pid),
    ]


@pytest.mark.parametrize("form", FORMATS)
def test_a_trace_is_the_same_as_itself(form):
    for data in (function_trace(form, 300, 20), graph_trace(form, random_calls(1)[0])):
        found = trace_difference(reader(data), reader(data))
        assert found.same
        assert not found.functions
        assert found.compared == sum(found.a.paths.values()) > 0


def test_times_alone_are_no_other_calls():
    found = graphs(around(leaf(200)), around(leaf(300)[:1], [back(400, "leaf", 1, 300)]))
    assert found.same
    (start, changed) = sorted(found.functions, key=lambda one: one.own)
    assert (start.name, start.calls, start.own) == ("start", 0, -90)
    assert (changed.name, changed.a.own, changed.b.own) == ("leaf", 10, 100)


def test_a_call_more_is_a_function_a_path_and_a_place_in_the_order():
    found = graphs(around(leaf(200)), around(leaf(200), leaf(300)))
    assert not found.same
    (change,) = [one for one in found.functions if one.calls]
    assert (change.name, change.a.calls, change.b.calls) == ("leaf", 1, 2)
    (path,) = found.paths
    assert (path.path, path.a, path.b) == (("start", "leaf"), 1, 2)
    (divergence,) = found.divergences
    assert (divergence.thread, divergence.same) == ("workload-1", 2)
    assert [event.function for event in divergence.before] == ["start", "leaf"]
    assert (divergence.a, [event.stamp for event in divergence.b]) == ((), [300])


def test_the_same_calls_in_another_order_diverge():
    one, other = leaf(200), [call(300, "do_work", 1), back(310, "do_work", 1, 300)]
    found = graphs(around(one, other), around(other, [(*one[0][:1], 400, *one[0][2:])]))
    assert not found.same
    assert not found.paths
    assert [divergence.same for divergence in found.divergences] == [1]


def test_the_path_tells_calls_of_one_function_apart():
    deep = [call(200, "do_work", 1), *leaf(210, 2), back(300, "do_work", 1, 200)]
    flat = [call(200, "do_work", 1), back(205, "do_work", 1, 200), *leaf(210)]
    found = graphs(around(deep), around(flat))
    assert not any(change.calls for change in found.functions)
    assert {(one.path, one.a, one.b) for one in found.paths} == {
        (("start", "do_work", "leaf"), 1, 0),
        (("start", "leaf"), 0, 1),
    }


def test_interrupts_may_come_anywhere():
    flagged = [call(200, "do_work", 1, flags=HARDIRQ), *leaf(210, 2), back(300, "do_work", 1, 200)]
    found = graphs(around(flagged, leaf(400)), around(leaf(400)))
    assert not found.paths
    assert not found.divergences
    assert (found.a.interrupted, found.b.interrupted) == (2, 0)


def test_the_entry_of_an_interrupt_is_known_by_its_section():
    entry = [call(200, "do_work", 1), *leaf(210, 2), back(300, "do_work", 1, 200)]
    symbols = kallsyms(4)
    for name, of in (("start", "do_work"), ("end", "leaf")):
        symbols += f"{address(of, 4, 0):x} T __irqentry_text_{name}\n"
    found = graphs(around(entry, leaf(400)), around(leaf(400)), kallsyms=symbols)
    assert not found.paths
    assert found.a.interrupted == 2


def test_an_interrupt_whose_exit_is_missing_ends_with_the_next_call_outside():
    flagged = [call(200, "do_work", 1, flags=HARDIRQ), *leaf(210, 2)]
    found = graphs(around(flagged, leaf(400)), around(leaf(400)))
    assert not found.paths


def test_the_order_is_compared_up_to_the_first_lost_event():
    whole = around(leaf(200), leaf(300), leaf(500))
    lossy = [*around(leaf(200))[:3], 7, *leaf(500)]
    for a, b in ((whole, lossy), (lossy, whole)):
        found = graphs(a, b)
        assert (found.a.lost, found.b.lost) == (a is lossy, b is lossy)
        assert not found.divergences
        assert found.compared == 2
        assert "events were lost" in "\n".join(difference_text(found, NAMES, most=9))


def test_threads_are_paired_by_number_and_then_by_name():
    names = {1: "x", 7: "y", 9: "y"}
    a, b = [*around(), *around(pid=7, at=1000)], [*around(), *around(pid=9, at=1000)]
    assert graphs(a, b, cmdlines=names).same
    found = graphs(around(), around(pid=9), cmdlines=names)
    assert (found.only_a, found.only_b, found.same) == (["x-1"], ["y-9"], False)


def test_a_number_that_another_thread_has_in_b_is_no_pair():
    files = (graph_trace(FORM, around(), cmdlines={1: name}) for name in "xy")
    found = trace_difference(*map(reader, files))
    assert (found.only_a, found.only_b, found.same) == (["x-1"], ["y-1"], False)


def test_two_tracers_cannot_be_compared():
    with pytest.raises(UsageError, match="function_graph"):
        trace_difference(reader(function_trace(FORM, 5)), reader(graph_trace(FORM, NESTED)))


def test_a_filter_chooses_the_calls_of_both():
    chosen = ("funcgraph_entry,funcgraph_exit: func == start",)
    found = graphs(around(leaf(200)), around(leaf(200), leaf(300)), chosen)
    assert found.same


def test_the_text_and_the_json_say_the_same():
    found = graphs(around(leaf(200)), around(leaf(200), leaf(300)))
    text = "\n".join(difference_text(found, NAMES, most=9))
    document = json.loads(difference_json(found, NAMES))
    assert "workload-1, after 2 calls that are the same" in text
    assert "1 -> 2  start > leaf" in text
    assert "A calls no more" in text
    assert document["paths"] == [{"path": ["start", "leaf"], "calls": [1, 2]}]
    assert document["divergences"][0]["same"] == 2
    assert not document["same"]
    assert document["a"]["file"] == "a.dat"


def test_long_lists_are_cut_and_say_so():
    data = random_calls(3)[0]
    lines = list(difference_text(graphs(data, around()), NAMES, most=1))
    assert any(line.startswith("... and") and line.endswith("more paths") for line in lines)
