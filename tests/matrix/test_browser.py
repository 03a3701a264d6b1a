# SPDX-License-Identifier: MIT
"""The report's pages in a browser: on a desk and on a phone, by day and by night, offline.

``HARNESS_SCREENSHOTS=DIR`` keeps pictures of all of it.
"""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from harness.config import list_configs
from harness.matrix import expand, load_matrix
from harness.matrix.cells import COST
from harness.matrix.compare import compare
from harness.matrix.html import write_pages
from harness.matrix.result import CellOutcome, CellVerdict
from harness.matrix.rundir import attempt_directory
from matrix_drafts import RESULT, failed

selenium = pytest.importorskip("selenium.webdriver", reason="selenium is not installed")
CHROMIUM = shutil.which("chromium")
DRIVER = shutil.which("chromedriver")
if not (CHROMIUM and DRIVER):
    pytest.skip("chromium or chromium-driver is not installed", allow_module_level=True)

from selenium.webdriver.common.by import By  # noqa: E402
from selenium.webdriver.common.keys import Keys  # noqa: E402

ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-sync", "--no-first-run"),
    *("--disable-component-update", "--hide-scrollbars"),
)
VIEWPORTS = {"desk": (1280, 900), "phone": (390, 844)}
NIGHTS = 9
DAY = 86400.0
LONG = "w" * 300
BROKEN = "mips64-malta/graph/gcc-O3-auto/calls"
SLOWER = "mips-malta/graph/gcc-O2-auto/sort"
PRINTED = "<b>a guest</b> says \x1b[31mred\n" * 3


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The whole matrix over some nights, with something of everything in the last."""
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
            clauses = tuple(CellVerdict(f"C{number}a", "pass") for number in range(60))
            one = replace(one, verdicts=(*clauses, CellVerdict("C99", "not observable", "one CPU")))
        yield one
        if cell.endswith("soak") and "virt-smp" in cell and last:
            yield failed(replace(one, id=f"{one.id}b"), "events", "1 events were lost")


@pytest.fixture(scope="module")
def chromium(tmp_path_factory):
    options = selenium.ChromeOptions()
    options.binary_location = CHROMIUM
    profile = tmp_path_factory.mktemp("profile")
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    service = selenium.ChromeService(DRIVER, env={**os.environ, "HOME": str(profile)})
    driver = selenium.Chrome(options, service)
    try:
        driver.execute_cdp_cmd("Network.enable", {})
        offline = {"offline": True, "latency": 0, "downloadThroughput": 0, "uploadThroughput": 0}
        driver.execute_cdp_cmd("Network.emulateNetworkConditions", offline)
        yield driver
    finally:
        driver.quit()


@pytest.fixture(params=VIEWPORTS)
def browser(request, chromium):
    chromium.execute_cdp_cmd(
        "Emulation.setDeviceMetricsOverride",
        {
            **dict(zip(("width", "height"), VIEWPORTS[request.param], strict=True)),
            "deviceScaleFactor": 1,
            "mobile": request.param == "phone",
        },
    )
    chromium.viewport = request.param
    return chromium


def scheme(browser, name):
    features = [{"name": "prefers-color-scheme", "value": name}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def picture(browser, name):
    """Keep a picture if somebody wants to look."""
    directory = os.environ.get("HARNESS_SCREENSHOTS")
    if directory:
        browser.save_screenshot(f"{directory}/{name}-{browser.viewport}.png")


def open_page(browser, path):
    """Open it, and check what holds for every page of the report."""
    browser.get(path.as_uri())
    check(browser)


def check(browser):
    width, _ = VIEWPORTS[browser.viewport]
    # What is wider scrolls in a box of its own; the page does not.
    assert browser.execute_script("return document.documentElement.scrollWidth") == width
    assert browser.execute_script("return innerWidth") == width
    # Nor does a number stand out of its tile.
    for number in browser.find_elements(By.CSS_SELECTOR, ".tile b"):
        wider = browser.execute_script("return arguments[0].scrollWidth", number)
        assert wider <= browser.execute_script("return arguments[0].clientWidth", number)
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    assert not browser.find_elements(
        By.CSS_SELECTOR, "script, link, img, iframe, td i, li i, pre b"
    )


def contrast(browser, element):
    """Of text against what it stands on, as the accessibility guidelines of the W3C count it."""
    return browser.execute_script(
        """
        const light = text => {
            const [r, g, b] = text.match(/[\\d.]+/g).map(n => n / 255)
                .map(c => c <= 0.03928 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4);
            return 0.2126 * r + 0.7152 * g + 0.0722 * b;
        };
        let ground = arguments[0];
        while (/, 0\\)$/.test(getComputedStyle(ground).backgroundColor))
            ground = ground.parentElement;
        const two = [light(getComputedStyle(arguments[0]).color),
                     light(getComputedStyle(ground).backgroundColor)].sort((a, b) => b - a);
        return (two[0] + 0.05) / (two[1] + 0.05);
        """,
        element,
    )


def test_the_first_page_shows_the_grid_and_the_trend(browser, pages):
    open_page(browser, pages / "index.html")
    tiles = [tile.text.split("\n") for tile in browser.find_elements(By.CLASS_NAME, "tile")]
    assert ["1", "broke"] in tiles
    assert ["1", "slower"] in tiles
    (overview, *others) = browser.find_elements(By.CSS_SELECTOR, "table.grid")
    states = [a.get_attribute("class") for a in overview.find_elements(By.TAG_NAME, "a")]
    assert {"mark pass", "mark fail", "mark flaky"} == set(states)
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
    before = row.rect["x"]
    browser.execute_script("arguments[0].scrollLeft = 10000", box)
    moved = browser.execute_script("return arguments[0].scrollLeft", box)
    assert (moved > 0) == (browser.viewport == "phone")
    assert abs(row.rect["x"] - before) <= 1
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
    """Press a link from the keyboard, so that it works without a mouse too."""
    link.send_keys(Keys.ENTER)
    check(browser)


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
