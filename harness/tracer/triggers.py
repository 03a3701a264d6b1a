# SPDX-License-Identifier: MIT
"""Function triggers as set_ftrace_filter takes them: ``FUNCTION:COMMAND[:COUNT]``.

They are executed in the guest, by a tracer of their own that calls the other one
(guests/kernel/include/linux/ftrace_triggers.h).
"""

import struct
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
MAX_TRIGGERS = 64
MAX_HIDDEN = 256


@dataclass(frozen=True, slots=True, eq=False)
class Trigger:
    """What one function does when it is entered; ``count`` is how often, None for always.

    Each is its own: one that is armed again begins with its full count.
    """

    site: int
    function: str
    command: str
    count: int | None = None

    def __str__(self) -> str:
        return f"{self.function}:{self.command}:{'unlimited' if self.count is None else self.count}"


def is_trigger(text: str) -> bool:
    """Whether a text for set_ftrace_filter is a trigger and not a glob."""
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
            f"{text!r} has no command that a function can have",
            f"There are: {', '.join(COMMANDS)}; write FUNCTION:COMMAND or FUNCTION:COMMAND:COUNT.",
        )
    if colon and not (number.isascii() and number.isdigit() and int(number) < UNLIMITED):
        raise UsageError(
            f"{number!r} in {text!r} is not a count", "Write a number, or leave it out."
        )
    chosen = {site.address: site.function for site in sites_of(glob)}
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
        self._memory = memory
        self._control = ControlBlock(
            image,
            memory,
            "ftrace_trigger_control",
            "2I3Q",
            ("nr_triggers", "nr_hidden", "tracer", "triggers", "hidden"),
        )
        self._entry = struct.Struct((">" if image.byteorder == "big" else "<") + "QII")

    def write(self, triggers: Iterable[Trigger], hidden: Iterable[int], tracer: int) -> None:
        """Arm these triggers with their full counts.

        ``hidden`` are call sites that are on for their triggers alone, ``tracer`` is the address
        of the function tracer behind the triggers, or 0.
        """
        armed = list(triggers)
        sites = sorted(hidden)
        if len(armed) > MAX_TRIGGERS:
            raise UsageError(
                f"{len(armed)} function triggers; the guest has room for {MAX_TRIGGERS}",
                "Choose a narrower glob.",
            )
        if len(sites) > MAX_HIDDEN:
            raise UsageError(
                f"{len(sites)} functions have only triggers; {MAX_HIDDEN} are possible"
            )
        where = self._control.read()
        data = b"".join(
            self._entry.pack(
                one.site, COMMANDS[one.command], UNLIMITED if one.count is None else one.count
            )
            for one in armed
        )
        word, order = self._image.isa.word_size, self._image.byteorder
        if data:
            self._memory.restore_memory(where["triggers"], data)
        if sites:
            addresses = b"".join(site.to_bytes(word, order) for site in sites)
            self._memory.restore_memory(where["hidden"], addresses)
        self._control.write(nr_triggers=len(armed), nr_hidden=len(sites), tracer=tracer)

    def read(self) -> tuple[tuple[Trigger, ...], int]:
        """What is armed in the guest, and the function tracer behind it, whoever armed it.

        GuestError if the guest's table holds what nobody puts there.
        """
        where = self._control.read()
        functions = {site.address: site.function for site in self._image.sites}
        names = {number: command for command, number in COMMANDS.items()}
        if where["nr_triggers"] > MAX_TRIGGERS:
            raise GuestError(f"the guest has {where['nr_triggers']} function triggers")
        data = self._memory.dump_memory(where["triggers"], where["nr_triggers"] * self._entry.size)
        armed = []
        for site, command, count in self._entry.iter_unpack(data):
            if site not in functions or command not in names:
                raise GuestError(f"the guest has a trigger at {site:#x} that cannot be right")
            left = None if count == UNLIMITED else count
            armed.append(Trigger(site, functions[site], names[command], left))
        return tuple(armed), where["tracer"]

    @property
    def hidden(self) -> set[int]:
        """The call sites that are on for their triggers alone."""
        where = self._control.read()
        word, size = self._image.isa.word_size, min(where["nr_hidden"], MAX_HIDDEN)
        data = self._memory.dump_memory(where["hidden"], size * word)
        order = self._image.byteorder
        return {int.from_bytes(data[at : at + word], order) for at in range(0, len(data), word)}

    def counts(self, triggers: Iterable[Trigger]) -> list[Trigger]:
        """The same triggers with the counts that the guest has left of them."""
        armed = list(triggers)
        size = self._entry.size
        data = self._memory.dump_memory(self._control.read()["triggers"], size * max(1, len(armed)))
        left = []
        for index, one in enumerate(armed):
            _, _, count = self._entry.unpack_from(data, index * size)
            shown = None if count == UNLIMITED else count
            left.append(Trigger(one.site, one.function, one.command, shown))
        return left
