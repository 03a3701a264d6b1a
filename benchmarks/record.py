# SPDX-License-Identifier: MIT
"""What a recording costs the host beyond the workload that it records.

For each config and workload, in one run: the time that the guest needs for the workload without a
tracer, that of a whole recording (start of QEMU to a closed trace.dat), the difference, and the
events.  The last column is events written minus events read minus events reported lost.

    python benchmarks/record.py [CONFIG...]
"""

import sys
import tempfile
import time
from pathlib import Path

from harness import boot
from harness.config import list_configs
from harness.kbuild import GuestSpec
from harness.record import Request, record

WORKLOADS = ("calls", "sha256", "events")


def own_time(config: str, workload: str) -> float:
    """Seconds from the workload's first instruction to its end, untraced."""
    with boot(config, workload) as guest:
        began = time.perf_counter()
        guest.run()
        return time.perf_counter() - began


def main() -> None:
    """Print a table, one line for each config and workload."""
    columns = ("own", "recording", "beyond", "events", "lost", "unaccounted")
    print(f"{'config':32}{'workload':10}" + "".join(f"{name:>13}" for name in columns))
    with tempfile.TemporaryDirectory() as directory:
        for config in sys.argv[1:] or list_configs():
            for workload in WORKLOADS:
                own = own_time(config, workload)
                began = time.perf_counter()
                done = record(Request(GuestSpec.of(config, workload), Path(directory, "trace.dat")))
                total = time.perf_counter() - began
                unaccounted = done.written - done.events - done.lost
                print(
                    f"{config:32}{workload:10}{own:11.2f} s{total:11.2f} s{total - own:11.2f} s"
                    f"{done.events:13}{done.lost:13}{unaccounted:13}"
                )


if __name__ == "__main__":
    main()
