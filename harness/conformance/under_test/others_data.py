# SPDX-License-Identifier: MIT
"""The guest's data except the port's, before and after a call of the port."""

from functools import lru_cache

from harness.conformance.places import port_file
from harness.conformance.under_test.bench import Bench
from harness.debugger import return_address
from harness.image import RunningImage
from harness.units import align_up

BEHIND = 256
"""Bytes after .bss that are compared, to detect writes past its last variable."""

BEHIND_AT_BOOT = 0x100000
"""The same at boot, when nobody else writes there."""

OF_CPUS = "/smp.c"
"""Files with data of each CPU, which changes when a port waits for other CPUs."""

STACK = 0x10000
"""Bytes below the stack pointer that a call at boot may use."""

MANY = 8
"""Maximum number of words reported."""


class OthersData:
    """Everything from the kernel's text to the end of .bss, except the variables of the port, of
    `OF_CPUS`, and threads that other CPUs may run.

    Stacks, the heap and the ring buffer follow .bss.  Their beginning is included ``at_boot``, as
    long as one CPU runs and without interrupts.
    """

    def __init__(self, bench: Bench, *, at_boot: bool = False) -> None:
        self._bench = bench
        image = bench.image
        start = align_up(image.text.stop, image.isa.word_size)
        stop = image.address_of("__bss_stop") + (BEHIND_AT_BOOT if at_boot else BEHIND)
        self._where = range(start, stop)
        self._own = [*_variables_of_port(image), *_other_threads(bench)]
        if at_boot:
            name, mask = bench.isa.abi.stack_register, image.isa.mask
            stack = bench.registers.value(name)
            self._own.append(range(stack - STACK & mask, stack & mask))
        self._before = self._read()

    def changed(self) -> list[str]:
        """The words that have changed since, with the variables that they are in."""
        now, word = self._read(), self._bench.isa.word_size
        if now == self._before:
            return []
        lines = []
        for at in range(0, len(now), word):
            address = self._where.start + at
            was, new = self._before[at : at + word], now[at : at + word]
            if was != new and not any(address in own for own in self._own):
                name = self._bench.image.object_at(address) or "no variable"
                lines.append(f"{address:#x} {name}: {was.hex()} -> {new.hex()}")
        return lines[:MANY]

    def _read(self) -> bytes:
        return self._bench.guest.bulk.read(self._where.start, len(self._where))


def written_by_call(bench: Bench) -> list[str]:
    """The same for a call at boot, at whose entry the guest is; it is at the return then."""
    others = OthersData(bench, at_boot=True)
    bench.run_to(return_address(bench.guest.debugger, bench.isa.abi))
    return others.changed()


@lru_cache(maxsize=1)
def _variables_of_port(image: RunningImage) -> list[range]:
    """Cached, as all calls of one build need them.

    Of the port is also what the linker script reserves for it, ARCH_BSS.
    """
    reserved = range(image.address_of("__bss_start"), image.address_of("__arch_bss_stop"))
    of_port = image.variables_in(lambda file: port_file(file) is not None or file.endswith(OF_CPUS))
    return [reserved, *of_port]


def _other_threads(bench: Bench) -> list[range]:
    """All threads but the current one.

    An interrupt of another CPU that a port has waited for may end after the port's call.
    """
    if bench.config.qemu.smp == 1:
        return []
    isa, image = bench.isa, bench.image
    size, start = image.structures.struct("thread_info").size, image.address_of("threads")
    current = bench.guest.debugger.read_register(isa.abi.current_register) & isa.mask
    every = range(start, start + image.size_of("threads"), size)
    return [range(at, at + size) for at in every if at & isa.mask != current]
