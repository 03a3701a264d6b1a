# SPDX-License-Identifier: MIT
"""The pages of the matrix hold together, and show what a cell left behind."""

import json
import re
from dataclasses import replace
from urllib.parse import unquote

import pytest

from harness.matrix.compare import compare
from harness.matrix.html import write_pages
from matrix_drafts import RESULT, failed
from page_checks import Page
from support.matrix_changes import EVIL, NEW_GCC, NOW

CONFORM = {
    "config": "mips-malta",
    "port": "mips",
    "seconds": 1,
    "clauses": [],
    "findings": [
        {
            "clause": "C10a",
            "message": "the slot <i>is wrong",
            "check": "slots",
            "builds": ["dynamic"],
            "file": "mcount.S",
            "line": 7,
            "function": "ftrace_call",
            "instruction": "0x10: nop",
            "how": "was called",
            "evidence": {},
            "blocks": ["C10b"],
            "repeat": "harness conform --clause C10a",
        }
    ],
}


@pytest.mark.parametrize(
    ("written", "shown"),
    [
        (json.dumps({"format": 1, "reports": [CONFORM]}), True),
        (json.dumps({"format": 2, "reports": [CONFORM]}), False),
        (json.dumps({"format": 1, "reports": [{}]}), False),
        ("[" * 100_000, False),
        ("", False),
    ],
)
def test_the_page_of_a_judged_port_shows_its_findings(written, shown, tmp_path):
    where = tmp_path / "run" / "cells" / NOW.cell / NOW.id
    where.mkdir(parents=True)
    (where / "log.txt").write_text("")
    (where / "conform.json").write_text(written)
    found = compare([], [NOW], names=("", "2222"))
    write_pages(tmp_path / "pages", found, [NOW], [NOW], tmp_path / "run")
    (page,) = (tmp_path / "pages" / "cells").iterdir()
    text = Page(page).text
    assert ("the slot <i>is wrong" in text) == shown
    assert ("mcount.S:7 in ftrace_call : nop was called" in text) == shown
    assert ("breaks C10a" in text) == shown


LINK = re.compile(r'(?:href|src)="([^"]*)"')


def test_pages_hold_together_and_need_nothing_from_elsewhere(tmp_path):
    new = {"started": 2002.0, "versions": NEW_GCC}
    graph = replace(NOW, id="b2", cell="mips-malta/graph/gcc-O0-fp/calls", **new)
    now = [NOW, failed(replace(NOW, id="b3", started=2001.0)), graph]
    found = compare([RESULT], now, names=("1111", "2222"))
    write_pages(tmp_path, found, now, [RESULT, *now])
    pages = sorted(path.relative_to(tmp_path) for path in tmp_path.rglob("*.html"))
    assert len(pages) == 3
    for page in pages:
        text = (tmp_path / page).read_text()
        links = LINK.findall(text)
        assert links
        for link in links:
            file, _, anchor = link.partition("#")
            assert (tmp_path / (page.parent / unquote(file) if file else page)).is_file()
            assert not anchor or f'id="{anchor}"' in text
        assert "//" not in text
        assert "<script" not in text
        assert 'name="viewport"' in text
    index = (tmp_path / "index.html").read_text()
    assert '<a class="mark flaky" href="cells/mips-malta~dynamic~gcc-O2-nofp~calls.html"' in index
    assert "Flaky (1)" in index
    assert "<td>gcc</td><td>gcc 12</td><td>gcc 13</td>" in index
    cell = (tmp_path / "cells" / "mips-malta~dynamic~gcc-O2-nofp~calls.html").read_text()
    assert "<polyline" in cell
    assert "30\N{NARROW NO-BREAK SPACE}655" in cell
    assert RESULT.command in cell


def test_what_a_guest_prints_stays_text_on_every_page(tmp_path):
    bad = failed(replace(NOW, versions={EVIL: EVIL}), message=EVIL)
    strange = replace(bad, id="b2", cell='../../x"><script>/../a')
    found = compare([RESULT], [bad, strange], names=(EVIL, EVIL))
    target = tmp_path / "pages"
    write_pages(target, found, [bad, strange], [bad, strange])
    assert {path.parent for path in tmp_path.rglob("*.html")} == {target, target / "cells"}
    for page in target.rglob("*.html"):
        assert "<script" not in page.read_text()


def test_a_page_shows_the_end_of_the_log_and_links_to_what_the_run_kept(tmp_path):
    where = tmp_path / "run" / "cells" / NOW.cell / NOW.id
    where.mkdir(parents=True)
    (where / "log.txt").write_text("first\n" + "x\n" * 500 + f"last {EVIL}\n", errors="replace")
    (where / "trace #1.dat").write_text("")
    found = compare([], [NOW], names=("", "2222"))
    write_pages(tmp_path / "pages", found, [NOW], [NOW], tmp_path / "run")
    (page,) = (tmp_path / "pages" / "cells").iterdir()
    text = page.read_text()
    assert "first" not in text
    assert "last " in text
    assert "<script" not in text
    links = [unquote(link) for link in LINK.findall(text)]
    assert (page.parent / links[-1]).resolve() == where / "trace #1.dat"
