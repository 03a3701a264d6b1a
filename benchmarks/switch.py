# SPDX-License-Identifier: MIT
"""How long a guest is paused while a thousand call sites are switched.

Builds a workload of 1,000 functions, switches the function tracer on and off, and prints the time
of each switch from the stopped guest to the stopped guest: read, compare, write, read back.

    python benchmarks/switch.py [CONFIG...]
"""

import sys
import tempfile
import time
from pathlib import Path

from harness import boot
from harness.config import list_configs

FUNCTIONS = 1000
ROUNDS = 5


def source() -> str:
    """A workload of many functions, too different to be merged, all of them called."""
    functions = [
        f"__attribute__((noinline)) int function_{i}(int x) {{ return x * {i} + {i ^ 5}; }}"
        for i in range(FUNCTIONS)
    ]
    calls = [f"\tx += function_{i}(x);" for i in range(FUNCTIONS)]
    body = ["int workload(void)", "{", "\tvolatile int x = 1;", *calls, "\treturn 0;", "}"]
    return "\n".join([*functions, *body]) + "\n"


def main() -> None:
    """Print a table, one line a config."""
    print(f"{'config':32}{'sites':>7}{'on, best':>12}{'on, worst':>12}{'off, worst':>12}")
    with tempfile.TemporaryDirectory() as directory:
        workload = Path(directory, "thousand.c")
        workload.write_text(source())
        for config in sys.argv[1:] or list_configs():
            on, off = [], []
            with boot(config, str(workload)) as guest:
                for _ in range(ROUNDS):
                    for tracer, times in (("function", on), ("nop", off)):
                        began = time.perf_counter()
                        guest.tracer.current = tracer
                        times.append(time.perf_counter() - began)
                sites = len(guest.image.sites)
            print(
                f"{config:32}{sites:7}{min(on) * 1e3:9.1f} ms{max(on) * 1e3:9.1f} ms"
                f"{max(off) * 1e3:9.1f} ms"
            )


if __name__ == "__main__":
    main()
