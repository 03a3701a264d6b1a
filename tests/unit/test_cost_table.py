# SPDX-License-Identifier: MIT
"""What tracing costs on each config, as benchmarks/instructions.txt has it."""

from pathlib import Path

import pytest

from harness.config import list_configs, load_config

TABLE = Path(__file__).parents[2] / "benchmarks" / "instructions.txt"
FIRST = ("mips", "aarch64")
"""Architectures that the others are not measured by, and those that they are."""
MOST = 1.3
"""An event, and a pair of the graph tracer, by those of AArch64 in the same form."""
OF = "aarch64-virt"


def table() -> dict[tuple[str, str, str], tuple[float, float]]:
    """Instructions of an event and of a pair, by config, build and code."""
    found = {}
    for line in TABLE.read_text().splitlines()[1:]:
        config, build, code, *costs = line.split()
        found[config, build, code] = float(costs[1]), float(costs[7])
    return found


ROWS = table()


def same_form(config: str) -> str:
    """AArch64's config with the same form of call sites, or the one without more words."""
    words = config.partition("-virt")[2]
    last = words.rpartition("-")[2]
    return next(name for name in (OF + words, f"{OF}-{last}", OF) if name in list_configs())


def test_every_config_with_one_cpu_is_measured() -> None:
    assert {config for config, *_ in ROWS} == {
        name for name in list_configs() if load_config(name).qemu.smp == 1
    }


@pytest.mark.parametrize("row", [row for row in ROWS if not row[0].startswith(FIRST)], ids="-".join)
def test_an_event_and_a_pair_cost_what_they_cost_elsewhere(row: tuple[str, str, str]) -> None:
    config, build, code = row
    for cost, other in zip(ROWS[row], ROWS[same_form(config), build, code], strict=True):
        assert cost <= MOST * other
