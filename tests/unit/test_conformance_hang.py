# SPDX-License-Identifier: MIT
"""A guest is waited for by what its QEMU does."""

import os
import subprocess
import time
from collections.abc import Callable

import pytest

from harness.conformance.under_test import hang
from harness.conformance.verdict import FRAME_POINTER, HOME_AREA
from harness.errors import GuestError

STEP = 0.125
"""Seconds between two looks."""


@pytest.fixture
def lasts(monkeypatch: pytest.MonkeyPatch) -> Callable[..., float]:
    """How long one waits for a QEMU that runs, and waits for a CPU, for so much of its time."""

    def wait(behaviour: Callable[[float], tuple[float, float]], cpus: int = 1) -> float:
        now, ran, waited = 0.0, 1.0, 1.0
        monkeypatch.setattr(hang, "scheduled", lambda _pid: (ran, waited))
        detector = hang.HangDetector(1, cpus, lambda: now)
        while not detector.hangs:
            runs, waits = behaviour(now)
            now, ran, waited = now + STEP, ran + STEP * runs, waited + STEP * waits
        return now

    return wait


def test_one_that_runs_all_the_time_gets_a_quarter_of_a_second(lasts: Callable[..., float]) -> None:
    assert lasts(lambda _now: (1.0, 0.0)) == 0.375


def test_one_with_four_cpus_gets_it_for_each_of_them(lasts: Callable[..., float]) -> None:
    assert lasts(lambda _now: (2.0, 0.0), cpus=4) == 0.625


def test_one_that_shares_a_cpu_gets_as_much_of_it(lasts: Callable[..., float]) -> None:
    assert lasts(lambda _now: (0.25, 0.75)) == 1.125


def test_one_that_gets_no_cpu_is_waited_for(lasts: Callable[..., float]) -> None:
    assert lasts(lambda _now: (0.0, 1.0)) == 20.125


def test_one_that_sleeps_gets_four_seconds(lasts: Callable[..., float]) -> None:
    assert lasts(lambda _now: (0.01, 0.01)) == 4.125


def test_one_that_wakes_up_has_slept_enough(lasts: Callable[..., float]) -> None:
    assert lasts(lambda now: (0.2 if now == 3.0 else 0.0, 0.0)) == 3.0 + STEP + 4.125


def test_where_the_host_does_not_count_the_clock_does(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    now = 0.0
    monkeypatch.setattr(hang, "scheduled", lambda _pid: (0.0, 0.0))
    detector = hang.HangDetector(1, clock=lambda: now)
    now = 19.0
    assert not detector.hangs
    now = 21.0
    assert detector.hangs


def test_this_host_counts() -> None:
    before = hang.scheduled(os.getpid())[0]
    end = time.process_time() + 0.05
    while time.process_time() < end:
        pass
    assert hang.scheduled(os.getpid())[0] - before >= 0.04


def test_a_process_that_is_gone_does_nothing() -> None:
    with subprocess.Popen(["true"]) as process:
        pass
    assert hang.scheduled(process.pid) == (0.0, 0.0)


def test_an_end_is_about_what_the_guest_died_of() -> None:
    error, home = GuestError("the guest panicked"), ["0x0a2c4e77"]
    assert hang.subject_of_end(error, "load from 0xa2c4e76 in 0x0a2c4e77\n #0", home) == HOME_AREA
    # A register further down may hold the word too.
    assert not hang.subject_of_end(error, "load from 0x4 in leaf\n t9 0x0a2c4e77", home)
    assert hang.subject_of_end(error, "Bad frame pointer: 0x1", home) == FRAME_POINTER
