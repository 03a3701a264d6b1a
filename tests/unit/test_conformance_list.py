# SPDX-License-Identifier: MIT
"""``harness list clauses``."""

import json

from click.testing import CliRunner

from harness.cli.command import harness
from harness.conformance import load_catalogue
from harness.conformance.coverage import Covered


def listed(*arguments):
    done = CliRunner().invoke(harness, ["list", "clauses", "--json", *arguments])
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_all_of_them():
    rows = listed()
    assert [row["id"] for row in rows] == [clause.id for clause in load_catalogue().clause]
    assert set(rows[0]) == {"id", "feature", "source", "title"}
    assert rows[0]["source"] == "ftrace-design, HAVE_FUNCTION_TRACER"
    assert {"FUNCTION_TRACER + FUNCTION_GRAPH_TRACER"} <= {row["feature"] for row in rows}


def test_those_of_a_config():
    rows = {row["id"]: row["covered"] for row in listed("-c", "aarch64-virt")}
    assert "M4a" not in rows
    assert (rows["C1a"], rows["C6c"]) == ("yes", "no")
    assert rows["C13a"] == "not observable"
    assert set(rows.values()) <= set(Covered)
    assert "M4b" in {row["id"] for row in listed("-c", "mipsel-malta")}


def test_a_table_for_people():
    done = CliRunner().invoke(harness, ["list", "clauses", "-c", "mips-malta"])
    assert done.output.splitlines()[0].split() == ["id", "feature", "source", "title", "covered"]
