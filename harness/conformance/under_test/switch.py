# SPDX-License-Identifier: MIT
"""Switch tracers of a guest under test as its kernel would, with the port's own functions."""

from collections.abc import Sequence

from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.hang import PortRefused
from harness.isa import CallSite, SiteState
from harness.tracer import (
    Hooks,
    has_call_ops,
    has_one_slot,
    has_ops,
    pointers,
    slot_code,
    slot_function,
)

TRACER = "function_trace_call"
NO_TRACER = "ftrace_stub"
ENABLED = 1
"""FTRACE_FL_ENABLED."""
POINTERS = {
    "ftrace_graph_return": ("trace_graph_return", "ftrace_stub"),
    "ftrace_graph_entry": ("trace_graph_entry", "ftrace_graph_entry_stub"),
}


class Switch:
    """The switches of one guest.  GuestError if the port refuses a valid request.

    In a port with one slot both tracers are in the kernel's list, which the debugger writes as the
    kernel would before it calls the port.
    """

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.dynamic = "ftrace_caller" in bench.image.symbols
        self._by_port = bench.by_port
        self._ops = has_ops(bench.image.symbols)
        self._one_slot = has_one_slot(bench.image.symbols)
        self._call_ops = has_call_ops(bench.image.symbols)
        self._function = TRACER

    def sites(self, on: bool, sites: Sequence[CallSite] | None = None) -> None:
        """Switch call sites, all by default; a static port has none to switch."""
        if not self.dynamic:
            return
        port = self._bench.port
        if not self._by_port:
            wanted = self._bench.image.sites if sites is None else sites
            self._bench.sites.write(wanted, on=on)
            return
        if sites is None:
            self._done(port.replace_code(on), "to switch all call sites")
            return
        for site in sites:
            status = port.make_call(site) if on else port.make_nop(site)
            self._done(status, f"to switch the call site of {site.function}")
            if self._call_ops:
                self._flag(site, on)

    def stub(self, site: CallSite, name: str) -> None:
        """Have a site that is on, and calls ftrace_caller, call another stub."""
        bench, port = self._bench, self._bench.port
        target = bench.image.address_of(name)
        if self._by_port:
            status = port.modify_call(site, bench.image.address_of("ftrace_caller"), target)
            self._done(status, f"another stub for {site.function}")
        else:
            code = bench.isa.sites.code_for(site, SiteState.CALL, target)
            bench.write_memory(site.address, code)

    def _flag(self, site: CallSite, on: bool) -> None:
        """Note in its record that a site is on, for the kernel, which updates such sites."""
        layout, record = self._bench.port.record, self._bench.port.record_of(site)
        flags = layout.member("flags")
        old = flags.number(self._bench.read_memory(record, layout.size))
        self._bench.write_memory(record + flags.offset, flags.packed(old & ~ENABLED | ENABLED * on))

    def tracer(self, on: bool, function: str = TRACER) -> None:
        """The function tracer, or another function in its place: its slot, or the pointer to it."""
        self._function = function
        function = function if on else NO_TRACER
        if on:
            self._bench.used.add("function")
        self._bench.slots["function"] = on
        if self._ops:
            self._list()
        if self.dynamic and not self._by_port:
            self._write_slots()
        elif self._ops:
            self._update("another tracer")
        elif self.dynamic:
            self._done(self._bench.port.update_ftrace_func(function), "another tracer")
        else:
            self.pointer("ftrace_trace_function", function)

    def graph(self, on: bool, entry: str | None = None, leave: str | None = None) -> None:
        """The graph tracer: its slot and both pointers, also with other functions."""
        for pointer, functions in POINTERS.items():
            own = entry if pointer == "ftrace_graph_entry" else leave
            self.pointer(pointer, own or functions[0 if on else 1])
        if on:
            self._bench.used.add("graph")
        self._bench.slots["graph"] = on
        if self._one_slot:
            self._list()
        if self.dynamic and not self._by_port:
            self._write_slots()
        elif self._one_slot:
            self._update("to switch the graph tracer")
        elif self.dynamic:
            port = self._bench.port
            status = port.enable_graph_caller() if on else port.disable_graph_caller()
            self._done(status, "to switch the graph tracer")

    def pointer(self, name: str, function: str) -> None:
        """Store the address of a function in a pointer of the kernel."""
        image = self._bench.image
        value = image.pointer_to(function).to_bytes(image.isa.word_size, image.byteorder)
        self._bench.write_memory(image.address_of(name), value)

    def variable(self, name: str, value: int) -> None:
        """Set an ``int`` of the kernel."""
        image = self._bench.image
        data = value.to_bytes(4, image.byteorder)
        self._bench.write_memory(image.address_of(name), data)

    @property
    def _hooks(self) -> Hooks:
        on = self._bench.slots
        return Hooks(self._function if on["function"] else None, "trace" if on["graph"] else "")

    def _write_slots(self) -> None:
        """Write the slots by the debugger."""
        for address, instructions in slot_code(self._bench.image, self._hooks).items():
            self._bench.write_memory(address, instructions)

    def _list(self) -> None:
        """The kernel's list of tracers; its callbacks of the graph tracer stay as they are."""
        image = self._bench.image
        kept = {image.symbols[name] for name in POINTERS if name in image.symbols}
        for address, value in pointers(image, self._hooks).items():
            if address not in kept:
                self._bench.write_memory(address, value)

    def _update(self, what: str) -> None:
        """Have the port call the function that is for the list, or give each site its ops."""
        if self._call_ops:
            self._done(self._bench.port.run_update_code(), what)
            return
        function = slot_function(self._bench.image, self._hooks) or NO_TRACER
        self._done(self._bench.port.update_ftrace_func(function), what)

    def _done(self, status: int, what: str) -> None:
        if status:
            raise PortRefused(f"the port refused {what}: error {status}")
