# SPDX-License-Identifier: MIT
"""The corpus of results, arguments and frames, in every way that a guest can be built.

Each build runs it without a tracer, with function, and with function_graph, and every answer has
to be right each time.  By default one build of each kind is tested on each machine, such that all
levels and both frame pointers occur; ``--full`` tests all of them.
"""

from itertools import product

from graph_model import expected, recorded
from harness.config import list_configs, load_config
from harness.isa import Form

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
FRAMES = ("-fomit-frame-pointer", "-fno-omit-frame-pointer")
BUILDS = list(product(LEVELS, FRAMES))


def pytest_generate_tests(metafunc):
    full = metafunc.config.getoption("--full")
    matrix = []
    for number, config in enumerate(list_configs()):
        # Sites of nops need somebody who writes the calls.
        patchable = load_config(config).build.form is Form.PATCHABLE_ENTRY
        for static in (False,) if patchable else (False, True):
            # Two builds of one machine differ in both flags; neighbours have other ones.
            one = BUILDS[(3 * (2 * number + static)) % len(BUILDS)]
            matrix += [(config, static, *flags) for flags in (BUILDS if full else [one])]
    names = [
        f"{config}-{'static' if static else 'dynamic'}{level}{frame.removeprefix('-f')}"
        for config, static, level, frame in matrix
    ]
    metafunc.parametrize(("config", "static", "level", "frame"), matrix, ids=names)


def test_every_answer_is_right(watch, static, level, frame):
    with watch("returns", static=static, cflags=(level, frame)) as watched:
        guest = watched.guest
        workload = guest.address_of("workload")
        assert guest.debugger.call(workload) == 0
        guest.tracer.current = "function"
        assert guest.debugger.call(workload) == 0
        functions = [event.ip for event in guest.tracer.events()]
        guest.tracer.clear()
        watched.switch("function_graph")
        guest.run(until="workload_done")
        assert guest.workload_status == 0
        calls = [call.site for call in watched.oracle.records()]
        assert functions == calls[: len(functions)]
        assert len(functions) > 400
        assert recorded(guest.tracer.events()) == expected(watched.oracle.flow())
