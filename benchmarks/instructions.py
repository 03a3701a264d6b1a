# SPDX-License-Identifier: MIT
"""What tracing costs the guest, in guest instructions, counted exactly by the oracle.

    python benchmarks/instructions.py [CONFIG...]

Lines: functions of the kernel and of a module, in dynamic and in static guests. The program is the
workload sort; as a module it is the same source, and only its own functions are traced, but for
static guests, which have no filters. Without names, on all configs with one CPU, where the oracle
counts exactly; the ABIs of the others are among these.

Columns; everything but the first comes on top of it:

site      what the call site of a function adds to each call while no tracer is on: the same program
          with and without that site
function  what the function tracer adds to each call, everything included: the call, the stub, the
          tracer, the clock, the ring buffer
refused   the same while tracing_on is 0
pair      what function_graph adds to each call and its return
left      the same while tracing_on is 0: it is not hijacked, and there is no return to count

The first figure is the mean of all calls. Behind it stand what 99 of 100 calls do not exceed, and
the most that any call took: one that begins a new page of the ring buffer. These two are, of pairs,
those of functions which call nothing.

benchmarks/instructions.txt has what it printed last.
"""

import sys
import tempfile
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from harness import boot
from harness.config import list_configs, load_config, resources
from harness.debugger import return_address
from harness.errors import HarnessError
from harness.guest import Guest
from harness.image import Image
from harness.kbuild import GuestSpec, build_guest
from harness.oracle import Call, Oracle, Return

GRAPH = ("FUNCTION_GRAPH_TRACER", "FUNCTION_GRAPH_FP_TEST", "FUNCTION_GRAPH_RET_ADDR_PTR")
STATIC = ("FUNCTION_TRACER", "FTRACE_MCOUNT_RECORD", *GRAPH)

WORKLOAD = "sort"
CALLS = 1000

# The same program as a module, and the workload that runs it.
MODULE = """
#include <linux/module.h>

#define workload program
#include "{source}"

static notrace long run_program(long argument)
{{
	return workload();
}}
module_run(run_program);
"""
RUN_MODULES = """
#include <linux/module.h>

int workload(void)
{
	return run_modules(0);
}
"""

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

int workload(void)
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


class Cost(NamedTuple):
    """Guest instructions that one thing costs: the mean, 99 of 100 calls at most, all at most."""

    mean: float
    usual: int
    most: int

    def __str__(self) -> str:
        return f"{self.mean:10.1f}{self.usual:5}{self.most:5}"


class Costs(NamedTuple):
    """What a call costs; ``site`` is for one that is not traced."""

    site: int
    function: Cost
    refused: Cost
    pair: Cost
    left: Cost


class Bench:
    """One build of one config, with the program in the kernel or in a module of its own."""

    def __init__(
        self, config: str, *, static: bool = False, module: bool = False, port: str | None = None
    ) -> None:
        self._config = config
        self._port = port
        self._features = STATIC if static else None
        self._module = module

    def run(
        self,
        program: Path,
        *,
        tracer: str = "nop",
        recording: bool = True,
        cflags: Sequence[str] = (),
        prepare: Callable[[Guest], None] | None = None,
    ) -> Run:
        """Run a program once under the oracle; ``prepare`` is called last before."""
        with tempfile.TemporaryDirectory() as directory:
            workload = program
            if self._module:
                workload = Path(directory, "run.c")
                workload.write_text(RUN_MODULES)
                module = Path(directory, "program.c")
                module.write_text(MODULE.format(source=program))
            build = {"cflags": cflags, "features": self._features, "port": self._port}
            kernel = build_guest(GuestSpec.of(self._config, str(workload), **build))
            image = read_image(kernel)
            with (
                Oracle(image, Path(directory)) as oracle,
                # No ticks: what their handler executes is no cost of a call.
                boot(
                    self._config, str(workload), plugins=[oracle.argument], tick=0, **build
                ) as guest,
            ):
                if self._module:
                    (found,) = guest.modules.find(module)
                    oracle.add_module(found.image)
                    guest.load_module(found)
                    sites = {site.ip for site in found.image.sites}
                if self._module and self._features is None:
                    guest.tracer.set_filter(":mod:program")
                else:
                    sites = set(oracle.sites)
                guest.tracer.current = tracer
                guest.tracer.on = recording
                if prepare is not None:
                    prepare(guest)
                oracle.reset()
                oracle.window(True)
                # Not what comes behind it, which waits for the serial line.
                guest.run(until=return_address(guest.debugger, guest.image.isa.abi))
                flow = [record for record in oracle.flow() if record.site in sites]
                result = Run(oracle.instructions, flow)
                guest.run(until="workload_done")
                if guest.workload_status:
                    raise HarnessError(
                        f"{program} on {self._config} returned {guest.workload_status}"
                    )
                return result

    def site(self) -> int:
        """What a call site costs that is switched off."""
        with tempfile.TemporaryDirectory() as directory:
            source = Path(directory, "site.c")
            source.write_text(SITE)
            without, having = (
                self.run(source, cflags=[f"-DMEASURED={measured}"]).instructions
                for measured in ("notrace", "")
            )
        # A nop that aligns the loop is not part of a site.
        return round((having - without) / CALLS)

    def measure(self) -> Costs:
        """All figures."""
        program = resources.guests_directory() / "workloads" / f"{WORKLOAD}.c"
        off = self.run(program)

        def cost(tracer: str, following: type, *, recording: bool = True) -> Cost:
            traced = self.run(program, tracer=tracer, recording=recording)
            calls = sum(isinstance(record, Call) for record in off.flow)
            each = sorted(stretches(traced.flow, off.flow, following))
            return Cost(
                (traced.instructions - off.instructions) / calls,
                each[len(each) * 99 // 100],
                each[-1],
            )

        return Costs(
            self.site(),
            cost("function", object),
            cost("function", object, recording=False),
            cost("function_graph", Return),
            cost("function_graph", object, recording=False),
        )


@lru_cache(maxsize=2)
def read_image(kernel: Path) -> Image:
    """A kernel's image, which several runs have: the oracle disassembles it but once."""
    return Image(kernel.read_bytes(), str(kernel))


def stretches(
    traced: Sequence[Call | Return], untraced: Sequence[Call | Return], following: type
) -> Iterator[int]:
    """What is added between a call and the record behind it, if that is of this kind.

    Functions that end with a call of another return together with it, and are left out.
    """
    for i in range(len(traced) - 1):
        call, after = traced[i], traced[i + 1]
        if not isinstance(call, Call) or not isinstance(after, following):
            continue
        together = i + 2 < len(traced) and isinstance(traced[i + 2], Return)
        if together and traced[i + 2].instructions == after.instructions:
            continue
        plain = untraced[i + 1].instructions - untraced[i].instructions
        yield after.instructions - call.instructions - plain


def main() -> None:
    """Print a table, up to four lines a config."""
    columns = "".join(f"{name:>10}  99% most" for name in Costs._fields[1:])
    print(f"{'config':35}{'build':9}{'code':8}{'site':>4}{columns}")
    every = [name for name in list_configs() if load_config(name).qemu.smp == 1]
    for config in sys.argv[1:] or every:
        for static in (False, True):
            if static and load_config(config).build.form == "patchable-entry":
                continue
            for module in (False, True):
                costs = Bench(config, static=static, module=module).measure()
                names = ("static" if static else "dynamic", "module" if module else "kernel")
                figures = "".join(map(str, costs[1:]))
                print(f"{config:35}{names[0]:9}{names[1]:8}{costs.site:4}{figures}", flush=True)


if __name__ == "__main__":
    main()
