# SPDX-License-Identifier: MIT
"""docs/support.rst: every clause on every config, and a reason for what nobody sees."""

import re
from pathlib import Path

import pytest

from harness.config import list_configs, load_config
from harness.conformance import Check, load_catalogue, load_checks
from harness.conformance.page import escaped
from harness.conformance.support import Mark, Row, mark, render_support, why

PAGE = Path(__file__).parents[2] / "docs" / "support.rst"
CHECK = Check(test="x", clauses=("C2a",), builds=("dynamic",), configs=("*",))
FULL = CHECK.model_copy(update={"builds": ("dynamic", "static")})


def row(config="mips-malta", features=("FUNCTION_TRACER", "DYNAMIC_FTRACE"), judged=()):
    return Row(load_config(config), frozenset(features), frozenset(judged))


def tables(text):
    """The marks of the page: {(clause, config): mark}."""
    found, columns = {}, []
    for line in text.splitlines():
        first, *rest = line.split()[:40] or [""]
        if first == "config" and rest:
            columns = rest
        elif first in list_configs() and len(rest) == len(columns):
            found |= {(clause, first): field for clause, field in zip(columns, rest, strict=True)}
    return found


def test_the_page_is_current():
    page = render_support(load_catalogue(), load_checks())
    assert PAGE.read_text() == page, "run `python -m harness.conformance`"


def test_every_clause_on_every_config():
    marks = tables(PAGE.read_text())
    everything = {(one.id, name) for one in load_catalogue().clause for name in list_configs()}
    assert marks.keys() == everything
    assert set(marks.values()) <= set(Mark)


def test_the_legend_knows_every_mark():
    legend = PAGE.read_text().partition("What QEMU cannot show")[0]
    explained = re.findall(r"^([A-Za-z.]+(?:, [A-Za-z]+)*)  +\S", legend, re.MULTILINE)
    assert {one for words in explained for one in words.split(", ")} >= set(Mark)


def test_what_nobody_sees_has_a_reason():
    catalogue, text = load_catalogue(), " ".join(PAGE.read_text().split())
    for (id_, name), field in tables(PAGE.read_text()).items():
        if field in (Mark.UNSEEN, Mark.NOBODY):
            assert escaped(why(catalogue[id_], row(name))) in text, f"{id_} on {name}"


@pytest.mark.parametrize(
    ("id_", "where", "tested", "expected"),
    [
        ("C2a", row(), [], Mark.NOBODY),
        ("C2a", row(), [CHECK], Mark.PARTLY),
        ("C2a", row(), [FULL], Mark.TESTED),
        ("C2a", row(judged=["C2a"]), [], Mark.JUDGED),
        ("C2a", row(judged=["C2a"]), [CHECK], Mark.PARTLY_JUDGED),
        ("C2a", row(judged=["C2a"]), [FULL], Mark.TESTED_JUDGED),
        ("C2a", row(features=[]), [FULL], Mark.NOT_CLAIMED),
        ("C2d", row(), [FULL], Mark.NOT_FOR_IT),
        ("C9o", row(judged=["C9o"]), [FULL], Mark.UNSEEN),
        ("C9o", row("aarch64-virt"), [FULL], Mark.NOBODY),
        ("C17a", row(), [], Mark.UNSEEN),
        ("C17a", row("aarch64-virt"), [], Mark.NOT_CLAIMED),
    ],
)
def test_marks(id_, where, tested, expected):
    assert mark(load_catalogue()[id_], where, tested) is expected
