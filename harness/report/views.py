# SPDX-License-Identifier: MIT
"""The views by name."""

from collections.abc import Iterable, Iterator

from harness.errors import UsageError
from harness.report.page import report_html
from harness.trace.filter import parse_filters
from harness.trace.reader import TraceDatReader
from harness.trace.views import (
    GraphOptions,
    report_chrome,
    report_csv,
    report_flame,
    report_graph,
    report_json,
    report_perfetto,
    report_text,
)

_VIEWS = {
    "text": report_text,
    "json": report_json,
    "csv": report_csv,
    "flame": report_flame,
    "chrome": report_chrome,
}
BINARY = "perfetto"
PAGE = "html"
WITH_NUMBERS = ("text", "graph", "json", PAGE)
VIEWS = ("text", "graph", *(name for name in _VIEWS if name != "text"), BINARY, PAGE)


NUMBER = "number"
"""The option of the text and graph views that shows the numbers of events."""


def report_bytes(
    reader: TraceDatReader, form: str, filters: Iterable[str] = (), words: Iterable[str] = ()
) -> Iterator[bytes]:
    """The contents of a file in one of `VIEWS`, piece by piece; otherwise as `report_lines`."""
    if form not in (BINARY, PAGE):
        return (f"{line}\n".encode() for line in report_lines(reader, form, filters, words))
    _check_words(form, words)
    keep = parse_filters(filters, reader.formats.values())
    if form == PAGE:
        return (piece.encode("utf-8", "replace") for piece in report_html(reader, keep=keep))
    return report_perfetto(reader, keep=keep)


def report_lines(
    reader: TraceDatReader, form: str, filters: Iterable[str] = (), words: Iterable[str] = ()
) -> Iterator[str]:
    """The lines of one of the text `VIEWS`, without line ends.

    ``filters`` choose the events (`parse_filters`); ``words`` are options of the graph view, and
    `NUMBER`.  UsageError for invalid ones.
    """
    keep = parse_filters(filters, reader.formats.values())
    words = tuple(words)
    number = NUMBER in words
    options = GraphOptions.parse(word for word in words if word != NUMBER)
    if form == "graph" or (form == "text" and reader.tracer == "function_graph"):
        return report_graph(reader, keep=keep, options=options, number=number)
    _check_words(form, words)
    if form == BINARY:
        raise UsageError("the perfetto view is binary", "Write it to a file: -o FILE.")
    if form == PAGE:
        raise UsageError("the html view is a page for a browser", "Write it to a file: -o FILE.")
    if form not in _VIEWS:
        raise UsageError(f"there is no view {form!r}", f"Views: {', '.join(VIEWS)}.")
    if form == "text":
        return report_text(reader, keep=keep, number=number)
    return _VIEWS[form](reader, keep=keep)


def _check_words(form: str, words: Iterable[str]) -> None:
    for word in words:
        if word != NUMBER:
            raise UsageError(
                f"-O {word} is an option of the graph view only",
                "Leave it out, or choose the graph view: -f graph.",
            )
        if form not in WITH_NUMBERS:
            raise UsageError(
                f"the {form} view has no numbers of events", f"Views: {', '.join(WITH_NUMBERS)}."
            )
