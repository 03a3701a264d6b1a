# SPDX-License-Identifier: MIT
"""Filters choose what they say, and a wrong one is refused with the place of the mistake."""

import io
import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from graph_files import NESTED, graph_trace
from harness.errors import UsageError
from harness.trace import EventFormat, TraceDatReader, event_formats, parse_filters
from ring_encoder import PageEncoder, function_payload
from test_trace_formats import SCHED_SWITCH
from trace_files import FORMATS, address, function_trace, trace_file

FORM = ("little", 8)
SWITCH = EventFormat.parse(SCHED_SWITCH, "sched")


def chosen(data, *filters):
    """The indices of the events that the filters let through."""
    reader = TraceDatReader(io.BytesIO(data))
    keep = parse_filters(filters, reader.formats.values())
    return [index for index, event in enumerate(reader.events()) if keep is None or keep(event)]


def switches(form, *events):
    """sched_switch events, each with the names and the numbers of the task before."""
    encoder = PageEncoder(*form)
    order = form[0]
    for comm, pid, what in events:
        payload = function_payload(*form, 0, 0, pid=pid, number=314, flags=5)[:8]
        payload += comm.ljust(16, b"\0") + pid.to_bytes(4, order, signed=True)
        payload += (len(what) << 16 | 32).to_bytes(4, order) + what
        encoder.event(1, payload, long_form=True)
    return trace_file(form, [encoder.page()], events=[*event_formats(form[1]), SWITCH])


ONE = function_trace(FORM, 1)
GRAPH = graph_trace(FORM, NESTED)
ENTRIES, EXITS = [0, 1, 2, 4], [3, 5, 6, 7]


def test_no_filter_shows_everything():
    assert chosen(GRAPH) == list(range(8))


@pytest.mark.parametrize(
    ("text", "events"),
    [
        ("funcgraph_entry", ENTRIES),
        ("ftrace/funcgraph_entry", ENTRIES),
        ("funcgraph_*", range(8)),
        ("f*/*_exit", EXITS),
        ("funcgraph_entry, funcgraph_exit", range(8)),
        ("function", []),
        ("funcgraph_entry:depth==2", [2, 4]),
        (" funcgraph_entry : depth != 2 ", [0, 1]),
        ("funcgraph_entry:depth<1", [0]),
        ("funcgraph_entry:depth<=1", [0, 1]),
        ("funcgraph_entry:depth>1", [2, 4]),
        ("funcgraph_entry:depth>=0x1", [1, 2, 4]),
        ("funcgraph_entry:depth&3", [1, 2, 4]),
        ("funcgraph_entry:depth==-1", []),
        ("funcgraph_entry:depth==02", [2, 4]),
        ("funcgraph_entry:!depth==2", [0, 1]),
        ("funcgraph_entry:!(depth==2||depth==0)", [1]),
        ("funcgraph_entry:!!depth==1", [1]),
        ("funcgraph_*:depth==0 || depth==1 && func==start", [0, 7]),
        ("funcgraph_*:(depth==0 || depth==1) && func==do_work", [1, 6]),
        ("funcgraph_*:duration > 633", [5, 6, 7]),
        ("funcgraph_*:!duration > 633", [0, 1, 2, 3, 4]),
        ("funcgraph_exit:rettime < calltime", []),
        ("funcgraph_exit:overrun == depth", [7]),
        ("funcgraph_*:CPU==0 && PID==1 && COMM==workload", range(8)),
        ("funcgraph_*:COMM=='work'", []),
        ("funcgraph_*:COMM!='work'", range(8)),
        ("funcgraph_*:COMM~'*kl?ad'", range(8)),
        ("funcgraph_*:common_pid==1 && common_flags==0", range(8)),
        ("funcgraph_*:func==leaf", [2, 3, 4, 5]),
        ("funcgraph_*:func!=leaf", [0, 1, 6, 7]),
        ('funcgraph_*:func~"[ls]*"', [0, 2, 3, 4, 5, 7]),
        (f"funcgraph_*:func=={address('leaf', 8)}", [2, 3, 4, 5]),
        (f"funcgraph_*:func>={address('leaf', 8):#X}", [2, 3, 4, 5]),
    ],
)
def test_what_a_filter_chooses(text, events):
    assert chosen(GRAPH, text) == list(events)


def test_one_of_several_filters_must_match():
    filters = ["funcgraph_entry:depth==0", "funcgraph_entry:depth==1", "funcgraph_exit:depth==0"]
    assert chosen(GRAPH, *filters) == [0, 1, 7]


@pytest.mark.parametrize("form", FORMATS)
def test_symbols_of_function_events(form):
    data = function_trace(form, 6)
    assert chosen(data, "function: ip == leaf") == [2, 5]
    assert chosen(data, "function: parent_ip == caller && ip ~ 'do_*'") == [1, 4]
    assert chosen(data, "function: ip == parent_ip") == []
    assert chosen(data, f"function: ip == {address('start', form[1]):#x}") == [0, 3]


def test_a_function_of_a_module_is_called_by_its_own_name():
    kallsyms = f"{address('start', 8, 0):x} t start\t[calls]\nffffffffffff0000 T _end\n"
    assert chosen(function_trace(FORM, 1, kallsyms=kallsyms), "function: ip == start") == [0]


@pytest.mark.parametrize("form", FORMATS)
def test_texts(form):
    data = switches(form, (b"sh", 7, b"one\0"), (b"a b", -7, b"a b\0"), (b"x\x1b", 8, b"x"))
    assert chosen(data, "sched/sched_switch: prev_comm == sh") == [0]
    assert chosen(data, "sched*/*: prev_comm == 'a b'") == [1]
    assert chosen(data, "sched_switch: what ~ '*e'") == [0]
    assert chosen(data, "sched_switch: prev_pid < 0 || prev_comm ~ 'x*'") == [1, 2]
    assert chosen(data, "sched_switch: prev_comm == what") == [1]
    assert chosen(data, "sched_switch: COMM != what") == [0, 1, 2]
    assert chosen(data, "sched_switch: prev_comm == prev_pid") == []
    assert chosen(data, "sched_switch, function: prev_comm == sh") == [0]


def test_a_function_without_a_name_is_its_address():
    data = trace_file(FORM, [], kallsyms="")
    assert chosen(data, "function: ip == '0x10'") == []


@pytest.mark.parametrize(
    ("text", "position", "says"),
    [
        ("", 1, "the name of an event was expected"),
        (":depth==1", 1, "the name of an event was expected"),
        ("funcgraph_entry,", 17, "the name of an event was expected"),
        ("nix", 1, "the trace has no event 'nix'"),
        ("sched/function", 1, "the trace has no event 'sched/function'"),
        ("function function", 10, "a comma, a colon, or the end was expected"),
        ("function:", 10, "the name of a field was expected"),
        ("function: ", 11, "the name of a field was expected"),
        ("function: 5 == ip", 11, "the name of a field was expected"),
        ("function: depth == 1", 11, "there is no field 'depth' in function"),
        ("function: duration > 1", 11, "there is no field 'duration' in function"),
        ("function: ip", 13, "one of == != < <= > >= & ~ was expected"),
        ("function: ip = 5", 14, "= is not part of any filter"),
        ("function: ip && CPU", 14, "one of == != < <= > >= & ~ was expected"),
        ("function: ip ==", 16, "a number, a text in quotes or a name was expected"),
        ("function: ip == && CPU==0", 17, "a number, a text in quotes or a name was expected"),
        ("function: ip == 5 5", 19, "&& or || was expected"),
        ("function: ip == 5)", 18, "&& or || was expected"),
        ("function: (ip == 5", 19, "a closing parenthesis was expected"),
        ("function: ip == 'do", 17, "a text has no end"),
        ("function: CPU == 'x'", 18, "CPU is a number, and 'x' is none"),
        ("function: CPU == x", 18, "CPU is a number, and x is none"),
        ("function: CPU ~ 0", 17, "a glob is a text, in quotes"),
        ("function: CPU ~ PID", 17, "a glob is compared with a text"),
        ("function: COMM == 5", 19, "COMM is a text, and 5 a number"),
        ("function: COMM < 'x'", 16, "texts and names are compared with == != ~, not with <"),
        ("function: ip & leaf", 14, "texts and names are compared with == != ~, not with &"),
        ("function: ip == 5 ; rm", 19, "; is not part of any filter"),
        ("function: ip == \x1b[31m", 17, "\\x1b is not part of any filter"),
        ("function: CPU == 5x", 18, "CPU is a number, and 5x is none"),
        ("function: " + "(" * 65 + "ip", 75, "more than 64 parentheses within each other"),
        ("function: " + "!" * 65 + "ip", 75, "more than 64 parentheses within each other"),
    ],
)
def test_mistakes(text, position, says):
    with pytest.raises(UsageError) as raised:
        parse_filters([text], event_formats(8))
    assert raised.value.message == f"the filter is wrong at character {position}: {says}"
    shown, mark = raised.value.evidence.splitlines()
    assert raised.value.advice
    if text.isprintable():
        assert (shown, mark) == (f"    {text}", f"{' ' * (position + 3)}^")
    assert shown.isprintable()


def test_what_there_is_to_choose_from_is_told():
    with pytest.raises(UsageError, match="It has: funcgraph_entry, funcgraph_exit, function"):
        parse_filters(["nix"], event_formats(8))
    with pytest.raises(UsageError, match=r"There are: .*ip, parent_ip, COMM, PID, CPU"):
        parse_filters(["function: nix == 1"], event_formats(8))


def test_a_filter_of_any_length_is_refused():
    with pytest.raises(UsageError, match="too long"):
        parse_filters(["function:" + "!" * 10_000], event_formats(8))


def test_as_long_as_allowed():
    terms = " || ".join(["ip==1"] * 450)
    assert chosen(function_trace(FORM, 3), f"function: {terms}") == []
    for term in ("!ip==1", "(ip!=1)"):
        assert chosen(ONE, "function:" + "&&".join([term] * 200)) == [0]


def test_arrays_of_numbers_are_no_fields_to_compare():
    text = event_formats(8)[0].text.replace("long parent_ip;", "long parent_ip[1];")
    with pytest.raises(UsageError, match="no field 'parent_ip'"):
        parse_filters(["function: parent_ip == 0"], [EventFormat.parse(text, "ftrace")])


LEAVES = [("CPU==0", True), ("PID!=1", False), ("COMM~'w*'", True), ("ip<5", False)]
LEAVES += [(f"!{text}", not value) for text, value in LEAVES]


def sums():
    """Texts of terms that && joins, joined by ||, and whether they are true."""
    products = st.lists(st.sampled_from(LEAVES), min_size=1, max_size=4).map(
        lambda one: ("&&".join(text for text, _ in one), all(value for _, value in one))
    )
    return st.lists(products, min_size=1, max_size=4).map(
        lambda one: (" || ".join(text for text, _ in one), any(value for _, value in one))
    )


@given(sums(), sums())
def test_and_binds_closer_than_or_and_parentheses_closest(first, second):
    assert chosen(ONE, f"function:{first[0]}") == [0] * first[1]
    both = f"function:({first[0]}) && ! ({second[0]})"
    assert chosen(ONE, both) == [0] * (first[1] and not second[1])


PIECES = ["function", "funcgraph_*", "sched/", ":", ",", "ip", "depth", "COMM", "CPU", "==", "!=",
          "~", "&", "&&", "||", "!", "(", ")", "<", "0x10", "-5", "'x*'", '"[', "leaf", " ", "\t\n",
          "\0", "\x1b[31m", "é", "\ud800", "99999999999999999999"]  # fmt: skip


@given(
    st.one_of(
        st.lists(st.sampled_from(PIECES), max_size=20).map("".join),
        st.lists(st.sampled_from(PIECES), max_size=20).map(lambda one: "function:" + "".join(one)),
        st.text(alphabet=string.printable + "\0\x1bé", max_size=60).map(lambda one: f"f*:{one}"),
        st.text(max_size=60),
    )
)
def test_any_text_is_a_filter_or_a_plain_error(text):
    reader = TraceDatReader(io.BytesIO(GRAPH))
    complaint = ""
    keep = None
    try:
        keep = parse_filters([text], reader.formats.values())
    except UsageError as error:
        complaint = str(error)
    if keep is None:
        assert complaint
        assert all(line.isprintable() for line in complaint.splitlines())
        return
    assert {type(keep(event)) for event in reader.events()} == {bool}


def test_events_of_two_cpus():
    assert len(chosen(function_trace(FORM, 2, 3), "function: CPU == 1")) == 3
