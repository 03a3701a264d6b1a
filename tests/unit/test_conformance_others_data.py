# SPDX-License-Identifier: MIT
"""Which data of the guest a call of the port may change."""

from types import SimpleNamespace

import pytest

from harness.conformance.under_test.others_data import BEHIND, OthersData

THREADS, SIZE, NUMBER = 0x1000, 0x40, 4
END = THREADS + SIZE * NUMBER
BSS_STOP = END + 0x100
OF_PORT = range(END + 8, END + 16)


class Image(SimpleNamespace):
    """A key of a cache."""

    __hash__ = object.__hash__


class Bench(SimpleNamespace):
    """A guest with threads and then other data, whose first thread is the current one."""

    def __init__(self, cpus):
        self.memory = bytearray(BSS_STOP + BEHIND - THREADS)
        self.config = SimpleNamespace(qemu=SimpleNamespace(smp=cpus))
        self.isa = SimpleNamespace(
            word_size=8, mask=(1 << 64) - 1, abi=SimpleNamespace(current_register="tp")
        )
        self.image = Image(
            text=range(0x800, THREADS),
            isa=self.isa,
            structures=SimpleNamespace(struct=lambda _name: SimpleNamespace(size=SIZE)),
            address_of={"threads": THREADS, "__bss_stop": BSS_STOP}.__getitem__,
            size_of=lambda _name: SIZE * NUMBER,
            variables_in=lambda _wanted: [OF_PORT],
            object_at=lambda address: "threads" if address < END else None,
        )
        self.guest = SimpleNamespace(
            bulk=SimpleNamespace(read=lambda _start, _size: bytes(self.memory)),
            debugger=SimpleNamespace(read_register=lambda _name: THREADS),
        )


@pytest.mark.parametrize(
    ("address", "cpus", "told"),
    [
        (THREADS + 8, 1, True),
        (THREADS + SIZE, 1, True),
        (OF_PORT.start, 1, False),
        (BSS_STOP, 1, True),
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
