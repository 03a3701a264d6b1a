# SPDX-License-Identifier: MIT
"""What a recording that can be replayed costs the host, and how far away its moments are.

For each config, side by side: the whole of a recording with the function tracer under plain icount
and under ``--replayable``, from the start of QEMU to a closed trace.dat, and the median ratio of
`ROUNDS` pairs.  Then the replay: how long it takes to open, and the mean and the longest time of
`PLACES` moves to random events, to random instructions, and by one instruction back.

    python benchmarks/replay.py [CONFIG...]
"""

import random
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from statistics import mean, median

from harness.config import list_configs, load_config
from harness.guest import start
from harness.kbuild import GuestSpec, build_guest
from harness.replay import Recorder, ReplayedGuest, open_replay

WORKLOAD = "events"
ROUNDS = 3
PLACES = 20


def record(spec: GuestSpec, trace: Path, *, replayable: bool) -> float:
    """Seconds of a recording."""
    began = time.perf_counter()
    recorder = Recorder(spec, trace) if replayable else None
    with start(
        spec,
        deterministic=recorder is None,
        replay=recorder.log if recorder else None,
        begins=recorder.begins if recorder else None,
    ) as guest:
        guest.tracer.current = "function"
        guest.run()
        guest.save_trace(trace)
        if recorder:
            recorder.ends()
    if recorder:
        recorder.save()
    return time.perf_counter() - began


def timed(moves: Iterator[Callable[[], None]]) -> str:
    """Mean and longest of the moves, in seconds."""
    took = []
    for move in moves:
        began = time.perf_counter()
        move()
        took.append(time.perf_counter() - began)
    return f"{mean(took):9.3f}{max(took):8.3f}"


def events(guest: ReplayedGuest) -> Iterator[Callable[[], None]]:
    """Moves to random events."""
    for one in random.Random(1).sample(guest.events.all, PLACES):
        yield partial(guest.events.goto, one)


def places(guest: ReplayedGuest) -> Iterator[Callable[[], None]]:
    """Moves to random instructions."""
    first = guest.replay.snapshots[0]
    chosen = random.Random(2)
    for _ in range(PLACES):
        place = chosen.randrange(first, guest.replay.end)
        yield partial(guest.replay.goto, place)


def steps(guest: ReplayedGuest) -> Iterator[Callable[[], None]]:
    """Moves by one instruction back."""
    for _ in range(PLACES):
        yield lambda: guest.replay.goto(guest.replay.icount - 1)


def main() -> None:
    """Print a table, one line for each config; times are in seconds."""
    replayable = [
        name
        for name in list_configs()
        if load_config(name).qemu.smp == 1 and load_config(name).qemu.snapshots
    ]
    print(
        f"{'config':32}{'instructions':>13}{'events':>10}{'icount':>8}{'ratio':>7}{'open':>7}"
        f"{'  event: mean, max':>19}{'place: mean, max':>19}{'back: mean, max':>19}"
    )
    for config in sys.argv[1:] or replayable:
        spec = GuestSpec.of(config, WORKLOAD)
        build_guest(spec)
        with tempfile.TemporaryDirectory() as made:
            directory = Path(made)
            plain, logged = directory / "plain.dat", directory / "x.dat"
            pairs = [
                (record(spec, plain, replayable=False), record(spec, logged, replayable=True))
                for _ in range(ROUNDS)
            ]
            began = time.perf_counter()
            with open_replay(logged) as guest:
                opened = time.perf_counter() - began
                ratio = median(b / a for a, b in pairs)
                print(
                    f"{config:32}{guest.replay.end:13}{len(guest.events.all):10}"
                    f"{median(a for a, _ in pairs):8.2f}{ratio:7.2f}{opened:7.1f}"
                    f"  {timed(events(guest))}  {timed(places(guest))}  {timed(steps(guest))}"
                )


if __name__ == "__main__":
    main()
