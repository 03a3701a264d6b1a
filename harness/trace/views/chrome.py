# SPDX-License-Identifier: MIT
"""The Chrome view: Trace Event JSON for ui.perfetto.dev and chrome://tracing.

The tracks are those of `harness.trace.views.tracks`; the format calls their groups processes.
Times are in microseconds.
"""

from collections.abc import Iterator

from harness.trace.filter import Predicate
from harness.trace.reader import TraceDatReader
from harness.trace.views.json import document
from harness.trace.views.selected import selected_events
from harness.trace.views.tracks import Piece, PieceKind, Tracks

_PHASES = {PieceKind.BEGIN: "B", PieceKind.END: "E", PieceKind.WHOLE: "X", PieceKind.INSTANT: "i"}


def report_chrome(reader: TraceDatReader, *, keep: Predicate | None = None) -> Iterator[str]:
    """The lines of the document without line ends; ``keep`` chooses the events."""
    head: dict[str, object] = {
        "displayTimeUnit": "ns",
        "otherData": {"machine": reader.machine, "clock": reader.clock, "tracer": reader.tracer},
    }
    pieces = Tracks(reader.cpu_count).pieces(selected_events(reader.events(), keep))
    slices = (one for piece in pieces for one in _slices(piece))
    yield from document(head, "traceEvents", slices)


def _slices(piece: Piece) -> Iterator[dict[str, object]]:
    place: dict[str, object] = {"pid": piece.group, "tid": piece.track}
    if piece.kind in (PieceKind.GROUP, PieceKind.TRACK):
        what = "process" if piece.kind is PieceKind.GROUP else "thread"
        named = {"ph": "M", "name": f"{what}_name", **place}
        yield named | {"args": {"name": piece.name}}
        if piece.kind is PieceKind.GROUP:
            order = {"ph": "M", "name": "process_sort_index", **place}
            yield order | {"args": {"sort_index": piece.group}}
        return
    made = {"ph": _PHASES[piece.kind], **place, "ts": piece.stamp / 1000}
    if piece.kind is PieceKind.INSTANT:
        made["s"] = "t"
    if piece.kind is PieceKind.WHOLE:
        made["dur"] = piece.took / 1000
    if piece.kind is not PieceKind.END:
        made["name"] = piece.name
    if piece.args or piece.kind in (PieceKind.WHOLE, PieceKind.INSTANT):
        made["args"] = piece.args
    yield made
