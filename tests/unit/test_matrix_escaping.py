# SPDX-License-Identifier: MIT
"""What strangers wrote stays text in the reports of the matrix, and links lead nowhere else."""

import os
import re
from dataclasses import replace
from xml.etree import ElementTree as Xml

from harness.matrix.compare import compare
from harness.matrix.html import write_pages
from harness.matrix.report import junit, lines, markdown
from harness.matrix.result import CellOutcome, CellVerdict
from matrix_drafts import RESULT

NOW = replace(RESULT, id="b1", run="r2", revision="2222", started=2000.0)
LINK = re.compile(r'(?:href|src)="([^"]*)"')


def evil(text):
    """Texts that no run makes, in every place."""
    lie = replace(NOW, cell=f"c/{text}", command=text, message=text, revision=text, run=text)
    lie = replace(lie, versions={text: text}, verdicts=(CellVerdict(text, "fail", text),), id="b2")
    return replace(lie, outcome=CellOutcome.FAIL, instructions=None)


CONTROL = "a\x1b[31mb\x9b1mc\x00d\x7fe\ufffef\ud800g\u202eh\rforged: i"


def test_control_characters_of_strangers_are_in_no_report(tmp_path):
    bad = evil(CONTROL)
    slow = replace(
        bad, id="b3", cell=f"s/{CONTROL}", instructions=9, outcome=CellOutcome.PASS, verdicts=()
    )
    old = [
        replace(slow, instructions=1, versions={CONTROL: "1"}),
        replace(bad, cell=f"m/{CONTROL}"),
    ]
    found = compare(old, [bad, slow], names=(CONTROL, CONTROL), note=CONTROL)
    assert found.broke
    assert found.slower
    assert found.missing
    assert found.tools
    for text in (*lines(found), *markdown(found).splitlines()):
        assert text.isprintable(), text
    tree = Xml.fromstring(junit([bad, slow]))
    shown = [text for one in tree.iter() for text in (*one.attrib.values(), one.text or "")]
    assert all(line.isprintable() for text in shown for line in text.split("\n"))
    write_pages(tmp_path, found, [bad, slow], [*old, bad, slow])
    for page in tmp_path.rglob("*.html"):
        for line in page.read_text().split("\n"):
            assert line.isprintable(), line


def test_what_strangers_wrote_begins_no_line(tmp_path):
    bad = evil("x\nbroke: forged\n\n## forged")
    found = compare([], [bad], names=("a\nbroke: forged", "b\n## forged"), note="c\nforged: d")
    for text in (*lines(found), *markdown(found).splitlines()):
        assert not text.lstrip("- `#").startswith(("broke: forged", "## forged", "forged"))
        assert "\n" not in text


def test_a_page_shows_no_file_that_a_link_of_the_run_leads_to(tmp_path):
    where = tmp_path / "run" / "cells" / NOW.cell / NOW.id
    where.mkdir(parents=True)
    (tmp_path / "secret").write_text("the key\n")
    (where / "log.txt").symlink_to(tmp_path / "secret")
    (where / "key").symlink_to(tmp_path / "secret")
    found = compare([], [NOW], names=("", "2222"))
    for _ in range(2):
        write_pages(tmp_path / "pages", found, [NOW], [NOW], tmp_path / "run")
        (page,) = (tmp_path / "pages" / "cells").iterdir()
        assert "the key" not in page.read_text()
        assert "key" not in LINK.findall(page.read_text())
        (where / "log.txt").unlink(missing_ok=True)
        (where / "log.txt").write_text("own\n")
        (where / os.fsdecode(b"caf\xe9")).touch()
    assert "own" in page.read_text()
