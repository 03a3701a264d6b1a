# SPDX-License-Identifier: MIT
"""Limits for the cost of tracing, in guest instructions as counted by
benchmarks/instructions.py.
"""

import importlib.util
from pathlib import Path

import pytest

from harness.config import list_configs, load_config, load_port
from harness.isa import Form
from tests.support.configs import others

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "instructions.py"

FUNCTION_EVENT = 120
PAIR = 300
# A call that begins a page, about one of 60 pairs and one of 150 events.
FUNCTION_EVENT_MOST = 240
PAIR_MOST = 500
PAIR_BY_TABLES = 310
PAIR_BY_TABLES_MOST = 2700
"""Where the port reads in unwind tables where a function stores its return address: at the first
pair of each site.
"""
TABLES = "unwind_frame("
REFUSED = 60
LEFT = 115
# What gcc leaves at a site that is switched off, at most, and nothing else.
SITE = {
    Form.MCOUNT: 3,  # move at,ra and two words; mov x0,x30, xpaclri and one word
    Form.MCOUNT_RA_ADDRESS: 4,  # and the place of ra
    Form.PATCHABLE_ENTRY: 2,
}
LONG_CALL = 2  # the branch over it, and the word behind the branch
LANDING_PAD = 1

ABIS = [
    *("mips-malta-ra", "mips64el-malta", "aarch64-virt", "aarch64-virt-bti-pac-patchable"),
    *(name for name in others() if load_config(name).qemu.smp == 1),
]
"""One config of each ABI and form; ``--full`` takes those with one CPU all."""


def pytest_generate_tests(metafunc):
    every = [name for name in list_configs() if load_config(name).qemu.smp == 1]
    full = metafunc.config.getoption("--full")
    metafunc.parametrize("config", every if full else ABIS)


@pytest.fixture(scope="module")
def benchmark():
    specification = importlib.util.spec_from_file_location("instructions", BENCHMARK)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


@pytest.mark.parametrize("code", ["kernel", "module"])
@pytest.mark.parametrize("kind", ["dynamic", "static"])
def test_no_more_than_promised(benchmark, config, kind, code, thorough):
    build = load_config(config).build
    if kind == "static" and code == "module" and not thorough:
        pytest.skip("the stub is the same for a module's functions (--all-configs runs it)")
    if kind == "static" and build.form is Form.PATCHABLE_ENTRY:
        pytest.skip("patchable entries are dynamic only")
    bench = benchmark.Bench(config, static=kind == "static", module=code == "module")
    costs = bench.measure()
    if kind == "dynamic":
        pads = "-mbranch-protection=standard" in build.cflags and build.form is Form.PATCHABLE_ENTRY
        long_call = code == "module" and config.startswith("mips")
        wanted = LONG_CALL if long_call else SITE[build.form] + LANDING_PAD * pads
        assert 0 < costs.site <= wanted
    assert 40 < costs.function.mean <= costs.function.most <= FUNCTION_EVENT_MOST
    assert max(costs.function.mean, costs.function.usual) <= FUNCTION_EVENT
    sources = load_port(load_config(config).port).directory.glob("*.c")
    by_tables = any(TABLES in source.read_text() for source in sources)
    assert 100 < costs.pair.mean <= (PAIR_BY_TABLES if by_tables else PAIR)
    assert costs.pair.most <= (PAIR_BY_TABLES_MOST if by_tables else PAIR_MOST)
    assert costs.refused.mean <= REFUSED
    assert costs.left.mean <= LEFT
