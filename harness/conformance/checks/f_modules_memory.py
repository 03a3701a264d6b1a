# SPDX-License-Identifier: MIT
"""Memory of modules: too little memory, and memory of an unloaded module."""

from harness.conformance.checks.f_modules import load, sites_of, texts
from harness.conformance.registry import MODULES, check
from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.live_modules import put_module, unload_module
from harness.conformance.under_test.switch import Switch
from harness.conformance.variants import LOADED
from harness.conformance.verdict import Layer

PATTERN = b"\xa5\x5a\xc3\x3c"


@check("C7f", variants=(MODULES,), layer=Layer.PATCHING)
def a_module_without_enough_memory(bench: Bench) -> None:
    """One byte less than a loaded module needs, with its records and the port's trampolines."""
    of = bench.image.structures.struct("module")
    end, limit = (of.member(name).offset for name in ("end", "limit"))
    least = bench.word_at(load(bench, init=False)[0].this_module + end)
    bench.fresh()
    module = put_module(bench, LOADED[0])
    few = (least - 1).to_bytes(bench.isa.word_size, bench.image.byteorder)
    bench.write_memory(module.this_module + limit, few)
    with bench.fail_if_guest_dies("C7f"):
        status = bench.call(bench.image.address_of("load_module"), module.this_module)
    bench.require(
        "C7f",
        status < 0 and not bench.word("modules"),
        f"a module without enough memory is not refused: load_module() returned {status}",
    )


@check("C7e", variants=(MODULES,))
def nothing_is_written_where_a_module_was(bench: Bench) -> None:
    """A module is unloaded with its sites on, and then all sites are switched."""
    modules = load(bench)
    switch = Switch(bench)
    switch.tracer(True)
    switch.sites(True, sites_of(modules))
    with bench.fail_if_guest_dies("C7e"):
        for name in LOADED:
            unload_module(bench, name)
    for module in modules:
        size = len(module.text) // len(PATTERN)
        bench.write_memory(module.text.start, PATTERN * size)
    pattern = texts(bench, modules)
    with bench.fail_if_guest_dies("C7e"):
        switch.sites(True)
        switch.sites(False)
        switch.tracer(False)
    after = texts(bench, modules)
    for module, was, now in zip(modules, pattern, after, strict=True):
        at = next((at for at in range(len(was)) if was[at] != now[at]), 0)
        bench.require(
            "C7e",
            was == now,
            f"text was patched where the module {module.module_name} had been",
            place=f"{module.text.start + at:#x}",
        )
