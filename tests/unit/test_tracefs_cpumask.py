# SPDX-License-Identifier: MIT
"""Masks of CPUs, in the kernel's format."""

import pytest

from harness.errors import UsageError
from harness.tracefs.cpumask import cpumask_text, parse_cpumask


@pytest.mark.parametrize(
    ("cpus", "count", "text"),
    [
        ({0}, 1, "1"),
        ({0, 1}, 2, "3"),
        ({0, 1, 2, 3}, 4, "f"),
        ({4}, 5, "10"),
        ({0}, 8, "01"),
        (set(), 4, "0"),
        ({0, 31}, 32, "80000001"),
        ({0, 32}, 33, "1,00000001"),
        ({0, 63}, 64, "80000000,00000001"),
    ],
)
def test_a_mask_as_text(cpus, count, text):
    assert cpumask_text(frozenset(cpus), count) == text
    assert parse_cpumask(text, count) == cpus


def test_shorter_and_longer_texts():
    assert parse_cpumask(" F\n", 4) == {0, 1, 2, 3}
    assert parse_cpumask("0,0000000a", 4) == {1, 3}
    assert parse_cpumask("1,2", 40) == {1, 32}


@pytest.mark.parametrize(
    "text", ["", "\n", "g", "0x3", "-1", "1,", ",1", "1,,1", "000000001", "1 1", "\u0661"]
)
def test_what_is_no_mask(text):
    with pytest.raises(UsageError, match="is not a mask of CPUs"):
        parse_cpumask(text, 64)


def test_cpus_that_are_not_there():
    with pytest.raises(UsageError, match="there is no CPU 4") as caught:
        parse_cpumask("1f", 4)
    assert "f" in caught.value.advice
