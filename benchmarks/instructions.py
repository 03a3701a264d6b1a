# SPDX-License-Identifier: MIT
"""What tracing costs the guest, in guest instructions, counted exactly by the oracle.

Runs a workload three times: untraced, traced, and traced with a ring buffer that refuses every
event (tracing_on = 0).  Prints the instructions of the whole run and those that each traced call
adds to it.

    python benchmarks/instructions.py [CONFIG...]
"""

import sys
import tempfile
from pathlib import Path

from harness import boot
from harness.build import build_guest
from harness.config import list_configs, load_config
from harness.image import Image
from harness.oracle import Oracle

WORKLOAD = "sort"


def measure(config: str, traced: bool, recording: bool) -> tuple[int, int]:
    """Run the workload once: guest instructions, and executions of call sites."""
    kernel = build_guest(load_config(config), WORKLOAD)
    image = Image(kernel.read_bytes(), str(kernel))
    with (
        tempfile.TemporaryDirectory() as directory,
        Oracle(image, Path(directory)) as oracle,
        boot(config, WORKLOAD, plugins=[oracle.argument]) as guest,
    ):
        guest.tracer.current = "function" if traced else "nop"
        guest.tracer.on = recording
        oracle.reset()
        oracle.window(True)
        guest.run(until="workload_done")
        return oracle.instructions, len(oracle.records())


def main() -> None:
    """Print a table, one line a config."""
    print(f"{'config':24}{'calls':>8}{'untraced':>12}{'traced':>12}{'an event':>10}{'refused':>10}")
    for config in sys.argv[1:] or list_configs():
        untraced, calls = measure(config, traced=False, recording=True)
        traced, _ = measure(config, traced=True, recording=True)
        refused, _ = measure(config, traced=True, recording=False)
        print(
            f"{config:24}{calls:8}{untraced:12}{traced:12}"
            f"{(traced - untraced) / calls:10.1f}{(refused - untraced) / calls:10.1f}"
        )


if __name__ == "__main__":
    main()
