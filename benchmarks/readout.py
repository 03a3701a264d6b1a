# SPDX-License-Identifier: MIT
"""How fast each lane reads the guest's ring buffer, beside gdb's own ``dump binary memory``.

One run for each config; every figure is the best of some rounds over the same bytes, and the last
column says whether all three read the same.

    python benchmarks/readout.py [CONFIG...]
"""

import sys
import time
from collections.abc import Callable

from harness import boot
from harness.config import list_configs
from harness.readout import MonitorLane, StubLane

SIZES = (64 << 10, 1 << 20, 4 << 20)
ROUNDS = 5


def rate(read: Callable[[int, int], bytes], address: int, size: int) -> tuple[float, bytes]:
    """MB/s of the fastest round, and what was read."""
    best, data = float("inf"), b""
    for _ in range(ROUNDS):
        began = time.perf_counter()
        data = read(address, size)
        best = min(best, time.perf_counter() - began)
    return size / best / 1e6, data


def measure(config: str) -> None:
    """Print the lines of one config."""
    with boot(config) as guest:
        file = guest.machine.directory / "dump"
        stub = StubLane(guest.debugger)
        monitor = MonitorLane(guest.machine, stub, guest.image.isa.cpu.linear_address)
        where = guest.collector.header().cpu(0).pages

        def dump(address: int, size: int) -> bytes:
            guest.debugger.cli(f"dump binary memory {file} {address:#x} {address + size:#x}")
            return file.read_bytes()

        for size in SIZES:
            gdb, expected = rate(dump, where, size)
            own, first = rate(stub.read, where, size)
            auto, second = rate(monitor.read, where, size)
            print(
                f"{config:32}{size:9}{gdb:7.1f} MB/s{own:7.1f} MB/s{own / gdb:7.2f}"
                f"{auto:7.1f} MB/s  {expected == first == second}"
            )


def main() -> None:
    """Print a table, one line for each config and size."""
    print(f"{'config':32}{'bytes':>9}{'gdb dump':>12}{'stub':>12}{'ratio':>7}{'auto':>12}  same")
    for config in sys.argv[1:] or list_configs():
        measure(config)


if __name__ == "__main__":
    main()
