# SPDX-License-Identifier: MIT
"""Whether a guest's clock is what it was when a snapshot is restored."""

from harness.errors import HostError
from harness.guest import Guest


def take_snapshot(guest: Guest, name: str, *, with_clock: bool) -> None:
    """Take a snapshot; ``with_clock``, restore it and compare the guest's clock too.

    A clock that QEMU sets at a reset, and does not save, restarts: restoring begins with a reset.

    Raises:
        HostError: the clock has run backwards.
    """
    before = _clock(guest) if with_clock else 0
    guest.snapshot(name)
    if not with_clock:
        return
    guest.restore(name)
    after = _clock(guest)
    if after < before:
        # No GuestError, which a check survives: all that follows would be judged with that clock.
        raise HostError(
            f"the clock of {guest.name} does not survive a snapshot: "
            f"{before} ns before it, and {after} ns after it was restored",
            "Name its counter in `unsaved_clock` of the architecture's `Cpu`, or set "
            "`snapshots = false` in the config.",
        )
    guest.restore(name)


def _clock(guest: Guest) -> int:
    """Nanoseconds since the guest booted, as its own kernel counts them."""
    return guest.debugger.call(guest.image.symbols["local_clock"], returns="long long")
