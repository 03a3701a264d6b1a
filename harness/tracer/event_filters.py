# SPDX-License-Identifier: MIT
"""The filters of events in the guest's ``struct trace_filter_control``."""

from collections.abc import Callable, Mapping, Sequence

from harness.errors import GuestError, UsageError
from harness.image import Image
from harness.patcher import Text
from harness.trace import EventFormat
from harness.tracer.control_block import ControlBlock
from harness.tracer.event_filter import FieldMissing, compile_filter
from harness.units import one_line

NONE = "none"
"""The contents of the filter file of an event without a filter."""

CLEARS = "0"
"""What removes a filter."""

OPTION_FILTERS = 2
"""TRACE_OPTION_FILTERS of guests/kernel/include/linux/trace_events.h."""


class EventFilters:
    """The filters of one guest's events, which have these formats.

    ``events`` is the guest's ``struct trace_event_control``.  ``changed`` is called after each
    change: threads know whether there are any filters.
    """

    def __init__(
        self,
        image: Image,
        memory: Text,
        events: ControlBlock,
        formats: Sequence[EventFormat],
        changed: Callable[[], None],
    ) -> None:
        self._control = ControlBlock(image, memory, "trace_filter_control")
        self._events = events
        self._formats = {form.id: form for form in formats}
        self._changed = changed

    def text(self, form: EventFormat) -> str:
        """The text of an event's filter, or "none"."""
        return self._texts().get(form.id, NONE)

    def set(self, forms: Sequence[EventFormat], text: str) -> None:
        """Set the filter of some events, or remove it if ``text`` is "0".

        As in the kernel, an event without the fields loses its filter if another one has them.

        Raises:
            UsageError: the kernel refuses the filter for each of the events, or there is no room.
        """
        text = text.strip()
        filters = dict(self._texts())
        errors: list[UsageError] = []
        for form in forms:
            filters.pop(form.id, None)
            if text == CLEARS:
                continue
            try:
                compile_filter(text, form)
                filters[form.id] = text
            except UsageError as error:
                errors.append(error)
        if errors and len(errors) == len(forms):
            raise next((one for one in errors if not isinstance(one, FieldMissing)), errors[0])
        self._write(filters)
        self._changed()

    def _texts(self) -> Mapping[int, str]:
        """The filters in the guest, by the number of the event."""
        count, size = self._control.read("nr_filters"), self._control.read("text_size")
        if count > self._control.room("filters") or size > self._control.room("texts"):
            raise GuestError(f"the guest has {count} filters of events with {size} bytes of texts")
        texts = bytes(self._control.numbers("texts", size)) if count else b""
        return {
            one["type"]: one_line(texts[one["text"] :].split(b"\0", 1)[0].decode("latin-1"))
            for one in self._control.structures("filters", count)
        }

    def _write(self, filters: Mapping[int, str]) -> None:
        headers: list[dict[str, int]] = []
        predicates: list[dict[str, int]] = []
        texts = bytearray()

        def keep(text: str) -> int:
            texts.extend(text.encode() + b"\0")
            return len(texts) - len(text) - 1

        for number, text in filters.items():
            if number not in self._formats:
                raise GuestError(f"the guest has a filter of the unknown event {number}")
            own = compile_filter(text, self._formats[number])
            headers.append(
                {"type": number, "first": len(predicates), "count": len(own), "text": keep(text)}
            )
            for one in own:
                value = keep(one.value) if isinstance(one.value, str) else one.value
                predicates.append({**one._asdict(), "value": value})
        # The last byte stays 0.
        for name, count in (
            ("filters", len(headers)),
            ("predicates", len(predicates)),
            ("texts", len(texts) + 1),
        ):
            if count > self._control.room(name):
                raise UsageError(
                    f"the filters need {count} {name}; the guest has room for "
                    f"{self._control.room(name)}",
                    "Write shorter ones, or filters of fewer events.",
                )
        self._control.write_structures("filters", headers)
        self._control.write_structures("predicates", predicates)
        self._control.write(texts=list(texts))
        self._control.write(text_size=len(texts), nr_filters=len(headers))
        # It stays: a CPU may have stopped in the middle of an event with a filter.
        self._events.write(options=self._events.read("options") | OPTION_FILTERS)
