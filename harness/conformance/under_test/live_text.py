# SPDX-License-Identifier: MIT
"""The current text of a guest under test, and its call sites."""

from collections.abc import Collection, Iterable, Sequence
from typing import Protocol

from harness.conformance.under_test.registers import RegisterFile
from harness.guest import Guest
from harness.image import Function, RunningImage
from harness.isa import CallSite, Form, Isa, SiteState
from harness.tracer import LIST_OPS, NOP_OPS

Change = tuple[int, bytes]
"""An address, and what is written there."""

Changes = Collection[Change]
"""What a guest has written before its first instruction."""


class UnderTest(Protocol):
    """A guest under test, such as `harness.conformance.under_test.build_guest.BuildGuest`."""

    image: RunningImage
    isa: Isa

    @property
    def guest(self) -> Guest: ...
    @property
    def registers(self) -> RegisterFile: ...
    def word(self, symbol: str) -> int: ...
    def write_memory(self, address: int, data: bytes) -> None: ...


class LiveCode:
    """Instructions in the memory of the guest."""

    def __init__(self, bench: UnderTest) -> None:
        self._bench = bench
        self._image = bench.image
        self._isa = bench.isa

    @property
    def stub(self) -> Function | None:
        """The function of the port that calls tracers, by its slot if it has one."""
        symbols = self._image.symbols
        name = "ftrace_call" if "ftrace_call" in symbols else "ftrace_caller"
        return self._image.function_at(self._image.address_of(name))

    def text(self) -> bytes:
        """All text now."""
        where = self._image.text
        return self._bench.guest.bulk.read(where.start, len(where))

    def of(self, site: CallSite) -> bytes:
        """The words of a call site now."""
        return self._read(site.address, self._isa.sites.size(site.form, site.as_built))

    def instruction(self, address: int) -> bytes:
        """The instruction at an address now."""
        return self._isa.split(self._read(address, self._isa.longest))[0]

    def instruction_in(self, text: bytes, address: int) -> bytes:
        """The same in a copy of all `text`; in memory if the address is elsewhere."""
        at = address - self._image.text.start
        if not 0 <= at < len(text):
            return self.instruction(address)
        return self._isa.split(text[at : at + self._isa.longest])[0]

    def slot(self, address: int) -> bytes:
        """The instructions of a slot now."""
        size, found = self._isa.sites.slot_size, b""
        for instruction in self._isa.split(self._read(address, max(size, self._isa.longest))):
            if len(found) < size:
                found += instruction
        return found

    def linked(self, address: int) -> bytes:
        """An instruction, out of the image where that has it: only functions of ports change it."""
        text = self._image.text
        if text.start <= address < text.stop:
            return self._isa.split(self._image.read(address, self._isa.longest))[0]
        return self.instruction(address)

    def disassembled(self, address: int) -> str:
        """The text of an instruction as of `linked`."""
        return self._isa.disassemble(self.linked(address), address)[0].text

    def in_slot(self, address: int) -> int:
        """The last instruction of a step: that in the delay slot, which a step takes along."""
        code = self.linked(address)
        return address + len(code) if self._isa.cpu.has_delay_slot(code) else address

    def with_slot(self, executed: Sequence[int]) -> list[int]:
        """The instructions of steps; the last one is that in the delay slot, if it has one."""
        return [*executed[:-1], self.in_slot(executed[-1])]

    def listing(self, address: int, code: bytes) -> list[str]:
        """Disassembly, one instruction a line."""
        return [str(one) for one in self._isa.disassemble(code, address)]

    def changed(self, before: bytes, after: bytes) -> list[int]:
        """The addresses of the instruction units that differ in two copies of all text."""
        size, start = self._isa.unit, self._image.text.start
        if before == after:
            return []
        return [
            start + at
            for at in range(0, len(before), size)
            if before[at : at + size] != after[at : at + size]
        ]

    def difference(self, before: bytes, after: bytes, allowed: Collection[int] = ()) -> list[str]:
        """The first instructions that differ, old and new, disassembled.

        ``allowed`` are addresses where they may.
        """
        lines = []
        for address in [at for at in self.changed(before, after) if at not in allowed][:16]:
            at = address - self._image.text.start
            was, now = (
                self._isa.disassemble(code[at : at + self._isa.longest], address)[0].text
                for code in (before, after)
            )
            lines.append(f"{address:#x} {self._image.symbolize(address)}: {was} -> {now}")
        return lines

    def calls(self, address: int, code: bytes) -> list[tuple[int, int]]:
        """Direct calls in code, by capstone: address and target of each."""
        listing = self._isa.disassemble(code, address)
        return [(one.address, one.calls) for one in listing if one.calls is not None]

    def _read(self, address: int, size: int) -> bytes:
        return self._bench.guest.debugger.dump_memory(address, size)


class LiveSites:
    """Call sites of the guest, in its image and in its kernel's records."""

    def __init__(self, bench: UnderTest) -> None:
        self._bench = bench
        self._image = bench.image
        self._isa = bench.isa

    @property
    def records(self) -> list[int]:
        """``ip`` of every record of the guest, in its order."""
        return self._bench.guest.port.records()[1]

    @property
    def strays(self) -> list[int]:
        """Those that are in functions and no call sites."""
        known = {site.ip for site in self._image.sites}
        others = (address for address in self.records if address not in known)
        return [address for address in others if self._image.function_at(address) is not None]

    def write(self, sites: Iterable[CallSite], *, on: bool) -> None:
        """Write by the debugger what ftrace_make_call() or ftrace_make_nop() would write."""
        state = SiteState.CALL if on else SiteState.NOP
        for site in sites:
            target = self._image.target_of(site, "ftrace_caller")
            code = self._isa.sites.code_for(site, state, target)
            if site.form is Form.LONG_CALL:
                # The port may have changed more of the sequence than its first word.
                code += site.as_built[len(code) : self.size(site)]
            self._bench.write_memory(site.address, code)
            if site.literal:
                ops = self._image.address_of(LIST_OPS if on else NOP_OPS)
                size, order = self._isa.word_size, self._image.byteorder
                self._bench.write_memory(site.literal, ops.to_bytes(size, order))

    def put_right(self, code: LiveCode, changes: Changes) -> None:
        """Write the text as a correct port leaves it at boot: sites off, all else as built.

        Stubs and ``changes`` stay as they are.  Without dynamic sites this does nothing.
        """
        image = self._image
        if "ftrace_caller" not in image.symbols:
            return
        own = self.addresses_of(image.sites)
        own |= {at + n for at, data in changes for n in range(len(data))}
        if stub := code.stub:
            own |= set(range(stub.address, stub.address + stub.size))
        built = image.read(image.text.start, len(image.text))
        for address in code.changed(built, code.text()):
            if address not in own:
                self._bench.write_memory(address, image.read(address, self._isa.unit))
        self.write(image.sites, on=False)

    def literals_of(self, sites: Iterable[CallSite]) -> set[int]:
        """The addresses of all bytes of the ops that sites have of their own."""
        size = self._image.literal_size
        return {site.literal + at for site in sites if site.literal for at in range(size)}

    def fake_record(self, site: CallSite) -> int:
        """Make a record of a site that the guest has none for; its address, far down the stack."""
        bench = self._bench
        layout = bench.guest.port.record
        real = bench.guest.debugger.dump_memory(bench.word("ftrace_records"), layout.size)
        ip = layout.member("ip")
        address = (bench.registers.value(self._isa.abi.stack_register) - 0x4000) & -16
        data = real[: ip.offset] + ip.packed(site.ip) + real[ip.offset + ip.size :]
        bench.write_memory(address, data)
        return address

    def of(self, function: str) -> CallSite:
        """The call site of a function of the workload."""
        return next(site for site in self._image.sites if site.function == function)

    def size(self, site: CallSite) -> int:
        """The size of a call site in bytes."""
        return self._isa.sites.size(site.form, site.as_built)

    def places(self, site: CallSite) -> list[int]:
        """The instructions of a call site at which a CPU can be stopped: not in a delay slot."""
        found, at, delayed = [], site.address, False
        # The built image may have other instructions there.
        target = self._image.target_of(site, "ftrace_caller")
        on = self._isa.sites.code_for(site, SiteState.CALL, target)
        for instruction in self._isa.split(on + site.as_built[len(on) :]):
            if not delayed:
                found.append(at)
            at += len(instruction)
            delayed = self._isa.cpu.has_delay_slot(instruction)
        return found

    def addresses_of(self, sites: Collection[CallSite]) -> set[int]:
        """The addresses of all bytes of call sites, with the ops of each, and of entries outside
        functions.
        """
        every = [range(site.address, site.address + self.size(site)) for site in sites]
        every += self._image.ignored_sites
        return {at for place in every for at in place} | self.literals_of(sites)

    def resumes(self, site: CallSite) -> int:
        """Where the traced function continues when its call returns."""
        return self._isa.sites.resumes(site)
