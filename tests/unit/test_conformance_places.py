# SPDX-License-Identifier: MIT
"""The calls in which an instruction is executed, from the addresses of what was executed."""

from types import SimpleNamespace

from harness.conformance.places import open_calls
from harness.image import Function

UPDATE, FILL, WRITE = (
    Function(name, address, 0x100)
    for name, address in (("update", 0x1000), ("fill", 0x1100), ("write", 0x2000))
)


class Image:
    """Three functions of four-byte instructions."""

    isa = SimpleNamespace(longest=4)

    def function_at(self, address):
        inside = (f for f in (UPDATE, FILL, WRITE) if f.address <= address < f.address + f.size)
        return next(inside, None)


def test_calls_are_open_until_they_return():
    executed = [0x1000, 0x1004, 0x1100, 0x1104, 0x2000, 0x2004]
    assert open_calls(Image(), executed) == [0x1104, 0x1004]
    # Behind the delay slot of the call.
    assert open_calls(Image(), [*executed, 0x110C]) == [0x1004]
    assert open_calls(Image(), [*executed, 0x110C, 0x100C]) == []


def test_a_function_that_is_jumped_to_returns_for_its_caller():
    assert open_calls(Image(), [0x1004, 0x1100, 0x1104, 0x2000]) == [0x1104, 0x1004]
    assert open_calls(Image(), [0x1004, 0x1100, 0x1104, 0x2000, 0x2004, 0x100C]) == []


def test_what_is_fallen_into_was_not_called():
    assert open_calls(Image(), [0x10F8, 0x10FC, 0x1100]) == []
