# SPDX-License-Identifier: MIT
"""Tracers that are added, removed or called while another CPU runs or is stopped in the stub."""

from functools import partial
from itertools import count, permutations

from harness.conformance.checks.i_smp import (
    ARGUMENTS,
    OTHER,
    RIGHT,
    SITE,
    alone,
    join,
    start_on_other,
)
from harness.conformance.checks.j_tracers import SECOND, into_stub
from harness.conformance.places import place_of
from harness.conformance.registry import check, several_cpus
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.build_guest import CALL_RETURNS
from harness.conformance.under_test.selftests import NUMBER, Selftest
from harness.conformance.under_test.switch import Switch
from harness.guest.answer import wrong_answer


@check("C20c", lacks=several_cpus)
def tracers_change_while_another_cpu_runs(bench: Bench) -> None:
    """One CPU runs the workload while the other adds and removes three tracers, in every order."""
    if not bench.kernel.PREEMPTION:
        return
    bench.fresh()
    tests = [Selftest(bench, number) for number in range(NUMBER)]
    switch, site = Switch(bench), bench.sites.of(SITE)
    switch.sites(True)
    tests[1].only(site)
    for order in permutations(tests):
        for test in tests:
            test.write(calls=0, op=0)
        with bench.fail_if_guest_dies("C20c"):
            thread = start_on_other(bench)
            for test in order:
                test.switch(True)
            bench.call(site.function_address, *ARGUMENTS)
            found = {number: test.read("op") for number, test in enumerate(tests)}
            for test in order:
                test.switch(False)
            answer = join(bench, thread)
        bench.require(
            "C20c",
            answer == RIGHT,
            f"tracers came and went under CPU {OTHER}: {wrong_answer(bench.image, answer)}",
        )
        expected = {number: test.ops for number, test in enumerate(tests)}
        bench.require(
            "C20c",
            found == expected,
            f"tracers came under CPU {OTHER}, and a call did not reach each with its own ops",
            expected=expected,
            found=found,
        )
        for test in tests:
            test.write(calls=0)
        with bench.fail_if_guest_dies("C20c"):
            bench.call(site.function_address, *ARGUMENTS)
        left = [number for number, test in enumerate(tests) if test.read("calls")]
        bench.require("C20c", not left, f"tracers went under CPU {OTHER} and are called", on=left)


@check("C20c", lacks=several_cpus)
def another_cpu_parked_in_the_stub(bench: Bench) -> None:
    """One CPU is stopped at each instruction of the stub up to its tracer, while another one calls
    a function that has another tracer.
    """
    bench.fresh()
    tests, names = [Selftest(bench, number) for number in (0, 1)], (SITE, SECOND)
    sites = [bench.sites.of(name) for name in names]
    for test, site in zip(tests, sites, strict=True):
        test.only(site)
        test.switch(True)
    Switch(bench).sites(True, sites)
    with bench.fail_if_guest_dies("C20c"):
        with alone(bench, 0):
            thread = start_on_other(bench)
        with alone(bench, OTHER):
            # Not where it waits for an interrupt.
            bench.run_to("workload")
    for number in count():
        for test in tests:
            test.write(calls=0, op=0)
        with bench.fail_if_guest_dies("C20c"):
            with alone(bench, OTHER):
                before = bench.enter(sites[0].function_address, *ARGUMENTS)
                here = into_stub(bench, number)
            with alone(bench, 0):
                bench.call(sites[1].function_address, *ARGUMENTS)
            with alone(bench, OTHER):
                bench.run_to(CALL_RETURNS)
                bench.registers.put_back(before)
        for test, name in zip(tests, names, strict=True):
            found = {"calls": test.read("calls"), "op": test.read("op")}
            bench.require(
                "C20c",
                found == {"calls": 1, "op": test.ops},
                f"{name} does not come to its tracer, with CPU {OTHER} at "
                f"{bench.image.symbolize(here)}",
                partial(place_of, bench.image, here, "is where it was"),
                expected={"calls": 1, "op": test.ops},
                found=found,
            )
        if bench.image.function_at(here) != bench.code.stub:
            break
    with bench.fail_if_guest_dies("C20c"):
        answer = join(bench, thread)
    bench.require("C20c", answer == RIGHT, f"CPU {OTHER}: {wrong_answer(bench.image, answer)}")
