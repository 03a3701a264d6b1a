# SPDX-License-Identifier: MIT
"""The report's pages in a browser: on a desktop and a phone, in light and dark mode, offline.

``HARNESS_SCREENSHOTS=DIR`` keeps pictures of all of it.
"""

from dataclasses import replace
from pathlib import Path

import pytest

from harness.config import list_configs
from harness.conformance.catalogue import load_catalogue
from harness.conformance.reports.report import as_json
from harness.matrix import expand, load_matrix
from harness.matrix.cells import COST
from harness.matrix.compare import compare
from harness.matrix.html import write_pages
from harness.matrix.result import CellOutcome, CellVerdict
from harness.matrix.rundir import attempt_directory
from matrix_drafts import RESULT, failed
from report_drafts import CODE, COMMAND, LOST, finding, report

pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from support.browser import (
    VIEWPORTS,
    check,
    contrast,
    open_page,
    picture,
    scheme,
    stays_in_sight,
)

# One process makes the pages of the whole matrix.
pytestmark = pytest.mark.xdist_group("browser")

NIGHTS = 9
DAY = 86400.0
LONG = "w" * 300
BROKEN = "mips64-malta/graph/gcc-O3-auto/calls"
SLOWER = "mips-malta/graph/gcc-O2-auto/sort"
JUDGED = "mips-malta/dynamic/gcc-O2-auto/conform"
CLAUSES = [clause.id for clause in load_catalogue().clause][:39]
PRINTED = "<b>a guest</b> says \x1b[31mred\n" * 3


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The whole matrix over some nights, with every kind of change in the last."""
    root = tmp_path_factory.mktemp("report")
    # In the order in which they begin.
    cells = sorted(expand(load_matrix()).cells, key=lambda cell: COST[cell.kind])
    nights = [list(_night([cell.name for cell in cells], night)) for night in range(NIGHTS)]
    found = compare(nights[-2], nights[-1], names=("8" * 40, "9" * 40 + "+12345678"))
    last = next(one for one in nights[-1] if one.cell == BROKEN)
    where = attempt_directory(root / "run", BROKEN, last.id)
    where.mkdir(parents=True)
    (where / "log.txt").write_text(PRINTED)
    (where / "trace.dat").write_bytes(b"tracing")
    last = next(one for one in nights[-1] if one.cell == JUDGED)
    where = attempt_directory(root / "run", JUDGED, last.id)
    where.mkdir(parents=True)
    (where / "log.txt").write_text(PRINTED)
    judged = report(finding("C1a", replace(LOST, message=LONG), CLAUSES[1:], listing=CODE))
    (where / "conform.json").write_text(as_json([judged], COMMAND))
    past = [one for night in nights for one in night]
    write_pages(root / "pages", found, nights[-1], past, root / "run")
    return root / "pages"


def _night(cells, night):
    last = night == NIGHTS - 1
    for at, cell in enumerate(cells):
        one = replace(
            *(RESULT,),
            id=f"{night}-{at}",
            cell=cell,
            run=f"r{night}",
            revision=f"{night}" * 40,
            started=1.767e9 + night * DAY,
            command=f"harness matrix cell {cell}",
            instructions=100_000 + at * 1000 + night,
            versions={"gcc": "gcc 13" if last else "gcc 12"},
        )
        if cell == SLOWER and last:
            one = replace(one, instructions=one.instructions * 11 // 10)
        if cell == BROKEN and last:
            one = failed(one, "answer", f"<i>not markup</i> {LONG}")
        if cell.endswith("threads") and "mips-malta/" in cell and night >= NIGHTS - 2:
            late = {"outcome": CellOutcome.TIMEOUT, "message": "not over after 900 s"}
            one = replace(one, **late, verdicts=(), instructions=None)
        if cell.endswith("conform"):
            wrong = last and cell == JUDGED
            clauses = (CellVerdict(id_, "fail" if wrong else "pass", LONG) for id_ in CLAUSES)
            seen = CellVerdict("C13a", "not observable", "one CPU")
            outcome = CellOutcome.FAIL if wrong else one.outcome
            one = replace(one, verdicts=(*clauses, seen), outcome=outcome)
        yield one
        if cell.endswith("soak") and "virt-smp" in cell and last:
            yield failed(replace(one, id=f"{one.id}b"), "events", "1 events were lost")


def test_the_first_page_shows_the_grid_and_the_trend(browser, pages):
    open_page(browser, pages / "index.html")
    tiles = [tile.text.split("\n") for tile in browser.find_elements(By.CLASS_NAME, "tile")]
    assert ["40", "broke"] in tiles
    assert ["1", "slower"] in tiles
    (overview, *others) = browser.find_elements(By.CSS_SELECTOR, "table.grid")
    states = "return [...arguments[0].querySelectorAll('a')].map(link => link.className)"
    assert {"mark pass", "mark fail", "mark flaky"} == set(browser.execute_script(states, overview))
    configs = [row.text for row in overview.find_elements(By.CSS_SELECTOR, "tr.group")]
    assert configs == list_configs()
    modes = [row.text for row in overview.find_elements(By.CSS_SELECTOR, "tbody th.row")]
    assert modes[:3] == ["static", "dynamic", "graph"]
    versions = [row.text for row in browser.find_elements(By.CSS_SELECTOR, "#tools td")]
    assert versions == ["gcc", "gcc 12", "gcc 13"]
    # Which mode a row is about stays in sight, however far its squares are moved.
    box = overview.find_element(By.XPATH, "..")
    row = overview.find_element(By.CSS_SELECTOR, "th.row + td").find_element(
        By.XPATH, "../th[@class='row']"
    )
    stays, moved = stays_in_sight(browser, box, row)
    assert stays
    assert (moved > 0) == (browser.viewport == "phone")
    flags = {tuple(cell.name.split("/")[2:]) for cell in expand(load_matrix()).cells}
    works = [work for _, work in flags]
    assert len(others) == len({work for work in works if works.count(work) > 1}) > 1
    assert len(browser.find_elements(By.CSS_SELECTOR, "svg rect")) == NIGHTS
    points = browser.find_element(By.TAG_NAME, "polyline").get_attribute("points").split()
    assert len(points) == NIGHTS
    picture(browser, "index")
    chart = browser.find_element(By.TAG_NAME, "svg")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", chart)
    picture(browser, "nights")


def test_links_lead_to_the_cell_its_evidence_and_back(browser, pages):
    open_page(browser, pages / "index.html")
    follow(browser, browser.find_element(By.LINK_TEXT, BROKEN))
    assert browser.find_element(By.TAG_NAME, "h1").text == BROKEN
    body = browser.find_element(By.TAG_NAME, "body").text
    assert f"<i>not markup</i> {LONG}" in body
    assert f"harness matrix cell {BROKEN}" in body
    assert r"<b>a guest</b> says \x1b[31mred" in body
    picture(browser, "cell")
    trace = browser.find_element(By.LINK_TEXT, "trace.dat").get_attribute("href")
    assert Path(trace.removeprefix("file://")).read_bytes() == b"tracing"
    follow(browser, browser.find_element(By.LINK_TEXT, "The matrix"))
    (pressed,) = (
        a
        for a in browser.find_elements(By.CSS_SELECTOR, "a.mark.fail")
        if a.get_attribute("href").endswith("#work-calls")
    )
    follow(browser, pressed)
    # What a browser scrolls to begins within a pixel of the top.
    top = "return Math.round(document.getElementById('work-calls').getBoundingClientRect().top)"
    assert 0 <= browser.execute_script(top) < VIEWPORTS[browser.viewport][1]
    picture(browser, "work")
    grid = browser.find_element(By.CSS_SELECTOR, "#work-calls + div")
    follow(browser, grid.find_element(By.CSS_SELECTOR, "a.fail"))
    assert browser.find_element(By.TAG_NAME, "h1").text == BROKEN


def follow(browser, link):
    """Follow a link by the keyboard, which must work without a mouse too."""
    link.send_keys(Keys.ENTER)
    check(browser)


def test_clauses_that_one_fault_breaks_are_one_line(browser, pages):
    open_page(browser, pages / "index.html")
    line = browser.find_element(By.XPATH, "//summary[contains(., '39 of conform')]")
    assert line.text.startswith(f"39 of conform in {JUDGED}: C1a, C1b, C1c")
    link = line.find_element(By.XPATH, f"..//a[text()='{JUDGED}']")
    assert not link.is_displayed()
    line.click()
    check(browser)
    follow(browser, link)
    article = browser.find_element(By.TAG_NAME, "article")
    assert "=> 172" in article.text
    for summary in browser.find_elements(By.TAG_NAME, "summary"):
        browser.execute_script("arguments[0].parentElement.open = true", summary)
    check(browser)
    picture(browser, "judged")


def test_every_link_of_every_page_leads_to_a_file(chromium, pages):
    chromium.get((pages / "index.html").as_uri())
    hrefs = chromium.execute_script("return [...document.links].map(a => a.href.split('#')[0])")
    every = {Path(href.removeprefix("file://")) for href in hrefs}
    assert len(every) > 900
    assert not [path for path in every if not path.is_file()]


def test_text_can_be_read_by_day_and_by_night(browser, pages):
    try:
        grounds = []
        for name in ("light", "dark"):
            scheme(browser, name)
            open_page(browser, pages / "index.html")
            picture(browser, name)
            grounds.append(
                browser.execute_script("return getComputedStyle(document.body).backgroundColor")
            )
            kinds = ["a.mark.pass", "a.mark.fail", "a.mark.flaky", ".tile.none", "p.quiet", "li a"]
            for kind in [*kinds, "thead th", "tr.group th", "td .badge.fail"]:
                element = browser.find_element(By.CSS_SELECTOR, kind)
                assert contrast(browser, element) >= 4.5, (name, kind)
        assert grounds[0] != grounds[1]
    finally:
        scheme(browser, "light")
