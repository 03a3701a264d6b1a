# SPDX-License-Identifier: MIT
"""What the newer forms of ftrace cost the guest, in guest instructions for each call.

    python benchmarks/forms.py [CONFIG...]

As benchmarks/instructions.py, for ports whose tracers get an ops and registers:

function  what the function tracer adds to each call
args      the same with the option func-args
direct    what a direct trampoline of every function adds, without its own instructions; - if the
          port has no direct calls

benchmarks/forms.txt has what it printed last.
"""

import sys

from instructions import WORKLOAD, Bench

from harness.config import list_configs, load_config, load_port, resources
from harness.guest import Guest
from harness.oracle import Call

TRAMPOLINE = "ftrace_direct_tramp"


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


def main() -> None:
    """Print a table, a line for each config."""
    program = resources.guests_directory() / "workloads" / f"{WORKLOAD}.c"
    print(f"{'config':32}{'function':>9}{'args':>9}{'direct':>9}")
    every = [name for name in list_configs() if load_config(name).qemu.smp == 1]
    for config in sys.argv[1:] or every:
        features = load_port(load_config(config).port).features
        if "DYNAMIC_FTRACE_WITH_ARGS" not in features:
            continue
        bench, own = Bench(config), 0

        def note(guest: Guest) -> None:
            nonlocal own
            own = own_instructions(guest)
            direct(guest)

        off = bench.run(program)
        runs = {
            "function": bench.run(program, tracer="function"),
            "args": bench.run(program, tracer="function", prepare=arguments),
        }
        if "DYNAMIC_FTRACE_WITH_DIRECT_CALLS" in features:
            runs["direct"] = bench.run(program, prepare=note)
        calls = sum(isinstance(record, Call) for record in off.flow)
        costs = {name: (run.instructions - off.instructions) / calls for name, run in runs.items()}
        if "direct" in costs:
            costs["direct"] -= own
        shown = (
            f"{costs[name]:9.1f}" if name in costs else f"{'-':>9}"
            for name in ("function", "args", "direct")
        )
        print(f"{config:32}{''.join(shown)}", flush=True)


if __name__ == "__main__":
    main()
