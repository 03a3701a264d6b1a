# SPDX-License-Identifier: MIT
"""QEMU's memory, under the oracle's callbacks."""

from tests.support.configs import others


def pytest_generate_tests(metafunc):
    metafunc.parametrize("config", ["aarch64-virt-smp", "mips-malta-smp", *others()])


def test_no_callback_is_left_of_a_block_that_was_thrown_away(watch, monkeypatch):
    """A step discards all blocks; glibc overwrites freed memory if told to.  With callbacks at
    every instruction of ``__switch_to()`` QEMU crashed within about 200 steps.
    """
    monkeypatch.setenv("MALLOC_PERTURB_", "85")
    monkeypatch.setenv("G_SLICE", "always-malloc")
    with watch("threads", tick=1000) as watched:
        for _ in range(300):
            watched.guest.run(until="tick_interrupt")
            watched.guest.debugger.step_instruction()
