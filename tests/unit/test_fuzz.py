# SPDX-License-Identifier: MIT
"""The fuzzer finds what must not be, and the readers give it nothing to find."""

import os
import signal
import time

import pytest

from harness.errors import FormatError
from tests.fuzz import worker
from tests.fuzz.targets import Target, targets
from tests.fuzz.worker import Sums, fuzz, make_input

NAMES = (
    *("trace.dat", "filter", "format", "page", "ring-header", "threads", "elf", "structures"),
    *("recordmcount", "syscalls", "gdb-answer", "config", "port", "matrix", "result", "findings"),
    *("run", "history"),
)


@pytest.mark.parametrize("name", NAMES)
def test_damaged_inputs_end_in_a_result_or_an_error_of_ours(tmp_path, name):
    by_name = {target.name: target for target in targets(tmp_path)}
    assert tuple(by_name) == NAMES
    sums = Sums()
    assert list(fuzz(by_name[name], 2, 0, 40, sums)) == []
    assert sums.results + sums.errors == 40


def planted(what):
    """A target that reads well, but for its input number 3."""
    numbers = iter(range(1 << 20))

    def look(data, chance, directory):
        number = next(numbers)
        if number == 1:
            raise FormatError("refused")
        if number == 3:
            what()

    return Target("planted", (b"seed",), look)


def forever():
    while True:
        time.sleep(1)


@pytest.mark.parametrize(
    ("what", "says"),
    [
        (lambda: int("x"), "ValueError at unit/test_fuzz.py:"),
        (lambda: bytearray(1 << 30), "MemoryError at unit/test_fuzz.py:"),
        (forever, "more than 0.5 s"),
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "ended with -9"),
    ],
)
def test_what_must_not_be_is_found_with_its_number(monkeypatch, what, says):
    monkeypatch.setattr(worker, "SECONDS", 0.5)
    sums = Sums()
    # Each process begins to count anew.
    (found, *_) = fuzz(planted(what), 7, 10, 6, sums)
    assert (found.target, found.number) == ("planted", 13)
    assert found.what.startswith(says)


def test_an_input_is_made_again_from_its_number(tmp_path):
    target = targets(tmp_path)[0]
    made = [make_input(target, 1, number)[0] for number in range(20)]
    assert made == [make_input(target, 1, number)[0] for number in range(20)]
    assert len(set(made)) > 10
    assert made[0] != make_input(target, 2, 0)[0]
