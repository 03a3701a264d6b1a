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

HARNESS = [sys.executable, "-P", "-c", "from harness.cli import main; main()"]

MAKE_NOP = re.compile(r"(\nint ftrace_make_nop\([^{]*\{\n(?:\t[a-z].*;\n)*)")
"""The beginning of the function, with its declarations."""

STUB = re.compile(r"^(SYM_FUNC_START\((?:_mcount|__fentry__|__gnu_mcount_nc)\))$", re.MULTILINE)
"""What the compiler calls, in static and in dynamic builds."""

LOOPS = {"mips": "b 1b\n\tnop", "x86_64": "jmp 1b", "riscv64": "j 1b"}

LOADS = {"mips": "lw $0, 8($0)", "x86_64": "mov 8, %rax", "riscv64": "ld zero, 8(zero)"}
OF_ARM = {"aarch64": "mov x16, #8\n\tldr x16, [x16]", "arm": "mov ip, #8\n\tldr ip, [ip]"}

DEATHS = {
    "ftrace_make_nop loops": ("ftrace.c", MAKE_NOP, "\tfor (;;)\n\t\tbarrier();\n"),
    "ftrace_make_nop stores to 8": ("ftrace.c", MAKE_NOP, "\t*(volatile unsigned long *)8 = 1;\n"),
    "the stub loops": ("mcount.S", STUB, ""),
    "the stub loads from 8": ("mcount.S", STUB, ""),
}


def planted(text: str, death: str, port: str) -> str:
    """The text of the port's file with the fault."""
    _, place, code = DEATHS[death]
    if death == "the stub loops":
        code = f"\n1:\t{LOOPS.get(port, 'b 1b')}"
    elif not code:
        code = f"\n\t{(LOADS | OF_ARM)[port]}"
    changed, found = place.subn(lambda match: match[1] + code, text)
    if not found:
        raise SystemExit(f"the port {port} has no place for: {death}")
    return changed


def judge(config: str, port: Path) -> tuple[float, float, list[str]]:
    """Seconds until a build is told not to boot, and to the end; the lines of the summary."""
    command = [*HARNESS, "conform", "-c", config, "--port", str(port)]
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
        for death in DEATHS:
            with tempfile.TemporaryDirectory() as directory:
                copy = Path(directory, port.name)
                shutil.copytree(port.directory, copy)
                file = copy / DEATHS[death][0]
                file.write_text(planted(file.read_text(), death, port.name))
                judge(config, copy)
                told, took, lines = judge(config, copy)
            print(f"{config:16}{death:30}{told:6.1f} s{took:6.1f} s")
            print("\n".join(f"    {line.strip()[:100]}" for line in lines[:4]), flush=True)


if __name__ == "__main__":
    main()
