# SPDX-License-Identifier: MIT
"""Snapshots of a guest: the machine's state, and with it what the harness knows of the guest."""

from dataclasses import dataclass
from typing import TYPE_CHECKING

from harness.errors import UsageError
from harness.guest.modules import Module
from harness.readout import SpoolState
from harness.tracer import TracerState

if TYPE_CHECKING:
    from harness.guest.guest import Guest


@dataclass(frozen=True, slots=True)
class _Kept:
    """What goes with a snapshot outside the machine; None where nobody had asked for it yet."""

    tracer: TracerState | None
    spools: list[SpoolState] | None
    modules: list[Module]


class GuestSnapshots:
    """The snapshots of one guest, by name.  The guest is stopped whenever one is used."""

    def __init__(self, guest: "Guest") -> None:
        self._guest = guest
        self._kept: dict[str, _Kept] = {}
        self._restored_at = -1

    def take(self, name: str) -> None:
        """See `Guest.snapshot`."""
        guest = self._guest
        if guest.config is not None and not guest.config.qemu.snapshots:
            raise UsageError(
                f"QEMU cannot bring {guest.config.name} back to a snapshot: not all of its devices "
                "keep their state",
                "Boot it again where a guest as new will do, or take a config of one CPU.",
            )
        guest.machine.snapshots.save(name)
        asked_for = vars(guest)
        self._kept[name] = _Kept(
            guest.tracer.state if "tracer" in asked_for else None,
            guest.collector.state() if "collector" in asked_for else None,
            guest.modules.loaded,
        )

    def restore(self, name: str) -> None:
        """See `Guest.restore`."""
        guest = self._guest
        if self._restored_at == guest.debugger.resumptions:
            # QEMU's flash memory does work of a load when the machine runs next, and QEMU (7.2 to
            # 10.0) dies of a second load before that.  What is executed here is undone at once.
            guest.debugger.step_instruction()
        guest.machine.snapshots.load(name)
        self._restored_at = guest.debugger.resumptions
        guest.debugger.moved()
        kept, asked_for = self._kept[name], vars(guest)
        guest.modules.restore(kept.modules)
        if kept.spools is not None:
            guest.collector.restore(kept.spools)
        elif "collector" in asked_for:
            # The guest may not even have set up its ring buffer by then.
            guest.collector.close()
            del guest.collector
            asked_for.pop("tracer", None)
        if kept.tracer is not None or "tracer" in asked_for:
            guest.tracer.state = kept.tracer or TracerState()
