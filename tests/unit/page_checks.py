# SPDX-License-Identifier: MIT
"""What holds for every page, whatever stands on it."""

import re
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

VOID = {"meta", "br", "input", "rect", "polyline"}
"""Elements without an end."""

KNOWN = {
    *("html", "head", "meta", "title", "style", "body", "h1", "h2", "h3", "p", "a", "b", "br", "i"),
    *("code", "pre", "span", "div", "ul", "li", "dl", "dt", "dd", "details", "summary", "article"),
    *("table", "thead", "tbody", "tr", "th", "td", "figure", "figcaption", "svg", "rect"),
    *("polyline", "input", "label"),
}


OWN = re.compile("[\t\N{NARROW NO-BREAK SPACE}]")
"""What is not printable and may stand on a page: the latter between thousands."""


class Page(HTMLParser):
    """A page that is parsed, and checked on the way: elements end in the order they began in."""

    def __init__(self, file: Path) -> None:
        super().__init__()
        self.open: list[str] = []
        self.links: list[str] = []
        self.ids: list[str] = []
        self.texts: list[str] = []
        self.feed(file.read_text(encoding="utf-8"))
        self.close()
        assert not self.open, self.open

    def handle_starttag(self, tag, attributes):
        assert tag in KNOWN, tag
        for name, value in attributes:
            assert not name.startswith("on"), name
            assert name not in ("src", "style", "srcset", "action"), name
            if name == "href":
                self.links.append(value)
            if name == "id":
                self.ids.append(value)
            assert (value or "").replace("\t", "").isprintable(), value
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        for line in data.split("\n"):
            assert OWN.sub("", line).isprintable(), line
        if self.open and self.open[-1] == "style":
            assert not re.search(r"url\(|@import|expression", data)
        else:
            self.texts.append(data)

    @property
    def text(self) -> str:
        """All that can be read, with single blanks."""
        return " ".join(" ".join(self.texts).split())


def check_pages(directory: Path) -> dict[str, Page]:
    """The pages below a directory: well-formed, and linked to one another and to nothing else."""
    pages = {
        str(file.relative_to(directory)): Page(file) for file in sorted(directory.rglob("*.html"))
    }
    assert "index.html" in pages
    for name, page in pages.items():
        assert len(page.ids) == len(set(page.ids))
        for link in page.links:
            path, _, anchor = link.partition("#")
            target = name if not path else str(Path(name).parent / unquote(path))
            target = str(Path(*_plain(target)))
            assert target in pages, (name, link)
            assert not anchor or unquote(anchor) in pages[target].ids, (name, link)
    return pages


def _plain(path: str) -> list[str]:
    parts: list[str] = []
    for part in Path(path).parts:
        if part == "..":
            parts.pop()
        else:
            parts.append(part)
    return parts
