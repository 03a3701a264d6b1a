# SPDX-License-Identifier: MIT
"""The Perfetto view: a trace of protobuf packets for ui.perfetto.dev and its tools.

The tracks are those of `harness.trace.views.tracks`; each group is the parent track of its own.
Times are in nanoseconds.  The messages are those of the package ``perfetto``: TrackDescriptor and
TrackEvent as described in https://perfetto.dev/docs/reference/synthetic-track-event.
"""

from collections.abc import Iterator

from harness.trace.filter import Predicate
from harness.trace.reader import TraceDatReader
from harness.trace.views.selected import selected_events
from harness.trace.views.tracks import Piece, PieceKind, Tracks

SEQUENCE = 1
"""The sequence id of all packets."""

LATEST = (1 << 64) - 1
"""The largest time stamp of the format."""

GROUPS = 1 << 32
"""Added to a group's number to make the number of its track."""


def report_perfetto(reader: TraceDatReader, *, keep: Predicate | None = None) -> Iterator[bytes]:
    """The packets, each a whole ``Trace``; a file is their concatenation."""
    from perfetto.protos.perfetto.trace.perfetto_trace_pb2 import Trace, TrackDescriptor, TrackEvent

    ordered = TrackDescriptor.EXPLICIT
    types = {
        PieceKind.BEGIN: TrackEvent.TYPE_SLICE_BEGIN,
        PieceKind.END: TrackEvent.TYPE_SLICE_END,
        PieceKind.WHOLE: TrackEvent.TYPE_SLICE_BEGIN,
        PieceKind.INSTANT: TrackEvent.TYPE_INSTANT,
    }

    def described(piece: Piece) -> bytes:
        trace = Trace()
        track = trace.packet.add(trusted_packet_sequence_id=SEQUENCE).track_descriptor
        track.name = piece.name
        if piece.kind is PieceKind.GROUP:
            track.uuid, track.sibling_order_rank = GROUPS + piece.group, piece.group
            track.child_ordering = ordered
        else:
            track.uuid, track.sibling_order_rank = piece.track, piece.track
            track.parent_uuid = GROUPS + piece.group
        return bytes(trace.SerializeToString())

    def drawn(piece: Piece) -> bytes:
        trace = Trace()
        packet = trace.packet.add(trusted_packet_sequence_id=SEQUENCE, timestamp=piece.stamp)
        event = packet.track_event
        event.type, event.track_uuid = types[piece.kind], piece.track
        if piece.kind is not PieceKind.END:
            event.name = piece.name
        for name, value in piece.args.items():
            note = event.debug_annotations.add(name=name)
            if isinstance(value, str):
                note.string_value = value
            elif isinstance(value, bool):
                note.bool_value = value
            else:
                note.uint_value = value
        if piece.kind is PieceKind.WHOLE:
            end = trace.packet.add(
                trusted_packet_sequence_id=SEQUENCE, timestamp=min(piece.stamp + piece.took, LATEST)
            )
            end.track_event.type = TrackEvent.TYPE_SLICE_END
            end.track_event.track_uuid = piece.track
        return bytes(trace.SerializeToString())

    for piece in Tracks(reader.cpu_count).pieces(selected_events(reader.events(), keep)):
        yield (described if piece.kind in (PieceKind.GROUP, PieceKind.TRACK) else drawn)(piece)
