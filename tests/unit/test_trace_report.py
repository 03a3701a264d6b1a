# SPDX-License-Identifier: MIT
"""``harness report``: the right view of the right events, and plain errors."""

import json

import pytest
from click.testing import CliRunner

from graph_files import NESTED, graph_trace
from harness.cli.report import VIEWS, report
from harness.errors import UsageError
from trace_files import function_trace

FORM = ("big", 4)


@pytest.fixture
def run(tmp_path):
    def invoke(data, *arguments):
        path = tmp_path / "trace.dat"
        path.write_bytes(data)
        done = CliRunner().invoke(report, [str(path), *arguments])
        if done.exception is not None and not isinstance(done.exception, SystemExit):
            raise done.exception
        return done.stdout_bytes.decode(errors="backslashreplace")

    return invoke


@pytest.mark.parametrize("view", VIEWS)
def test_every_view_goes_to_a_file_and_to_the_terminal(run, view, tmp_path):
    shown = run(graph_trace(FORM, NESTED), "-f", view)
    assert run(graph_trace(FORM, NESTED), "-f", view, "-o", str(tmp_path / "out")) == ""
    assert (tmp_path / "out").read_text(errors="backslashreplace") == shown
    assert "leaf" in shown


def test_text_follows_the_tracer(run):
    assert run(graph_trace(FORM, NESTED)).startswith("# tracer: function_graph\n")
    assert run(function_trace(FORM, 3)).startswith("# tracer: function\n")
    assert run(function_trace(FORM, 0)).startswith("# tracer: nop\n")


def test_options_of_the_graph_view(run):
    for view in ("text", "graph"):
        shown = run(graph_trace(FORM, NESTED), "-f", view, "-O", "funcgraph-tail")
        assert shown.endswith("|  } /* start */\n")


def test_filters(run):
    filters = ("-F", "funcgraph_entry: func == start", "-F", "funcgraph_entry: func == leaf")
    shown = json.loads(run(graph_trace(FORM, NESTED), "-f", "json", *filters))
    assert [e["symbols"]["func"] for e in shown["events"]] == ["start", "leaf", "leaf"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (("-O", "nix"), "'nix' is not an option"),
        (("-F", "nix"), "no event 'nix'"),
        (("-f", "csv", "-O", "funcgraph-tail"), "is an option of the graph view"),
    ],
)
def test_mistakes(run, arguments, says, tmp_path):
    with pytest.raises(UsageError, match=says):
        run(graph_trace(FORM, NESTED), "-o", str(tmp_path / "out"), *arguments)
    assert not (tmp_path / "out").exists()


def test_graph_options_are_of_no_use_to_a_function_trace(run):
    with pytest.raises(UsageError, match="is an option of the graph view"):
        run(function_trace(FORM, 3), "-O", "funcgraph-tail")


def test_a_damaged_file_leaves_no_output(run, tmp_path):
    data = bytearray(graph_trace(FORM, NESTED))
    data[-4096 + 8 : -4096 + 12] = (5).to_bytes(4, "big")
    with pytest.raises(UsageError, match="page 0 of CPU 0"):
        run(bytes(data), "-o", str(tmp_path / "out"))
    assert not (tmp_path / "out").exists()
