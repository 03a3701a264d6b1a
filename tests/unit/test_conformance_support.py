# SPDX-License-Identifier: MIT
"""docs/support.rst: every clause on every config, and a reason for what nobody sees."""

import re
from pathlib import Path

import pytest

from clauses_page import escaped
from harness.config import list_configs, load_config, load_port
from harness.conformance import load_catalogue
from support_page import ConfigRow, Sign, mark, support_page, why

PAGE = Path(__file__).parents[2] / "docs" / "support.rst"


def row(config="mips-malta", features=("FUNCTION_TRACER", "DYNAMIC_FTRACE"), judged=()):
    machine = load_config(config)
    port = load_port(machine.port).model_copy(update={"features": features})
    return ConfigRow(machine, port, frozenset(judged))


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
    page = support_page()
    assert PAGE.read_text() == page, "run `python tools/documents`"


def test_every_clause_on_every_config():
    marks = tables(PAGE.read_text())
    everything = {(one.id, name) for one in load_catalogue().clause for name in list_configs()}
    assert marks.keys() == everything
    assert set(marks.values()) <= set(Sign)


def test_the_legend_knows_every_mark():
    legend = PAGE.read_text().partition("What QEMU cannot show")[0]
    explained = re.findall(r"^([A-Za-z.]+(?:, [A-Za-z]+)*)  +\S", legend, re.MULTILINE)
    assert {one for words in explained for one in words.split(", ")} >= set(Sign)


def test_what_nobody_sees_has_a_reason():
    catalogue, text = load_catalogue(), " ".join(PAGE.read_text().split())
    for (id_, name), field in tables(PAGE.read_text()).items():
        if field in (Sign.UNSEEN, Sign.NOBODY):
            assert escaped(why(catalogue[id_], load_config(name))) in text, f"{id_} on {name}"


@pytest.mark.parametrize(
    ("id_", "where", "expected"),
    [
        ("C2a", row(), Sign.NOBODY),
        ("C2a", row(judged=["C2a"]), Sign.JUDGED),
        ("C2a", row(features=[]), Sign.NOT_CLAIMED),
        ("C2d", row(judged=["C2d"]), Sign.NOT_FOR_IT),
        ("C9o", row(judged=["C9o"]), Sign.UNSEEN),
        ("C9o", row("aarch64-virt"), Sign.NOBODY),
        ("C17a", row(), Sign.UNSEEN),
        ("C17a", row("aarch64-virt"), Sign.NOT_CLAIMED),
    ],
)
def test_marks(id_, where, expected):
    assert mark(load_catalogue()[id_], where) is expected
