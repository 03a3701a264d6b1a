# SPDX-License-Identifier: MIT
"""What tracing costs the guest, in guest instructions, counted exactly by the oracle.

    python benchmarks/instructions.py [CONFIG...]

Columns, once for dynamic and once for static guests; everything but the first comes on top of it:

site      what the call site of a function adds to each call while no tracer is on: the same program
          with and without that site
function  what the function tracer adds to each call of the workload sort, everything included: the
          call, the stub, the tracer, the clock, the ring buffer; the mean, and the most that any
          call took (a call that begins a new page of the ring buffer)
refused   the same while tracing_on is 0, the mean
pair      what function_graph adds to each call and its return: the mean, and the most that any call
          of a function which calls nothing took

benchmarks/instructions.txt has what it printed last.
"""

import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import NamedTuple

from harness import boot
from harness.build import build_guest
from harness.config import list_configs, load_config
from harness.errors import HarnessError
from harness.image import Image
from harness.oracle import Call, Oracle, Return

GRAPH = ("FUNCTION_GRAPH_TRACER", "FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR")
STATIC = ("FUNCTION_TRACER", "FTRACE_MCOUNT_RECORD", *GRAPH)

WORKLOAD = "sort"
CALLS = 1000

# A function that calls another has the same frame with a call site and without.
SITE = f"""
#include <linux/compiler.h>

notrace noinline void bottom(void)
{{
	barrier();
}}

MEASURED noinline void measured(void)
{{
	bottom();
	barrier();
}}

notrace int workload(void)
{{
	for (int i = 0; i < {CALLS}; i++)
		measured();
	return 0;
}}
"""


class Run(NamedTuple):
    """One run of a workload: guest instructions in all, and the calls and returns in order."""

    instructions: int
    flow: list[Call | Return]


class Costs(NamedTuple):
    """Guest instructions that a call costs; ``site`` is for one that is not traced."""

    site: int
    function: float
    function_most: int
    refused: float
    pair: float
    pair_most: int


def run(
    config: str,
    workload: str,
    *,
    tracer: str = "nop",
    recording: bool = True,
    static: bool = False,
    cflags: Sequence[str] = (),
) -> Run:
    """Run a workload once under the oracle."""
    features = STATIC if static else None
    kernel = build_guest(load_config(config), workload, cflags=cflags, features=features)
    image = Image(kernel.read_bytes(), str(kernel))
    with (
        tempfile.TemporaryDirectory() as directory,
        Oracle(image, Path(directory)) as oracle,
        boot(
            config, workload, plugins=[oracle.argument], cflags=cflags, features=features
        ) as guest,
    ):
        guest.tracer.current = tracer
        guest.tracer.on = recording
        oracle.reset()
        oracle.window(True)
        # Not what comes behind it: how long the kernel waits for its serial line is not ours.
        guest.run(until=guest.debugger.read_register(guest.image.isa.return_register))
        result = Run(oracle.instructions, oracle.flow())
        guest.run(until="workload_done")
        if guest.workload_status:
            raise HarnessError(f"{workload} on {config} returned {guest.workload_status}")
        return result


def measure(config: str, *, static: bool = False) -> Costs:
    """All figures of one config."""
    with tempfile.TemporaryDirectory() as directory:
        source = Path(directory, "site.c")
        source.write_text(SITE)
        without, having = (
            run(config, str(source), static=static, cflags=[f"-DMEASURED={measured}"])
            for measured in ("notrace", "")
        )
    off = run(config, WORKLOAD, static=static)
    function = run(config, WORKLOAD, tracer="function", static=static)
    refused = run(config, WORKLOAD, tracer="function", static=static, recording=False)
    graph = run(config, WORKLOAD, tracer="function_graph", static=static)
    calls = sum(isinstance(record, Call) for record in off.flow)

    def mean(traced: Run) -> float:
        return (traced.instructions - off.instructions) / calls

    return Costs(
        # A nop that aligns the loop is not part of a site.
        round((having.instructions - without.instructions) / CALLS),
        mean(function),
        most(function, off, Call),
        mean(refused),
        mean(graph),
        most(graph, off, Call, Return),
    )


def most(traced: Run, untraced: Run, kind: type, following: type = object) -> int:
    """The dearest stretch from a record of this kind to a following one of that kind."""
    lengths = [
        (after.instructions - before.instructions, before, after)
        for before, after in zip(traced.flow, traced.flow[1:], strict=False)
    ]
    plain = [
        after.instructions - before.instructions
        for before, after in zip(untraced.flow, untraced.flow[1:], strict=False)
    ]
    return max(
        length - without
        for (length, before, after), without in zip(lengths, plain, strict=True)
        if isinstance(before, kind) and isinstance(after, following)
    )


def line(name: str, kind: str, costs: Costs) -> str:
    """A line of the table."""
    return (
        f"{name:32}{kind:9}{costs.site:6}{costs.function:10.1f}{costs.function_most:6}"
        f"{costs.refused:9.1f}{costs.pair:8.1f}{costs.pair_most:6}"
    )


def main() -> None:
    """Print a table, one or two lines a config."""
    head = f"{'config':32}{'build':9}{'site':>6}{'function':>10}{'most':>6}"
    print(f"{head}{'refused':>9}{'pair':>8}{'most':>6}")
    for config in sys.argv[1:] or list_configs():
        print(line(config, "dynamic", measure(config)), flush=True)
        if load_config(config).build.form != "patchable-entry":
            print(line(config, "static", measure(config, static=True)), flush=True)


if __name__ == "__main__":
    main()
