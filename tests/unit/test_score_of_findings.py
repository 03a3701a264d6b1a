# SPDX-License-Identifier: MIT
"""How near the place of a finding is to the fault."""

import runpy
from pathlib import Path

import pytest

TOOL = runpy.run_path(str(Path(__file__).parents[2] / "tools/score_of_findings.py"))
statement = TOOL["statement"]

SOURCE = """\
/* A comment,
 * in two lines. */
static int called(int first,
          int second)
{
    if (first &&
        second)
        return call(first,
                second);    /* why */

    return 0;
}
""".splitlines()


@pytest.mark.parametrize(
    ("number", "end"), [(1, 1), (3, 4), (5, 5), (6, 7), (8, 9), (9, 9), (10, 10), (11, 11)]
)
def test_a_statement_goes_on_up_to_its_end(number, end):
    assert statement("ftrace.c", number, SOURCE) == [*range(number, end + 1)]


def test_a_switch_has_its_cases():
    inner = ["\t\tswitch (more) {", "\t\tcase NONE:", "\t\t\tbreak;", "\t\t}"]
    source = ["\tswitch (kind) {", "\tcase ONE:", *inner, "\tcase TWO:", "\t}", "\tcase THREE:"]
    assert statement("ftrace.c", 1, source) == [1, 2, 7]
    assert statement("ftrace.c", 3, source) == [3, 4]


def test_the_line_beside_a_call_that_is_shown_is_told():
    edited, texts = {"a.c": [3]}, {"a.c": "one();\ntwo();\n\n/* why */\nthree();\n"}
    assert TOOL["distances"](texts, edited, "a.c", 2) == [1]
    assert TOOL["distances"](texts, edited, "a.c", 5) == [1]
    assert TOOL["distances"](texts, edited, "a.c", 1) == [2]
    assert TOOL["distances"](texts, edited, "b.c", 1) == []


def test_a_line_of_assembly_is_a_statement():
    assert statement("mcount.S", 6, SOURCE) == [6]


@pytest.mark.parametrize("number", [0, 99])
def test_a_line_that_is_not_there_is_alone(number):
    assert statement("ftrace.c", number, SOURCE) == [number]
