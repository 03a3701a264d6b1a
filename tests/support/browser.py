# SPDX-License-Identifier: MIT
"""Pages in a browser, and what holds for all of them.

``HARNESS_SCREENSHOTS=DIR`` keeps pictures.
"""

import os

from selenium.webdriver.common.by import By

ARGUMENTS = (
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage"),
    *("--disable-background-networking", "--disable-sync", "--no-first-run"),
    *("--disable-component-update", "--hide-scrollbars"),
)
VIEWPORTS = {"desk": (1280, 900), "phone": (390, 844)}


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


def stays_in_sight(browser, box, head):
    """Whether the head of a row stays where it is when its box is moved; how far it was moved."""
    before = head.rect["x"]
    browser.execute_script("arguments[0].scrollLeft = 10000", box)
    moved = browser.execute_script("return arguments[0].scrollLeft", box)
    return abs(head.rect["x"] - before) <= 1, moved
