# SPDX-License-Identifier: MIT
"""The directories ``events`` and ``options``."""

from collections.abc import Sequence
from functools import partial

from harness.errors import UsageError
from harness.guest import Guest
from harness.trace import HEADER_EVENT, EventFormat, header_page_text
from harness.tracefs.files import UNLIMITED, Directory, File, Node, is_own, switch, word

SYSTEM_FILTER = """### all events of the system ###
# What is written here becomes the filter of each event that has the fields."""

BUFFER = "ftrace"
"""The system of events that tracers write: they have a format, and cannot be enabled."""


def event_directory() -> Directory:
    """``events``: the formats of all events, and which are enabled."""
    return Directory(_systems)


def option_directory() -> Directory:
    """``options``: a file with 0 or 1 for each word of trace_options."""
    return Directory(_options)


def _systems(guest: Guest) -> dict[str, Node]:
    formats: dict[str, list[EventFormat]] = {}
    for form in guest.tracer.formats:
        formats.setdefault(form.system, []).append(form)
    found: dict[str, Node] = {
        "enable": _enable("*:*"),
        "header_page": File(
            "The layout of a page of the ring buffer.",
            lambda guest: header_page_text(guest.collector.format).splitlines(),
        ),
        "header_event": File(
            "The layout of an event's header.", lambda guest: HEADER_EVENT.splitlines()
        ),
    }
    known = frozenset(guest.tracer.available_events)
    return found | {
        system: Directory(partial(_events, system, tuple(events), known))
        for system, events in formats.items()
    }


def _events(
    system: str, formats: tuple[EventFormat, ...], known: frozenset[str], guest: Guest
) -> dict[str, Node]:
    found: dict[str, Node] = {} if system == BUFFER else {"enable": _enable(f"{system}:*")}
    wanted = [form for form in formats if f"{system}:{form.name}" in known]
    if wanted and is_own(guest):
        found["filter"] = _system_filter(wanted)
    return found | {form.name: Directory(partial(_event, form, known)) for form in formats}


def _event(form: EventFormat, known: frozenset[str], guest: Guest) -> dict[str, Node]:
    name = f"{form.system}:{form.name}"
    found: dict[str, Node] = {"enable": _enable(name)} if name in known else {}
    if found and is_own(guest):
        found["filter"] = _filter(form)
    return found | {
        "format": File("The layout of the event.", lambda guest: form.text.rstrip().split("\n")),
        "id": File("The event's number.", lambda guest: [str(form.id)]),
    }


def _filter(form: EventFormat) -> File:
    """``filter`` of an event."""
    return File(
        "Show or set which of these events are recorded; 0 removes the filter.",
        lambda guest: [guest.tracer.event_control.filters.text(form)],
        lambda guest, text, append: guest.tracer.event_control.filters.set([form], text),
        "[FILTER]",
        UNLIMITED,
        example="events/sched/sched_switch/filter 'prev_pid == 1'",
        whole=True,
    )


def _system_filter(forms: Sequence[EventFormat]) -> File:
    """``filter`` of a system: it sets the filters of its events."""
    return File(
        "Set the filter of each event of the system that has the fields; 0 removes them.",
        lambda guest: SYSTEM_FILTER.split("\n"),
        lambda guest, text, append: guest.tracer.event_control.filters.set(forms, text),
        "[FILTER]",
        UNLIMITED,
        whole=True,
    )


def _enable(pattern: str) -> File:
    """``enable`` of the events that match: 0, 1, or X if only some are enabled."""

    def read(guest: Guest) -> list[str]:
        wanted = _matching(guest.tracer.available_events, pattern)
        count = len(wanted & set(guest.tracer.enabled_events))
        return ["0" if not count else "1" if count == len(wanted) else "X"]

    def write(guest: Guest, text: str) -> None:
        if text not in ("0", "1"):
            raise UsageError(f"{text!r} is neither 0 nor 1")
        guest.tracer.set_event(pattern if text == "1" else f"!{pattern}", append=True)

    return File("Show or set whether events are recorded.", read, word(write), "[0 | 1]")


def _matching(names: list[str], pattern: str) -> set[str]:
    system, _, event = pattern.partition(":")
    return {
        name
        for name in names
        if system in ("*", name.partition(":")[0]) and event in ("*", name.partition(":")[2])
    }


def _options(guest: Guest) -> dict[str, Node]:
    names = [option.removeprefix("no") for option in guest.tracer.trace_options]
    return {name: _option(name) for name in names}


def _option(name: str) -> File:
    return switch(
        lambda guest: name in guest.tracer.trace_options,
        lambda guest, on: guest.tracer.set_option(name if on else f"no{name}"),
        f"The option {name}.",
    )
