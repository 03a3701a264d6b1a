# SPDX-License-Identifier: MIT
"""``harness report -f html`` in a browser, against the other views of the same trace.

``HARNESS_SCREENSHOTS=DIR`` keeps pictures.
"""

import io
import json

import pytest

pytest.importorskip("selenium.webdriver", reason="selenium is not installed")

from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support.wait import WebDriverWait

from graph_files import NESTED, call, graph_trace, random_calls
from harness.report import report_bytes, report_lines
from harness.trace import TraceDatReader, stat_json, trace_statistics
from support.browser import VIEWPORTS, contrast, picture, scheme
from support.command import harness
from trace_files import FORMATS, function_trace, kallsyms

FORM = FORMATS[0]

MANY = """
#define traced __attribute__((noipa))
traced int leaf(int value) { return value + 1; }
traced int middle(int value) { return leaf(value) + leaf(value + 1); }
traced int outer(int value) { return middle(value) + 1; }
int workload(void)
{
	int sum = 0;

	for (int i = 0; i < 12500; i++)
		sum += outer(i);
	return sum == 42;
}
"""

PROFILE = """
const done = arguments[0];
unpack().then(trace => {
	const { totals, root } = profile(trace, -Infinity, Infinity);
	const stacks = [];
	const fold = (node, path) => {
		if (node.own > 0)
			stacks.push([path.join(";"), node.own]);
		for (const one of node.inner.values())
			fold(one, [...path, one.name]);
	};
	fold(root, []);
	done({ totals: [...totals.values()], stacks });
});
"""
"""What the page computes of the whole trace: the totals of functions, and folded stacks."""


def show(browser, path, data):
    """Write the page of a trace, open it, and wait for it."""
    page = path / "trace.html"
    page.write_bytes(b"".join(report_bytes(TraceDatReader(io.BytesIO(data)), "html")))
    open_trace(browser, page)


def open_trace(browser, page):
    browser.get(page.as_uri())
    settled(browser)
    assert browser.execute_script("return performance.getEntriesByType('resource').length") == 0
    width, _ = VIEWPORTS[browser.viewport]
    assert browser.execute_script("return document.documentElement.scrollWidth") == width


def settled(browser):
    """Wait until tables and flame graph are those of the visible part."""
    state = "return document.documentElement.dataset.state"
    WebDriverWait(browser, 60).until(lambda one: one.execute_script(state) in ("ready", "failed"))
    assert browser.execute_script(state) == "ready", browser.find_element(By.ID, "fault").text


def functions(browser):
    """The rows of the table of functions."""
    rows = browser.find_elements(By.CSS_SELECTOR, "#functions tbody tr")
    return [[cell.text for cell in row.find_elements(By.TAG_NAME, "td")] for row in rows]


def press(browser, *keys):
    browser.find_element(By.ID, "timeline").send_keys(*keys)
    browser.execute_async_script("setTimeout(arguments[0], 250)")
    settled(browser)


def facts(browser):
    """What is told of the selected call or event."""
    box = browser.find_element(By.ID, "selected")
    names = [one.text for one in box.find_elements(By.TAG_NAME, "dt")]
    return dict(zip(names, (one.text for one in box.find_elements(By.TAG_NAME, "dd")), strict=True))


TRACES = {
    "calls": graph_trace(FORM, random_calls(5)[0]),
    "nested": graph_trace(FORM, NESTED),
    "no exits": graph_trace(FORM, random_calls(6)[0][:-5]),
    "no entries": graph_trace(FORM, random_calls(6)[0][3:-5]),
    "entries": function_trace(FORM, 300, 20),
}


@pytest.mark.parametrize("name", TRACES)
def test_the_page_agrees_with_the_statistics_and_the_flame_view(chromium, tmp_path, name):
    chromium.viewport = "desk"
    chromium.get("about:blank")
    data = TRACES[name]
    page = tmp_path / "trace.html"
    page.write_bytes(b"".join(report_bytes(TraceDatReader(io.BytesIO(data)), "html")))
    chromium.get(page.as_uri())
    settled(chromium)
    found = chromium.execute_async_script(PROFILE)
    sums = json.loads(stat_json(trace_statistics(TraceDatReader(io.BytesIO(data)))))
    assert {one["name"]: (one["calls"], one["total"], one["own"]) for one in found["totals"]} == {
        one["function"]: (one["calls"], one["total"] or 0, one["self"] or 0)
        for one in sums["functions"]
    }
    # The flame view, which reads once, does not know the name of a call before its exit.
    if name == "no entries":
        return
    folded = report_lines(TraceDatReader(io.BytesIO(data)), "flame")
    assert sorted(f"{stack} {own}" for stack, own in found["stacks"]) == sorted(folded)


def test_a_strangers_texts_are_texts(browser, tmp_path):
    evil = "</script><img/src=x/onerror=document.title=1>"
    symbols = kallsyms(4).replace("leaf", evil)
    show(browser, tmp_path, graph_trace(FORM, NESTED, kallsyms=symbols, cmdlines={1: "<b>x</b>"}))
    assert not browser.find_elements(By.CSS_SELECTOR, "img, b b, #timeline b, td b")
    assert browser.title.startswith("function_graph")
    assert evil in [row[-1] for row in functions(browser)]
    assert "<b>x</b>-1" in browser.find_element(By.ID, "labels").text


def test_losses_are_shown(browser, tmp_path):
    events = [*NESTED[:3], 7, call(5_000_152_345, "leaf", 2)]
    show(browser, tmp_path, graph_trace(FORM, events))
    (tile,) = browser.find_elements(By.CSS_SELECTOR, ".tile.fail")
    assert tile.text.split("\n") == ["7", "events lost"]
    row = browser.find_element(By.CSS_SELECTOR, "#cpus tbody tr").text.split()
    assert row[:3] == ["0", "4", "7"]
    canvas = browser.find_element(By.TAG_NAME, "canvas")
    place = (
        "const box = arguments[0].getBoundingClientRect(); return [box.left, box.top, box.width]"
    )
    left, top, width = browser.execute_script(place, canvas)
    for kind in ("pointerdown", "pointerup"):
        browser.execute_script(
            "arguments[0].setPointerCapture = () => {};"
            "arguments[0].dispatchEvent(new PointerEvent(arguments[1],"
            " {pointerId: 1, clientX: arguments[2], clientY: arguments[3]}))",
            *(canvas, kind, left + width - 2, top + 30),
        )
    assert facts(browser)["lost"] == "7 events"


def test_what_is_in_sight_is_what_is_summed_up(browser, tmp_path):
    show(browser, tmp_path, graph_trace(FORM, NESTED))
    whole = functions(browser)
    assert ["2", "150.978", "150.978", "leaf"] in whole
    press(browser, "+", "+")
    assert "of what the timeline shows" in browser.find_element(By.ID, "functions-what").text
    assert functions(browser) != whole
    press(browser, "0")
    assert functions(browser) == whole
    for button in browser.find_elements(By.CSS_SELECTOR, "#zoom button"):
        button.click()
    press(browser, Keys.ARROW_LEFT)
    assert functions(browser) == whole


def test_search_selects_one_match_after_the_other(browser, tmp_path):
    show(browser, tmp_path, graph_trace(FORM, NESTED))
    field = browser.find_element(By.CSS_SELECTOR, "#search input")
    field.send_keys("lea", Keys.ENTER)
    settled(browser)
    said = browser.find_element(By.CSS_SELECTOR, "#search output")
    assert said.text == "1 of 2 matches"
    assert facts(browser)["number"] == "2 in the trace"
    assert (facts(browser)["called by"], facts(browser)["took"]) == ("do_work", "633 ns")
    field.send_keys(Keys.ENTER)
    assert said.text == "2 of 2 matches"
    assert facts(browser)["at"] == "5.000002000 s on CPU 0"
    settled(browser)
    matches = browser.find_elements(By.CSS_SELECTOR, "#flame .match")
    assert [one.get_attribute("data-path").split(";")[-1] for one in matches] == ["leaf"]
    field.clear()
    field.send_keys("*_wor?", Keys.ENTER)
    assert said.text == "1 of 1 match"
    assert facts(browser)["call"] == "do_work"
    picture(browser, "trace-search")


def test_a_frame_of_the_flame_graph_is_zoomed_to(browser, tmp_path):
    show(browser, tmp_path, graph_trace(FORM, NESTED))
    path = "workload-1;start;do_work"
    frame = browser.find_element(By.CSS_SELECTOR, f"#flame button[data-path='{path}']")
    assert "152.000" in frame.get_attribute("title")
    wide = "return arguments[0].getBoundingClientRect().width"
    before = browser.execute_script(wide, frame)
    # On a phone it is a few columns wide.
    browser.execute_script("arguments[0].click()", frame)
    frame = browser.find_element(By.CSS_SELECTOR, f"#flame button[data-path='{path}']")
    assert browser.execute_script(wide, frame) > 3 * before


@pytest.mark.parametrize("colours", ["light", "dark"])
def test_texts_can_be_read(browser, tmp_path, colours):
    scheme(browser, colours)
    try:
        show(browser, tmp_path, TRACES["calls"])
        for selector in ("#labels button", "#flame button", "#functions .name", "#bar button"):
            element = browser.find_element(By.CSS_SELECTOR, selector)
            assert contrast(browser, element) > 4.5, selector
        picture(browser, f"trace-{colours}")
    finally:
        scheme(browser, "")


def test_many_events(browser, tmp_path, pytestconfig):
    """A million with --full."""
    calls = 125_000 if pytestconfig.getoption("--full") else 12_500
    workload, file, page = (tmp_path / name for name in ("many.c", "x.dat", "x.html"))
    workload.write_text(MANY.replace("12500", str(calls)))
    recorded = ("-c", "aarch64-virt", "-p", "function_graph", "--tick", "0")
    done = harness("record", *recorded, "--workload", workload, "-o", file)
    assert done.returncode == 0, done.stderr
    assert harness("report", "-f", "html", file, "-o", page).returncode == 0
    assert page.stat().st_size < 5_000_000
    open_trace(browser, page)
    found = browser.execute_async_script(PROFILE)
    sums = json.loads(harness("stat", "--json", file).stdout)
    assert sums["events"] > 8 * calls
    assert {one["name"]: (one["calls"], one["total"], one["own"]) for one in found["totals"]} == {
        one["function"]: (one["calls"], one["total"], one["self"]) for one in sums["functions"]
    }
    field = browser.find_element(By.CSS_SELECTOR, "#search input")
    field.send_keys("middle", Keys.ENTER)
    settled(browser)
    assert browser.find_element(By.CSS_SELECTOR, "#search output").text == f"1 of {calls:,} matches"
    assert facts(browser)["called by"] == "outer"
    picture(browser, "trace-many")
