# SPDX-License-Identifier: MIT
"""The corpus of results, arguments and frames, in every build of a guest.

Each build runs it without a tracer, with function, and with function_graph, and the results must
always be right.  By default one build of each kind is tested on each machine, so that all
optimisation levels, with and without frame pointer, occur; ``--full`` tests all of them.
"""

from itertools import product

from harness.config import list_configs, load_config
from harness.debugger import return_address
from harness.isa import Form
from support.interrupts import outside

LEVELS = ("-O0", "-O1", "-O2", "-O3", "-Os")
FRAMES = ("omit", "no-omit")
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
        f"{config}-{'static' if static else 'dynamic'}{level}-{frame}"
        for config, static, level, frame in matrix
    ]
    metafunc.parametrize(("config", "static", "level", "frame"), matrix, ids=names)


def frame_flags(config, frame):
    """With -pg gcc refuses -fomit-frame-pointer, although it is the default."""
    if frame == "omit" and load_config(config).build.form is not Form.PATCHABLE_ENTRY:
        return []
    return [f"-f{frame}-frame-pointer"]


def test_every_answer_is_right(watch, config, static, level, frame):
    cflags = (level, *frame_flags(config, frame))
    with watch("returns", static=static, cflags=cflags) as watched:
        guest, tracer = watched.guest, watched.guest.tracer
        back = return_address(guest.debugger, guest.image.isa.abi)
        watched.switch("function_graph")
        guest.run(until=back)
        assert result(guest) == 0
        # The oracle sees where a return went when the instruction there is executed.
        guest.debugger.step_instruction()
        watched.switch("nop")
        calls = [call.site for call in watched.oracle.records() if call.level == 0]
        watched.check_graph()
        assert len(calls) > 400
        tracer.clear()
        tracer.current = "function"
        assert repeat(guest, back) == 0
        assert [event.ip for event in outside(tracer.events())] == calls
        tracer.current = "nop"
        assert repeat(guest, back) == 0


def repeat(guest, back):
    """Call workload() again.  gdb could, but aborts if the function calls longjmp()."""
    isa, debugger = guest.image.isa, guest.debugger
    stack = debugger.read_register(isa.abi.stack_register)
    values = isa.abi.entered(guest.address_of("workload"), (), stack, back)
    debugger.write_registers(values)
    if pushed := isa.abi.pushed(values, back):
        debugger.write_memory(*pushed)
    guest.run(until=back)
    return result(guest)


def result(guest):
    return guest.debugger.read_register(guest.image.isa.abi.results[0])
