# SPDX-License-Identifier: MIT
"""The tracers of the guest for tests of ports with one slot: ``struct ftrace_selftest``."""

from enum import IntEnum
from functools import cached_property

from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.hang import PortRefused
from harness.conformance.under_test.traced_call import SELFTEST
from harness.image import Structure
from harness.isa import CallSite
from harness.tracer import has_call_ops, link_ops

NUMBER = 3
"""FTRACE_SELFTESTS."""

_ARRAY = "ftrace_selftests"


class Action(IntEnum):
    """The action of a tracer at the next call: ``enum ftrace_selftest_action``."""

    LOOK = 0
    SET_INSTRUCTION_POINTER = 1
    SET_ARGUMENT = 2
    RETURN = 3


class Selftest:
    """One of the tracers of a guest, by its number from 0 on."""

    def __init__(self, bench: Bench, number: int = 0, symbol: str = _ARRAY) -> None:
        self._bench = bench
        self.address = bench.image.address_of(symbol) + number * self._layout.size
        self.ops = self.address + self._layout.member("ops").offset

    def switch(self, on: bool) -> None:
        """Register or unregister it; GuestError if the port refuses."""
        if not self._bench.by_port:
            self._by_debugger(on)
            return
        self._register(on, "ftrace_function", self.ops)

    def _register(self, on: bool, what: str, *arguments: int) -> None:
        function = f"{'' if on else 'un'}register_{what}"
        status = self._bench.call(self._bench.image.address_of(function), *arguments)
        if status:
            raise PortRefused(f"the port refused a tracer: {function} returned {status}")

    def _by_debugger(self, on: bool) -> None:
        """Write the kernel's variables as the kernel would, and the slot."""
        bench, image = self._bench, self._bench.image
        link, end = self._ops.member("next").offset, image.address_of("ftrace_list_end")
        chain, at = [self.ops] if on else [], bench.word("ftrace_ops_list")
        while at != end:
            chain += [at] if at != self.ops else []
            at = bench.word_at(at + link)
        for address, value in link_ops(image, chain).items():
            bench.write_memory(address, value.to_bytes(image.isa.word_size, image.byteorder))
        if has_call_ops(image.symbols):
            # A site that is on has the list function's ops.
            return
        # The list function asks which functions a tracer is for.
        alone = len(chain) == 1 and not self._number_of_functions(chain[0])
        target = image.address_of(SELFTEST if alone else "ftrace_ops_list_func")
        slots = image.isa.sites.stub_code(image.symbols, target if chain else None)
        for address, code in slots.items():
            bench.write_memory(address, code)

    def _number_of_functions(self, ops: int) -> int:
        """How many functions an ops is for; 0 for all."""
        count = self._ops.member("nr_functions")
        return count.number(self._bench.read_memory(ops, self._ops.size))

    def only(self, site: CallSite | None) -> None:
        """Have it trace this function only; all without one.  It must not be on."""
        self.write(function=0 if site is None else site.ip)
        count = self._ops.member("nr_functions")
        data = count.packed(int(site is not None))
        self._bench.write_memory(self.ops + count.offset, data)

    def give_ops(self, site: CallSite) -> None:
        """Write its ops to a site that is on, if sites have one, as where it is the only tracer."""
        if site.literal:
            image = self._bench.image
            ops = self.ops.to_bytes(image.isa.word_size, image.byteorder)
            self._bench.write_memory(site.literal, ops)

    def act(self, action: Action, value: int, number: int = 0) -> None:
        """Have it do something at each call."""
        self.write(value=value & self._bench.isa.mask, number=number, action=action)

    def write(self, **changes: int) -> None:
        """Write numbers."""
        for name, value in changes.items():
            member = self._layout.member(name)
            self._bench.write_memory(self.address + member.offset, member.packed(value))

    def read(self, name: str) -> int:
        """A number."""
        member = self._layout.member(name)
        data = self._bench.read_memory(self.address + member.offset, member.size)
        return member.number(data, -member.offset)

    @property
    def regs(self) -> list[int]:
        """The ``struct pt_regs`` that it recorded, with the registers that the ABI defines."""
        bench, address = self._bench, self.read("regs")
        if not address:
            return []
        words = range(len(bench.isa.abi.pt_regs))
        return [bench.word_at(address + at * bench.isa.word_size) for at in words]

    @property
    def arguments(self) -> list[int]:
        """The accessor's value of each argument."""
        member = self._layout.member("arguments")
        data = self._bench.read_memory(self.address + member.offset, member.size)
        return member.unpacked(data)

    @cached_property
    def _layout(self) -> Structure:
        return self._bench.image.structures.struct("ftrace_selftest")

    @cached_property
    def _ops(self) -> Structure:
        return self._bench.image.structures.struct("ftrace_ops")


class DirectCall(Selftest):
    """An ops that leads to a direct trampoline, which counts."""

    def __init__(self, bench: Bench) -> None:
        super().__init__(bench, symbol="ftrace_direct_selftest")
        self.trampoline = bench.image.address_of("ftrace_direct_tramp")

    def switch(self, on: bool) -> None:
        """As of `Selftest`."""
        if self._bench.by_port:
            self._register(on, "ftrace_direct", self.ops, self.trampoline)
            return
        func = self._bench.image.address_of("call_direct_funcs")
        for name, value in (("func", func), ("direct_call", self.trampoline * on)):
            member = self._ops.member(name)
            self._bench.write_memory(self.ops + member.offset, member.packed(value))
        self._by_debugger(on)

    def exchange(self) -> None:
        """Have it lead to the other trampoline; GuestError if the kernel refuses."""
        image = self._bench.image
        other = image.address_of("ftrace_other_direct_tramp")
        status = self._bench.call(image.address_of("modify_ftrace_direct"), self.ops, other)
        if status:
            raise PortRefused(f"modify_ftrace_direct returned {status}")

    @property
    def calls_of_other(self) -> int:
        """How often the other trampoline has been entered since then."""
        return self._bench.word("ftrace_other_direct_calls")

    @property
    def calls(self) -> int:
        """How often the trampoline has been entered since the guest was fresh."""
        return self._bench.word("ftrace_direct_calls")
