# SPDX-License-Identifier: MIT
"""How soon ``harness conform`` tells of what a guest dies, and how long it takes in all.

Plants a fault in a copy of a config's reference port, of which a guest dies at boot or in its first
traced call: an endless loop, and an access to address 8, in ftrace_make_nop() and at the beginning
of what the call sites call.  Each port is judged twice, so that its guests are built.  Prints the
seconds of the second time, from the start until a build is told not to boot, and to the end, and
the first finding.

    python benchmarks/deaths.py [CONFIG...]
"""

import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from harness.config import load_config, load_port

CONFIGS = ("mips-malta", "aarch64-virt", "riscv64-virt", "x86_64-q35", "arm-virt")

MAKE_NOP = re.compile(r"(\nint ftrace_make_nop\([^{]*\{\n(?:\t[a-z].*;\n)*)")
"""The beginning of the function, with its declarations."""

STUB = re.compile(r"^(SYM_FUNC_START\((?:_mcount|__fentry__|__gnu_mcount_nc)\)\n)", re.MULTILINE)
"""What the compiler calls, in static and in dynamic builds."""

IN_STUB = {
    "mips": ("b 1b\n\tnop", "lw $0, 8($0)"),
    "aarch64": ("b 1b", "mov x16, #8\n\tldr x16, [x16]"),
    "riscv64": ("j 1b", "ld zero, 8(zero)"),
    "x86_64": ("jmp 1b", "mov 8, %rax"),
    "arm": ("b 1b", "mov ip, #8\n\tldr ip, [ip]"),
}
"""For each port, a branch to the label 1, and a load from address 8."""


def deaths(port: str) -> dict[str, tuple[str, re.Pattern[str], str]]:
    """For each fault, the port's file, the place in it, and the code that is added there."""
    loop, load = IN_STUB[port]
    return {
        "ftrace_make_nop loops": ("ftrace.c", MAKE_NOP, "for (;;)\n\t\tbarrier();"),
        "ftrace_make_nop stores to 8": ("ftrace.c", MAKE_NOP, "*(volatile unsigned long *)8 = 1;"),
        "the stub loops": ("mcount.S", STUB, f"1: {loop}"),
        "the stub loads from 8": ("mcount.S", STUB, load),
    }


def plant(file: Path, place: re.Pattern[str], code: str) -> None:
    """Add the code to a port's file."""
    changed, found = place.subn(lambda match: f"{match[1]}\t{code}\n", file.read_text())
    if not found:
        raise SystemExit(f"{file} has no place for: {code}")
    file.write_text(changed)


def judge(config: str, port: Path) -> tuple[float, float, list[str]]:
    """Seconds until a build is told not to boot, and to the end; the lines of the summary."""
    program = str(Path(sys.executable).with_name("harness"))
    command = [program, "conform", "-c", config, "--port", str(port)]
    began, told = time.monotonic(), 0.0
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        for line in running.stderr:
            if "does not boot" in line:
                told = told or time.monotonic() - began
        lines = running.stdout.read().splitlines()
    return told, time.monotonic() - began, lines


def main() -> None:
    """Print a table, one line a fault, and the first finding under it."""
    print(f"{'config':16}{'fault':30}{'told':>8}{'in all':>8}")
    for config in sys.argv[1:] or CONFIGS:
        port = load_port(load_config(config).port)
        for death, (name, place, code) in deaths(port.name).items():
            with tempfile.TemporaryDirectory() as directory:
                copy = Path(directory, port.name)
                shutil.copytree(port.directory, copy)
                plant(copy / name, place, code)
                judge(config, copy)
                told, took, lines = judge(config, copy)
            print(f"{config:16}{death:30}{told:6.1f} s{took:6.1f} s")
            print("\n".join(f"    {line.strip()[:100]}" for line in lines[:4]), flush=True)


if __name__ == "__main__":
    main()
