# SPDX-License-Identifier: MIT
"""What tracing may cost, in guest instructions, as benchmarks/instructions.py counts them."""

import importlib.util
from pathlib import Path

import pytest

from harness.config import load_config
from harness.isa import Form

BENCHMARK = Path(__file__).parents[2] / "benchmarks" / "instructions.py"

FUNCTION_EVENT = 120
PAIR = 300
# What gcc leaves at a site that is switched off, and nothing else.
SITE = {
    Form.MCOUNT: 3,  # move at,ra and two words; mov x0,x30, xpaclri and one word
    Form.MCOUNT_RA_ADDRESS: 4,  # and the place of ra
    Form.PATCHABLE_ENTRY: 2,
}
LANDING_PAD = 1


@pytest.fixture(scope="module")
def benchmark():
    specification = importlib.util.spec_from_file_location("instructions", BENCHMARK)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_no_more_than_promised(benchmark, config):
    costs = benchmark.measure(config)
    build = load_config(config).build
    pads = "-mbranch-protection=standard" in build.cflags and build.form is Form.PATCHABLE_ENTRY
    assert costs.site == SITE[build.form] + LANDING_PAD * pads
    assert 40 < costs.function <= FUNCTION_EVENT
    assert 100 < costs.pair <= PAIR
    assert costs.refused < costs.function
