# SPDX-License-Identifier: MIT
"""The texts of trace_stat/functionN and stack_trace, and the figures in them."""

from harness.tracefs.profiles import profile_text, stack_text
from harness.tracer import Profile, StackEntry


def test_the_lines_of_a_profile():
    times = [1500, 2500, 3500]
    one = Profile(0x1000, 3, sum(times), sum(time**2 for time in times))
    assert one.average == 2500
    # 1 square microsecond, in thousandths.
    assert one.variance == 1000
    long = Profile(0x2000, 1, 12_345_678_901, 0)
    lines = list(profile_text([("schedule", one), ("a" * 40, long)], True))
    assert lines == [
        "  Function                               Hit    Time            Avg             s^2",
        "  --------                               ---    ----            ---             ---",
        f"{'  schedule':<42} 3    7.500 us        2.500 us        1.000 us    ",
        f"  {'a' * 30}           1    12345678 us     12345678 us     0.000 us    ",
    ]


def test_a_profile_without_times():
    lines = list(profile_text([("leaf", Profile(4, 12, 0, 0))], False))
    assert lines == [
        "  Function                               Hit",
        "  --------                               ---",
        "  leaf                                    12",
    ]


def test_a_sum_of_squares_that_has_overflowed_is_no_negative_variance():
    assert Profile(4, 2, 1 << 40, 5).variance == 0


def test_the_lines_of_a_stack():
    entries = [StackEntry(1, 744), StackEntry(2, 704), StackEntry(3, 12345)]
    assert stack_text(entries[:2], ["put+0x24/0xcc", "pad+0x70/0xcc [m]"], False) == [
        "        Depth    Size   Location    (2 entries)",
        "        -----    ----   --------",
        "  0)      744      40   put+0x24/0xcc",
        "  1)      704     704   pad+0x70/0xcc [m]",
    ]
    assert stack_text([], [], True)[0] == "        Depth    Size   Location    (0 entries)"
    assert any("stack_tracer_enabled" in line for line in stack_text([], [], True))
