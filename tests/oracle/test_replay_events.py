# SPDX-License-Identifier: MIT
"""`goto` in a replay: the instruction of an event is the one that QEMU executed in its place."""

import random

from harness.config import list_configs, load_config
from harness.guest import start
from harness.kbuild import GuestSpec
from harness.oracle import Oracle
from harness.replay import Recorder, open_replay
from tests.oracle.conftest import Watched

ALL = [(name, load_config(name).qemu) for name in list_configs()]
ONE_CPU = [name for name, qemu in ALL if qemu.smp == 1 and qemu.snapshots]
GOTOS = -(-1000 // len(ONE_CPU))
"""On each config, with ``--all-configs``: a thousand on all of them."""
FEW = 10
"""On each otherwise."""


def pytest_generate_tests(metafunc):
    metafunc.parametrize("config", ONE_CPU)


def test_events_are_where_the_oracle_saw_calls(config, image_of, tmp_path, thorough):
    trace = tmp_path / "x.dat"
    spec = GuestSpec.of(config, "recursion")
    recorder = Recorder(spec, trace)
    with (
        Oracle(image_of("recursion"), tmp_path, capacity=1_000_000) as oracle,
        start(
            spec, replay=recorder.log, begins=recorder.begins, plugins=[oracle.argument]
        ) as guest,
    ):
        oracle.reset()
        Watched(guest, oracle).switch("function")
        guest.run()
        assert guest.save_trace(trace)
        calls = list(oracle.records())
        recorder.ends()
    assert recorder.save()
    count = GOTOS if thorough else FEW
    # The replay is without the oracle.
    with open_replay(trace) as guest:
        image = guest.image
        assert len(guest.events.all) == len(calls) > 1000
        for one in random.Random(config).sample(guest.events.all, count):
            guest.events.goto(one)
            pc = guest.debugger.read_register(image.isa.abi.pc_register)
            assert pc & image.isa.mask == calls[one.number].site & image.isa.mask, one
            assert guest.events.written == one.written, one
