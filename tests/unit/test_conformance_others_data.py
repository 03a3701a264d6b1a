# SPDX-License-Identifier: MIT
"""Which data of the guest a call of the port may change."""

from types import SimpleNamespace

import pytest

from harness.conformance.under_test.others_data import BEHIND, BEHIND_AT_BOOT, STACK, OthersData

THREADS, SIZE, NUMBER = 0x1000, 0x40, 4
END = THREADS + SIZE * NUMBER
BSS_STOP = END + 0x100
OF_PORT = range(END + 8, END + 16)
RESERVED = range(END + 0x20, END + 0x28)
"""By the linker script."""
STACK_TOP = BSS_STOP + 0x1000 + STACK
END_AT_BOOT = BSS_STOP + BEHIND_AT_BOOT
SYMBOLS = {
    "threads": THREADS,
    "__bss_start": RESERVED.start,
    "__arch_bss_stop": RESERVED.stop,
    "__bss_stop": BSS_STOP,
}


class Image(SimpleNamespace):
    """A key of a cache."""

    __hash__ = object.__hash__


class Bench(SimpleNamespace):
    """A guest with threads and then other data, whose first thread is the current one."""

    def __init__(self, cpus):
        self.memory = bytearray(END_AT_BOOT + 8 - THREADS)
        self.config = SimpleNamespace(qemu=SimpleNamespace(smp=cpus))
        self.isa = SimpleNamespace(
            word_size=8,
            mask=(1 << 64) - 1,
            abi=SimpleNamespace(current_register="tp", stack_register="sp"),
        )
        self.registers = SimpleNamespace(value=lambda _name: STACK_TOP)
        self.image = Image(
            text=range(0x800, THREADS),
            isa=self.isa,
            structures=SimpleNamespace(struct=lambda _name: SimpleNamespace(size=SIZE)),
            address_of=SYMBOLS.__getitem__,
            size_of=lambda _name: SIZE * NUMBER,
            variables_in=lambda _wanted: [OF_PORT],
            object_at=lambda address: "threads" if address < END else None,
        )
        self.guest = SimpleNamespace(
            bulk=SimpleNamespace(read=self.read),
            debugger=SimpleNamespace(read_register=lambda _name: THREADS),
        )

    def read(self, start, size):
        return bytes(self.memory[start - THREADS :][:size])


@pytest.mark.parametrize(
    ("address", "cpus", "told"),
    [
        (THREADS + 8, 1, True),
        (THREADS + SIZE, 1, True),
        (OF_PORT.start, 1, False),
        (RESERVED.start, 1, False),
        (RESERVED.stop, 1, True),
        (BSS_STOP, 1, True),
        (BSS_STOP + BEHIND, 1, False),
        (THREADS + 8, 4, True),
        (THREADS + SIZE, 4, False),
        (END - 1, 4, False),
        (END, 4, True),
        (OF_PORT.start, 4, False),
    ],
)
def test_threads_of_other_cpus_and_the_port_own_variables_may_change(address, cpus, told):
    bench = Bench(cpus)
    others = OthersData(bench)
    assert others.changed() == []
    bench.memory[address - THREADS] = 1
    assert bool(others.changed()) == told


@pytest.mark.parametrize(
    ("address", "told"),
    [
        (BSS_STOP + BEHIND, True),
        (STACK_TOP - STACK - 1, True),
        (STACK_TOP - STACK, False),
        (STACK_TOP - 1, False),
        (STACK_TOP, True),
        (END_AT_BOOT - 1, True),
        (END_AT_BOOT, False),
    ],
)
def test_at_boot_only_the_stack_may_change_behind_the_kernels_data(address, told):
    bench = Bench(1)
    others = OthersData(bench, at_boot=True)
    assert others.changed() == []
    bench.memory[address - THREADS] = 1
    assert bool(others.changed()) == told
