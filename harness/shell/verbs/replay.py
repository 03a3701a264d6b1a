# SPDX-License-Identifier: MIT
"""Verbs of a session on a replayed run: to any event, and backwards."""

import re

import click

from harness.errors import UsageError
from harness.replay import EventPlace, ReplayedGuest, memory_writer, register_writer
from harness.shell import gdb
from harness.shell.session import Session
from harness.shell.verb import UNLIMITED, Arguments, verb
from harness.shell.verbs.tracefs import natural
from harness.tracefs import number

GROUP = "replay"
_SECONDS = re.compile(r"(\d{1,9})\.(\d{1,9})")
_INSTRUCTION = re.compile(r"@(\d{1,18})")
_BESIDE = click.Command(
    "next",
    params=[click.Option(["-F", "filters"], multiple=True)],
    add_help_option=False,
)


@verb(
    "EVENT | SECONDS | FUNCTION[:N] | @INSTRUCTION",
    most=1,
    completes="functions",
    example="goto leaf:2",
    group=GROUP,
)
def goto(session: Session, arguments: Arguments) -> None:
    """Go to the instruction of an event: by number, by time, or the N-th of a function.

    Also to the place behind a number of instructions, as `when` shows it.
    """
    guest = _replayed(session)
    if not arguments.words:
        raise UsageError("where to?", "Example: goto leaf:2.  See: report -O number")
    (word,) = arguments.words
    if instruction := _INSTRUCTION.fullmatch(word):
        guest.replay.goto(int(instruction[1]))
        _show(session, guest)
        return
    if seconds := _SECONDS.fullmatch(word):
        stamp = int(seconds[1]) * 10**9 + int(seconds[2].ljust(9, "0"))
        event = guest.events.at_time(stamp)
    elif word.isdecimal():
        event = guest.events.numbered(natural(word))
    else:
        name, _, count = word.partition(":")
        event = guest.events.of_function(name, natural(count) if count else 1)
    _goto(session, guest, event)


@verb(group=GROUP)
def when(session: Session, arguments: Arguments) -> None:
    """Where the run stands: its instruction, the last event and the next."""
    _tell(session, _replayed(session))


@verb("[-F FILTER]", most=UNLIMITED, example="previous -F 'function: ip ~ \"leaf\"'", group=GROUP)
def previous(session: Session, arguments: Arguments) -> None:
    """Go back to the event before here, of those that a filter of `report` selects."""
    guest = _replayed(session)
    _goto(session, guest, guest.events.beside(False, _filters(arguments)))


@verb(
    "[-F FILTER]",
    most=UNLIMITED,
    example="next -F 'function: ip ~ \"leaf\"'",
    group=GROUP,
    name="next",
)
def next_(session: Session, arguments: Arguments) -> None:
    """Go to the next event of those that a filter of `report` selects; without one, gdb's next."""
    if arguments.words[:1] != ("-F",):
        gdb.pass_through(session, " ".join(("next", *arguments.words)))
        return
    guest = _replayed(session)
    _goto(session, guest, guest.events.beside(True, _filters(arguments)))


@verb("[N]", most=1, example="back 10", group=GROUP)
def back(session: Session, arguments: Arguments) -> None:
    """Go back by one instruction, or by N."""
    guest = _replayed(session)
    count = natural(arguments.words[0]) if arguments.words else 1
    guest.replay.goto(guest.replay.icount - count)
    _show(session, guest)


@verb("ADDRESS | REGISTER | SYMBOL", most=1, example="who-wrote $sp", group=GROUP, name="who-wrote")
def who_wrote(session: Session, arguments: Arguments) -> None:
    """Go back to the instruction that last changed a word in memory or a register.

    An address is one of a long, a symbol one of its own size.  A store of the same value is passed.
    """
    guest = _replayed(session)
    if not arguments.words:
        raise UsageError("who wrote what?", "Example: who-wrote $sp")
    (word,) = arguments.words
    debugger = guest.debugger
    name = word.removeprefix("$")
    if name in debugger.registers():
        found = register_writer(guest.replay, debugger, name)
    else:
        address, size = _memory(guest, word)
        found = memory_writer(guest.replay, debugger, address, size)
    if found is None:
        raise UsageError(f"nothing changed {word} before here")
    if found.debugger:
        session.say(f"(the debugger wrote it during the recording, at @{found.place})")
    _show(session, guest)


def _memory(guest: ReplayedGuest, word: str) -> tuple[int, int]:
    long_size = guest.image.isa.word_size
    if word[:1].isdigit():
        address = number(word)
        if address % long_size:
            raise UsageError(f"{word} is not the address of a long")
        return address & guest.image.isa.mask, long_size
    address = guest.address_of(word)
    answer = guest.debugger.command(f"-data-evaluate-expression sizeof({word})")
    size = int(answer.get("value", 0))
    return address & guest.image.isa.mask, size if size in (1, 2, 4, 8) else long_size


def _filters(arguments: Arguments) -> tuple[str, ...]:
    try:
        parameters = _BESIDE.make_context("next", list(arguments.words)).params
    except click.ClickException as error:
        raise UsageError(error.format_message(), "Example: previous -F function") from error
    return tuple(parameters["filters"])


def _replayed(session: Session) -> ReplayedGuest:
    guest = session.live
    if not isinstance(guest, ReplayedGuest):
        raise UsageError(
            "this guest runs for the first time, and has no way back",
            "harness record --replayable -o FILE, then harness shell --replay FILE",
        )
    return guest


def _goto(session: Session, guest: ReplayedGuest, event: EventPlace) -> None:
    guest.events.goto(event)
    _show(session, guest)


def _show(session: Session, guest: ReplayedGuest) -> None:
    session.went()
    _tell(session, guest)
    session.print_all(guest.debugger.cli("frame").strip("\n").split("\n"))
    gdb.show_next(session)


def _tell(session: Session, guest: ReplayedGuest) -> None:
    following = guest.events.next
    session.print(f"instruction @{guest.replay.icount} of {guest.replay.end}")
    events = guest.events.all
    if following:
        session.print(f"after event {following - 1}: {str(events[following - 1].event).lstrip()}")
    if following < len(events):
        where = "at" if guest.events.stands_at(following) else "before"
        session.print(f"{where} event {following}: {str(events[following].event).lstrip()}")
