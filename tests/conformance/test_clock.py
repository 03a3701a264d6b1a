# SPDX-License-Identifier: MIT
"""A clock that a snapshot does not save is found before anything is judged by it."""

import pytest

from harness.config import list_configs, load_config
from harness.conformance.under_test.clock import take_snapshot
from harness.errors import HostError
from harness.guest import boot

REWOUND = [one for one in map(load_config, list_configs()) if one.qemu.snapshots]


@pytest.mark.parametrize("config", [one.name for one in REWOUND if not one.saves_clock])
def test_a_clock_that_is_not_restored(config, monkeypatch):
    with boot(config, "calls") as guest:
        cpu = type(guest.image.isa.cpu)
        monkeypatch.setattr(cpu, "unsaved_clock", None)
        monkeypatch.setattr(cpu, "unsaved_timer", "")
        with pytest.raises(HostError, match=r"the clock of .* does not survive a snapshot") as seen:
            take_snapshot(guest, "start", with_clock=True)
    assert "unsaved_clock" in seen.value.advice


@pytest.mark.parametrize("config", [one.name for one in REWOUND])
def test_a_clock_that_is_restored(config):
    with boot(config, "calls") as guest:
        take_snapshot(guest, "start", with_clock=True)
        before = guest.debugger.registers()
        guest.run(until="workload_done")
        guest.restore("start")
        assert guest.debugger.registers() == before
