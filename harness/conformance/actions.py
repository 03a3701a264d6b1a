# SPDX-License-Identifier: MIT
"""What a check has done to its guest since that was fresh, so that it can be done again."""

from dataclasses import dataclass, field, replace


@dataclass(frozen=True, slots=True)
class Called:
    """A function of the guest, called with these arguments."""

    function: int
    arguments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """Memory, written by the debugger."""

    address: int
    data: bytes


@dataclass(slots=True)
class Actions:
    """In their order, on a guest as booted, of a machine with so much ``memory``.

    ``site`` is the address of the call site that the check looks at, 0 where it is the one of the
    last call.
    """

    done: list[Called | Written] = field(default_factory=list)
    memory: str = ""
    site: int = 0

    def forget(self, memory: str = "") -> None:
        """The guest is as booted."""
        self.done.clear()
        self.memory, self.site = memory, 0

    def so_far(self) -> "Actions":
        """A copy."""
        return replace(self, done=list(self.done))

    @property
    def last_call(self) -> Called | None:
        """The function that was called last; None if the guest has only booted."""
        calls = (one for one in reversed(self.done) if isinstance(one, Called))
        return next(calls, None)
