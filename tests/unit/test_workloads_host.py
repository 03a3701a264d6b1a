# SPDX-License-Identifier: MIT
"""The workloads as programs of the host: sanitizers see more than a guest can."""

import bisect
import functools
import os
import re
import shutil
import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

import pytest

WORKLOADS = Path(__file__).parents[2] / "guests" / "workloads"
PLAIN = sorted(path for path in WORKLOADS.glob("*.c") if "#include <linux/" not in path.read_text())
COMPILER = shutil.which(os.environ.get("CC", "gcc"))
MAIN = "int workload(void); int main(void) { return workload(); }\n"

# Prints "entry caller" for each entry of a function: two addresses.
ENTRIES = """
#include <stdio.h>

__attribute__((no_instrument_function))
void __cyg_profile_func_enter(void *function, void *caller)
{
	printf("%p %p\\n", function, caller);
}

__attribute__((no_instrument_function))
void __cyg_profile_func_exit(void *function, void *caller)
{
	(void)function;
	(void)caller;
}

int workload(void);

__attribute__((no_instrument_function))
int main(void)
{
	int status = workload();

	/* After the call, so that main is its caller. */
	fflush(stdout);
	return status;
}
"""

pytestmark = pytest.mark.skipif(COMPILER is None, reason="no C compiler for the host")


def build(workload: Path, main: str, directory: Path, flags: Sequence[str]) -> Path:
    assert COMPILER is not None
    (directory / "main.c").write_text(main)
    program = directory / "program"
    command = [COMPILER, "-std=gnu11", "-g", "-Wall", "-Wextra", "-Werror", *flags]
    subprocess.run([*command, workload, directory / "main.c", "-o", program], check=True)
    return program


@pytest.fixture(scope="session")
def sanitizers(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """Return the flags of those sanitizers that this host's compiler can link and run."""
    directory = tmp_path_factory.mktemp("sanitizers")
    (directory / "empty.c").write_text("int workload(void) { return 0; }\n")
    found = []
    for flag in ("-fsanitize=address", "-fsanitize=undefined"):
        try:
            program = build(directory / "empty.c", MAIN, directory, [flag])
            subprocess.run([program], check=True, capture_output=True)
        except (subprocess.CalledProcessError, OSError):
            continue
        found.append(flag)
    return [*found, "-fno-sanitize-recover=all"] if found else []


@pytest.mark.parametrize("workload", PLAIN, ids=lambda workload: str(workload.stem))
def test_workload_returns_0(workload: Path, tmp_path: Path, sanitizers: list[str]) -> None:
    program = build(workload, MAIN, tmp_path, ["-O1", *sanitizers])
    result = subprocess.run([program], capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


class Row(NamedTuple):
    """A row of the table at the top of calls.c."""

    number: int
    function: str
    caller: str
    caller_without_sibling_calls: str


def documented_calls() -> list[Row]:
    row = re.compile(r"^ \*\s+(\d+)  (\w+) +(\w+|\(the kernel\))(?: +(\w+) without sibling)?")
    matches = [row.match(line) for line in (WORKLOADS / "calls.c").read_text().splitlines()]
    return [
        Row(int(match[1]), match[2], match[3], match[4] or match[3]) for match in matches if match
    ]


def functions_of(program: Path) -> list[tuple[int, str]]:
    output = subprocess.run(["nm", program], capture_output=True, text=True, check=True).stdout
    symbols = re.findall(r"^([0-9a-f]+) [tT] (\w+)$", output, re.MULTILINE)
    return sorted((int(address, 16), name) for address, name in symbols)


def function_at(symbols: list[tuple[int, str]], address: int) -> str:
    return symbols[bisect.bisect(symbols, address, key=lambda symbol: symbol[0]) - 1][1]


def test_calls_table_is_numbered() -> None:
    rows = documented_calls()
    assert [row.number for row in rows] == list(range(1, len(rows) + 1))
    assert len(rows) == 34


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
def test_calls_are_as_documented(level: str, tmp_path: Path) -> None:
    """Functions, order and callers; instrumented functions end in a call, so not in another's."""
    flags = [level, "-finstrument-functions", "-no-pie"]
    program = build(WORKLOADS / "calls.c", ENTRIES, tmp_path, flags)
    output = subprocess.run([program], capture_output=True, text=True, check=True).stdout
    name = functools.partial(function_at, functions_of(program))
    entries = [tuple(name(int(word, 16)) for word in line.split()) for line in output.splitlines()]
    assert entries == [
        (row.function, row.caller_without_sibling_calls.replace("(the kernel)", "main"))
        for row in documented_calls()
    ]


@pytest.mark.parametrize("level", ["-O0", "-O1", "-O2", "-O3", "-Os"])
def test_every_documented_call_is_in_the_code(level: str, tmp_path: Path) -> None:
    """Nothing is inlined or made a loop when functions are not instrumented, either."""
    assert COMPILER is not None
    target = tmp_path / "calls.o"
    command = [COMPILER, "-std=gnu11", level, "-fPIC", "-c", WORKLOADS / "calls.c", "-o", target]
    subprocess.run(command, check=True)
    listing = subprocess.run(
        ["objdump", "-dr", target], capture_output=True, text=True, check=True
    ).stdout
    calls = {
        (body[body.index("<") + 1 : body.index(">")], callee)
        for body in re.split(r"\n(?=[0-9a-f]+ <)", listing)[1:]
        for callee in re.findall(r"R_\w+\s+(\w+)", body)
    }
    documented = {
        (row.caller_without_sibling_calls, row.function)
        for row in documented_calls()
        # Not by the kernel, and not through a pointer.
        if row.function != "workload" and not row.function.startswith("pointer_")
    }
    assert documented - calls == set()


def test_events_makes_as_many_calls_as_it_says() -> None:
    source = (WORKLOADS / "events.c").read_text()
    constants = {
        name: int(value) for name, value in re.findall(r"#define (ROUNDS|TURNS) (\d+)", source)
    }
    calls = len(re.findall(r"state = step_\w+\(state\)", source))
    total = 1 + constants["ROUNDS"] * (1 + calls * constants["TURNS"])
    assert f"{total:,} entries" in source
    assert total > 1_000_000
