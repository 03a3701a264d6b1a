# SPDX-License-Identifier: MIT
"""What tracing a Linux kernel from outside costs: those of ``harness linux build`` and ``fetch``.

For each config: the pause in which all call sites are switched on and off; how long 8 MiB of the
ring buffer take to read at once; and how long the same boot takes in QEMU alone, under the harness
without a tracer, and with ``harness record``.

    python benchmarks/linux.py CONFIG.toml...
"""

import sys
import tempfile
import time
from pathlib import Path

from harness import boot
from harness.config import LinuxConfig, load_any_config
from harness.guest.linux_start import command_line
from harness.machine import Machine
from harness.record import Request, record
from harness.units import MIB

ROUNDS = 3
BUFFER = 8 * MIB
FILLED = 2500
"""Rounds of system calls that record more than the buffer holds."""
RECORDED = "vfs_*"
TIMEOUT = 600.0


def seconds(begin: float) -> float:
    """The time since then."""
    return time.perf_counter() - begin


def working(config: LinuxConfig, rounds: int) -> LinuxConfig:
    """The same kernel, whose first process makes so many rounds of system calls and ends."""
    append = f"{config.linux.append} do=work:{rounds},poweroff"
    return config.model_copy(update={"linux": config.linux.model_copy(update={"append": append})})


def switch(config: LinuxConfig) -> str:
    """Sites, and the best pause for switching them on and off, in seconds."""
    times: dict[str, list[float]] = {"function": [], "nop": []}
    with boot(working(config, 1), timeout=TIMEOUT) as guest:
        for _ in range(ROUNDS):
            for tracer, measured in times.items():
                begin = time.perf_counter()
                guest.tracer.current = tracer
                measured.append(seconds(begin))
        sites = len(guest.image.sites)
    on, off = (min(measured) for measured in times.values())
    return f"{sites:7}{on:9.2f} s{off:9.2f} s"


def read(config: LinuxConfig) -> str:
    """Bytes of a full ring buffer, and the seconds to read them at once."""
    with boot(working(config, FILLED), buffer_size=BUFFER, timeout=TIMEOUT) as guest:
        collector = guest.collector
        collector.configure(overwrite=True)
        drain = collector.drain
        collector.drain = lambda *arguments: True  # type: ignore[method-assign]
        guest.tracer.current = "function"
        guest.run(timeout=TIMEOUT)
        begin = time.perf_counter()
        drain()
        took = seconds(begin)
        size = sum(one.finished for one in collector.spools)
    return f"{size / MIB:8.1f} MiB{took:9.2f} s"


def recording(config: LinuxConfig, directory: Path) -> str:
    """Seconds of the boot in QEMU alone up to the guest's end, of `boot`, and of a recording."""
    config = working(config, 1)
    table = config.linux
    begin = time.perf_counter()
    append = command_line(table.append)
    with Machine(config, table.boot_file, append=append, initrd=table.initrd) as machine:
        machine.qmp("cont")
        while not machine.ended(0.01):
            machine.console.drain()
    qemu = seconds(begin)
    begin = time.perf_counter()
    with boot(config, timeout=TIMEOUT) as guest:
        guest.run(timeout=TIMEOUT)
        alone = seconds(begin)
    begin = time.perf_counter()
    record(Request(config, directory / "x.dat", filters=(RECORDED,), timeout=TIMEOUT))
    return f"{qemu:9.2f} s{alone:9.2f} s{seconds(begin):9.2f} s"


def main() -> None:
    """Print a table, one line a config."""
    head = f"{'sites':>7}{'on':>11}{'off':>11}{'read':>12}{'in':>11}"
    head += "".join(f"{name:>11}" for name in ("QEMU", "boot", "record"))
    print(f"{'config':28}{head}")
    for path in map(Path, sys.argv[1:]):
        config = load_any_config(path)
        if not isinstance(config, LinuxConfig):
            sys.exit(f"{path} has no table [linux]")
        with tempfile.TemporaryDirectory() as directory:
            row = switch(config) + read(config) + recording(config, Path(directory))
        print(f"{path.stem:28}{row}", flush=True)


if __name__ == "__main__":
    main()
