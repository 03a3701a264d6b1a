# SPDX-License-Identifier: MIT
"""The pages of harness conform in a browser: on a desktop and a phone, in light and dark mode."""

from dataclasses import replace

import pytest

from harness.conformance.catalogue import load_catalogue
from report_drafts import CODE, EVENTS, LOST, finding, pages_of, report

pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

from selenium.webdriver.common.by import By

from support.browser import check, contrast, open_page, picture, scheme, stays_in_sight

CLAUSES = [clause.id for clause in load_catalogue().clause]
LONG = "<i>w" * 80


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """All clauses on ten configs, with two findings, one of which has very long words."""
    lost = finding("C1a", LOST, CLAUSES[1:40], listing=CODE)
    long = replace(EVENTS, message=LONG, evidence={LONG: [LONG] * 20, "guest": f"{LONG}\n" * 9})
    events = finding(CLAUSES[-1], long)
    every = [
        report(lost, events, config=f"aarch64-virt-bti-pac-{number}", passed=CLAUSES[40:-1])
        for number in range(10)
    ]
    directory = tmp_path_factory.mktemp("pages")
    pages_of(directory, *every)
    return directory


def open_all(browser):
    browser.execute_script("document.querySelectorAll('details').forEach(one => one.open = true)")
    check(browser)


def test_the_first_page(browser, pages):
    open_page(browser, pages / "index.html")
    assert len(browser.find_elements(By.TAG_NAME, "article")) == 2
    rows = [row.text for row in browser.find_elements(By.CSS_SELECTOR, "tbody th.row b")]
    assert rows == CLAUSES
    picture(browser, "conform")
    source, code = browser.find_elements(By.CSS_SELECTOR, ".beside > figure")[:2]
    beside = source.rect["y"] == code.rect["y"]
    assert beside == (browser.viewport == "desk")
    # The clause of a row stays in sight, however far its verdicts are moved.
    box = browser.find_element(By.CSS_SELECTOR, "table.clauses").find_element(By.XPATH, "..")
    row = browser.find_element(By.CSS_SELECTOR, "tbody th.row")
    stays, moved = stays_in_sight(browser, box, row)
    assert stays
    assert moved > 0 or browser.viewport == "desk"
    open_all(browser)
    picture(browser, "conform-open")


def test_the_text_of_a_clause_is_a_click_away(browser, pages):
    open_page(browser, pages / "index.html")
    summary = browser.find_element(By.CSS_SELECTOR, "#C1a summary")
    text = browser.find_element(By.CSS_SELECTOR, "#C1a .clause > div")
    assert not text.is_displayed()
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", summary)
    summary.click()
    assert text.text.startswith("Every argument register")
    check(browser)


def test_only_what_is_not_kept(browser, pages):
    open_page(browser, pages / "index.html")
    choice = browser.find_element(By.ID, "only")
    browser.execute_script("arguments[0].scrollIntoView({block: 'center'})", choice)
    choice.click()
    rows = browser.find_elements(By.CSS_SELECTOR, "table.clauses tbody tr")
    assert [row.get_attribute("id") for row in rows if row.is_displayed()] == [
        *CLAUSES[:40],
        CLAUSES[-1],
    ]


def test_the_page_of_a_config(browser, pages):
    open_page(browser, pages / "index.html")
    mark = browser.find_element(By.CSS_SELECTOR, "#C1a a.mark")
    browser.get(mark.get_attribute("href"))
    check(browser)
    assert browser.find_element(By.TAG_NAME, "h1").text.endswith("on aarch64-virt-bti-pac-0")
    open_all(browser)
    assert "registers:" in browser.find_element(By.ID, "C1a").text
    picture(browser, "config")


def test_text_can_be_read_by_day_and_by_night(browser, pages):
    try:
        grounds = []
        for name in ("light", "dark"):
            scheme(browser, name)
            open_page(browser, pages / "index.html")
            open_all(browser)
            color = "return getComputedStyle(document.body).backgroundColor"
            grounds.append(browser.execute_script(color))
            kinds = [".tile.fail", ".tile.none", "h3 .badge", ".hit", ".near", ".near > span"]
            kinds += [".hit > span", ".beside i > span", "p.quiet", ".facts dt", "pre.command"]
            kinds += ["a.mark.pass", "a.mark.fail", "a.mark.error", "thead th a", ".clause .quiet"]
            for kind in kinds:
                element = browser.find_element(By.CSS_SELECTOR, kind)
                assert contrast(browser, element) >= 4.5, (name, kind)
        assert grounds[0] != grounds[1]
    finally:
        scheme(browser, "light")
