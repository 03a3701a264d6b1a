# SPDX-License-Identifier: MIT
"""Function triggers in set_ftrace_filter: ``FUNCTION:COMMAND[:COUNT]``.

The guest executes them in a tracer that calls the function tracer
(guests/kernel/include/linux/ftrace_triggers.h).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from harness.errors import GuestError, UsageError
from harness.image import Image
from harness.isa import CallSite
from harness.patcher import Text
from harness.tracer.control_block import ControlBlock
from harness.tracer.module_filter import SEPARATOR

COMMANDS = {"traceon": 1, "traceoff": 2, "stacktrace": 3}
UNLIMITED = 0xFFFFFFFF


@dataclass(frozen=True, slots=True, eq=False)
class Trigger:
    """A command at a function's entry; ``count`` limits it, None for no limit.

    Compared by identity: a trigger that is set again has its full count.
    """

    site: int
    function: str
    command: str
    count: int | None = None

    def __str__(self) -> str:
        return f"{self.function}:{self.command}:{'unlimited' if self.count is None else self.count}"


def is_trigger(text: str) -> bool:
    """Whether a text for set_ftrace_filter is a trigger."""
    return ":" in text and SEPARATOR not in text


def change_triggers(
    triggers: Iterable[Trigger], text: str, sites_of: Callable[..., list[CallSite]]
) -> tuple[Trigger, ...]:
    """The triggers with the one that ``text`` says, or without it if it begins with ``!``.

    Raises:
        UsageError: no such function, no such command, or a count that is no number.
    """
    removes = text.startswith("!")
    glob, _, rest = text.removeprefix("!").partition(":")
    command, colon, number = rest.partition(":")
    if command not in COMMANDS:
        raise UsageError(
            f"{text!r} has no known command",
            f"There are: {', '.join(COMMANDS)}; write FUNCTION:COMMAND or FUNCTION:COMMAND:COUNT.",
        )
    if colon and not (number.isascii() and number.isdigit() and int(number) < UNLIMITED):
        raise UsageError(
            f"{number!r} in {text!r} is not a count", "Write a number, or leave it out."
        )
    chosen = {site.ip: site.function for site in sites_of(glob)}
    others = tuple(one for one in triggers if one.site not in chosen or one.command != command)
    if removes:
        return others
    count = int(number) if colon else None
    made = (Trigger(site, function, command, count) for site, function in chosen.items())
    return tuple(sorted((*others, *made), key=lambda one: one.site))


class TriggerControl:
    """The guest's ``struct ftrace_trigger_control``."""

    def __init__(self, image: Image, memory: Text) -> None:
        self._image = image
        self._control = ControlBlock(image, memory, "ftrace_trigger_control")

    def write(self, triggers: Iterable[Trigger], hidden: Iterable[int], tracer: int) -> None:
        """Set these triggers with their full counts.

        ``hidden`` are call sites enabled only for triggers, ``tracer`` is the address of the
        function tracer called by triggers, or 0.
        """
        armed = [
            {
                "ip": one.site,
                "action": COMMANDS[one.command],
                "count": UNLIMITED if one.count is None else one.count,
            }
            for one in triggers
        ]
        sites = sorted(hidden)
        room = self._control.room("triggers")
        if len(armed) > room:
            raise UsageError(
                f"{len(armed)} function triggers; the guest has room for {room}",
                "Choose a narrower glob.",
            )
        room = self._control.room("hidden")
        if len(sites) > room:
            raise UsageError(
                f"{len(sites)} functions are not traced, but have triggers or are those of the "
                f"stack tracer; the guest has room for {room}",
                "Trace more functions, or fewer.",
            )
        self._control.write_structures("triggers", armed)
        self._control.write(
            hidden=sites, nr_triggers=len(armed), nr_hidden=len(sites), tracer=tracer
        )

    def read(self) -> tuple[tuple[Trigger, ...], int]:
        """The triggers in the guest, by whatever means they were set, and their function tracer.

        GuestError if the guest's table is invalid.
        """
        functions = {site.ip: site.function for site in self._image.sites}
        names = {number: command for command, number in COMMANDS.items()}
        number = self._control.read("nr_triggers")
        if number > self._control.room("triggers"):
            raise GuestError(f"the guest has {number} function triggers")
        armed = []
        for one in self._control.structures("triggers", number):
            site, command = one["ip"], one["action"]
            if site not in functions or command not in names:
                raise GuestError(f"the guest has an invalid trigger at {site:#x}")
            armed.append(Trigger(site, functions[site], names[command], _left(one["count"])))
        return tuple(armed), self._control.read("tracer")

    @property
    def hidden(self) -> set[int]:
        """The call sites enabled only for triggers."""
        return set(self._control.numbers("hidden", self._control.read("nr_hidden")))

    def counts(self, triggers: Iterable[Trigger]) -> list[Trigger]:
        """The same triggers with their remaining counts."""
        armed = list(triggers)
        now = self._control.structures("triggers", len(armed))
        return [
            Trigger(one.site, one.function, one.command, _left(entry["count"]))
            for one, entry in zip(armed, now, strict=True)
        ]


def _left(count: int) -> int | None:
    return None if count == UNLIMITED else count
