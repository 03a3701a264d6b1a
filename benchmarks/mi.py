# SPDX-License-Identifier: MIT
"""What a word with gdb costs, and the fastest way to move guest memory through it.

On a stopped guest of each config: the median time of an MI command and its answer, of a stop at a
breakpoint, of an exact step; then the rate of each way to read and to write memory, by size.  gdb's
own ``dump binary memory`` to a file on disk is the mark; ``ratio`` is dump_memory against it.

    python benchmarks/mi.py [CONFIG...]
"""

import statistics
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from harness.config import load_config
from harness.debugger import Debugger
from harness.image import Image
from harness.kbuild import GuestSpec, build_guest
from harness.machine import Machine
from harness.units import KIB, MIB

CONFIGS = ("mips-malta", "aarch64-virt")
SIZES = (256, 4 * KIB, 64 * KIB, MIB, 4 * MIB)
PIECE = 64 * KIB
"""Of a large read through MI: larger answers cost more per byte."""
BUDGET = 1.0
"""Seconds for each figure."""


def times(*actions: Callable[[], object]) -> list[list[float]]:
    """Seconds of each action, all in turn so that a busy host hits all of them."""
    taken: list[list[float]] = [[] for _ in actions]
    end = time.perf_counter() + BUDGET * len(actions)
    while len(taken[0]) < 3 or time.perf_counter() < end:
        for action, seconds in zip(actions, taken, strict=True):
            began = time.perf_counter()
            action()
            seconds.append(time.perf_counter() - began)
    return taken


def median(action: Callable[[], object]) -> float:
    """Median seconds of an action."""
    return statistics.median(times(action)[0])


def rate(size: int, seconds: float) -> str:
    """Megabytes a second, as a column."""
    return f"{size / seconds / 1e6:7.2f} MB/s"


def latencies(debugger: Debugger, place: int) -> None:
    """One line: commands, pipelined commands, small reads, breakpoints, steps."""

    def fresh_read() -> None:
        debugger.forget()
        debugger.read_memory(place, 64)

    def breakpoint_cycle() -> None:
        debugger.resume()
        debugger.wait_stop(10)

    def fresh_registers() -> None:
        debugger.forget()
        debugger.registers()

    number = debugger.breakpoints.insert(place)
    figures = {
        "command": median(lambda: debugger.command("-gdb-show confirm")),
        "pipelined": median(lambda: debugger.commands(["-gdb-show confirm"] * 100)) / 100,
        "read 64": median(fresh_read),
        "registers": median(fresh_registers),
        "breakpoint": median(breakpoint_cycle),
        "step": median(debugger.step_instruction),
    }
    debugger.breakpoints.delete(number)
    print("  " + "  ".join(f"{name} {value * 1e3:.3f} ms" for name, value in figures.items()))


def reads(debugger: Debugger, address: int, directory: Path) -> None:
    """A table of the best rates of reading, by size."""
    file = directory / "dump.bin"
    print(f"  {'reading':>10}{'MI':>14}{'gdb dump':>14}{'dump_memory':>14}{'ratio':>8}")
    for size in SIZES:
        pieces = [
            f"-data-read-memory-bytes 0x{address + offset:x} {min(PIECE, size)}"
            for offset in range(0, size, PIECE)
        ]

        def through_mi(pieces: list[str] = pieces) -> None:
            debugger.commands(pieces)

        def gdb_dump(size: int = size) -> None:
            debugger.cli(f"dump binary memory {file} 0x{address:x} 0x{address + size:x}")
            file.read_bytes()

        def ours(size: int = size) -> None:
            debugger.dump_memory(address, size)

        mi, dump, own = (min(taken) for taken in times(through_mi, gdb_dump, ours))
        columns = "".join(f"{rate(size, seconds):>14}" for seconds in (mi, dump, own))
        print(f"  {size:10}{columns}{dump / own:8.2f}")


def writes(debugger: Debugger, address: int) -> None:
    """A table of the best rates of writing, by size."""
    print(f"  {'writing':>10}{'MI':>14}{'restore_memory':>16}")
    for size in SIZES[:-1]:
        data = bytes(range(256)) * (size // 256)
        command = f"-data-write-memory-bytes 0x{address:x} {data.hex()}"

        def through_mi(command: str = command) -> None:
            debugger.command(command, deadline=120)

        def ours(data: bytes = data) -> None:
            debugger.restore_memory(address, data)

        mi, own = (min(taken) for taken in times(through_mi, ours))
        print(f"  {size:10}{rate(size, mi):>14}{rate(size, own):>16}")


def main() -> None:
    """Print the figures of each config."""
    for name in sys.argv[1:] or CONFIGS:
        config = load_config(name)
        kernel = build_guest(GuestSpec.of(config, "events"))
        image = Image(kernel.read_bytes(), str(kernel))
        with (
            tempfile.TemporaryDirectory() as directory,
            Machine(config, kernel) as machine,
            Debugger() as debugger,
        ):
            began = time.perf_counter()
            debugger.symbols.load(kernel)
            debugger.connect(machine.gdb_socket)
            print(f"{name}: connected after {time.perf_counter() - began:.2f} s")
            stop = debugger.breakpoints.insert(image.symbols["workload"])
            debugger.resume()
            debugger.wait_stop(30)
            debugger.breakpoints.delete(stop)
            latencies(debugger, image.symbols["step_add"])
            heap = image.symbols["__heap_start"]
            reads(debugger, heap, Path(directory))
            writes(debugger, heap)


if __name__ == "__main__":
    main()
