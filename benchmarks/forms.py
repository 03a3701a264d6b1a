# SPDX-License-Identifier: MIT
"""What the newer forms of ftrace cost the guest, in guest instructions for each call.

    python benchmarks/forms.py [--port DIR] [CONFIG...]

As benchmarks/instructions.py, for ports whose tracers get an ops and registers, of the configs' own
or of a directory:

function  what the function tracer adds to each call
args      the same with the option func-args; - if the port has no arguments
pair      what function_graph adds to each call and its return
direct    what a direct trampoline of every function adds, without its own instructions; - if the
          port has no direct calls

benchmarks/forms.txt has what it printed last without a port.
"""

import argparse

from instructions import WORKLOAD, Bench

from harness.config import list_configs, load_config, load_port, resources
from harness.guest import Guest
from harness.oracle import Call

TRAMPOLINE = "ftrace_direct_tramp"

COLUMNS = ("function", "args", "pair", "direct")


def arguments(guest: Guest) -> None:
    """Have the function tracer record arguments."""
    guest.tracer.set_option("func-args")


def direct(guest: Guest) -> None:
    """Have every function go through a trampoline."""
    image = guest.image
    ops = image.structures.struct("ftrace_selftest").member("ops").offset
    address = image.address_of("ftrace_direct_selftest") + ops
    error = guest.call("register_ftrace_direct", address, image.address_of(TRAMPOLINE))
    error = error or guest.port.replace_code(True)
    if error:
        raise SystemExit(f"the port refused a trampoline: error {error}")


def own_instructions(guest: Guest) -> int:
    """The instructions of the trampoline."""
    return guest.image.size_of(TRAMPOLINE) // guest.image.isa.unit


def measure(config: str, port: str | None) -> dict[str, float]:
    """The figures of one config; none if its tracers get no ops."""
    features = load_port(port or load_config(config).port).features
    if not {"DYNAMIC_FTRACE_WITH_ARGS", "DYNAMIC_FTRACE_WITH_REGS"} & {*features}:
        return {}
    program = resources.guests_directory() / "workloads" / f"{WORKLOAD}.c"
    bench, own = Bench(config, port=port), 0

    def note(guest: Guest) -> None:
        nonlocal own
        own = own_instructions(guest)
        direct(guest)

    off = bench.run(program)
    runs = {
        "function": bench.run(program, tracer="function"),
        "pair": bench.run(program, tracer="function_graph"),
    }
    if "DYNAMIC_FTRACE_WITH_ARGS" in features:
        runs["args"] = bench.run(program, tracer="function", prepare=arguments)
    if "DYNAMIC_FTRACE_WITH_DIRECT_CALLS" in features:
        runs["direct"] = bench.run(program, prepare=note)
    calls = sum(isinstance(record, Call) for record in off.flow)
    costs = {name: (run.instructions - off.instructions) / calls for name, run in runs.items()}
    if "direct" in costs:
        costs["direct"] -= own
    return costs


def main() -> None:
    """Print a table, a line for each config."""
    every = [name for name in list_configs() if load_config(name).qemu.smp == 1]
    parser = argparse.ArgumentParser()
    parser.add_argument("--port", help="a port directory, in place of the configs' own ports")
    parser.add_argument("config", nargs="*", default=every)
    chosen = parser.parse_args()
    print(f"{'config':32}" + "".join(f"{name:>9}" for name in COLUMNS))
    for config in chosen.config:
        costs = measure(config, chosen.port)
        shown = (f"{costs[name]:9.1f}" if name in costs else f"{'-':>9}" for name in COLUMNS)
        if costs:
            print(f"{config:32}{''.join(shown)}", flush=True)


if __name__ == "__main__":
    main()
