# SPDX-License-Identifier: MIT
"""The port's own patching functions, called in the guest through the debugger.

They must leave the same text as the patcher.  The guest must be stopped where a call can interrupt
its kernel: not inside a stub.
"""

from functools import cached_property
from typing import Protocol

from harness.errors import GuestError, UsageError
from harness.image import THIS_MODULE, RunningImage, Structure
from harness.isa import CallSite


class Caller(Protocol):
    """Calls a function of the guest on the stopped CPU."""

    def call(self, function: int, *arguments: int) -> int: ...
    def read_memory(self, address: int, size: int) -> bytes: ...


class PortCalls:
    """The functions that the specification requires of a port; each returns the port's result."""

    def __init__(self, image: RunningImage, caller: Caller) -> None:
        self._image = image
        self._caller = caller

    def make_nop(self, site: CallSite, address: int | None = None) -> int:
        """``ftrace_make_nop(mod, rec, address)``; ``address`` is ``ftrace_caller`` by default.

        ``mod`` is the site's module, NULL for the kernel's sites.
        """
        return self._call(
            "ftrace_make_nop", self._module(site), self.record_of(site), self._target(address)
        )

    def make_call(self, site: CallSite, address: int | None = None) -> int:
        """``ftrace_make_call(rec, address)``; ``address`` is ``ftrace_caller`` by default."""
        return self._call("ftrace_make_call", self.record_of(site), self._target(address))

    def modify_call(self, site: CallSite, old: int, new: int) -> int:
        """``ftrace_modify_call(rec, old, new)``."""
        return self._call("ftrace_modify_call", self.record_of(site), old, new)

    def run_update_code(self) -> int:
        """``ftrace_run_update_code()``: the port writes the ops of every site that is on anew."""
        return self._call("ftrace_run_update_code")

    def replace_code(self, enable: bool) -> int:
        """Enable or disable every call site with the port's functions; returns the first error."""
        return self._call("ftrace_replace_code", int(enable))

    def update_ftrace_func(self, function: str) -> int:
        """``ftrace_update_ftrace_func(function)``; ``ftrace_stub`` disables the tracer."""
        return self._call("ftrace_update_ftrace_func", self._image.pointer_to(function))

    def enable_graph_caller(self) -> int:
        """``ftrace_enable_ftrace_graph_caller()``."""
        return self._call("ftrace_enable_ftrace_graph_caller")

    def disable_graph_caller(self) -> int:
        """``ftrace_disable_ftrace_graph_caller()``."""
        return self._call("ftrace_disable_ftrace_graph_caller")

    def _call(self, name: str, *arguments: int) -> int:
        return self._caller.call(self._image.address_of(name), *arguments)

    def _target(self, address: int | None) -> int:
        return self._image.pointer_to("ftrace_caller") if address is None else address

    def _module(self, site: CallSite) -> int:
        """The address of a site's ``struct module``; 0 for the kernel's sites."""
        name = self._image.module_at(site.address)
        return self._image.modules[name].address_of(THIS_MODULE) if name else 0

    def record_of(self, site: CallSite) -> int:
        """The address of a site's ``struct dyn_ftrace`` in the guest."""
        start, ips = self.records(self._module(site))
        if site.ip not in ips:
            raise UsageError(f"the guest has no record of the call site at {site.ip:#x}")
        return start + ips.index(site.ip) * self.record.size

    def records(self, module: int = 0) -> tuple[int, list[int]]:
        """The address of a module's records, and the ``ip`` of each; of the kernel's for ``module``
        0.

        GuestError if there are more than fit into the guest's memory.
        """
        image = self._image
        if module:
            layout = image.structures.struct("module")
            raw = self._caller.read_memory(module, layout.size)
            start = layout.member("ftrace_records").number(raw)
            count = layout.member("ftrace_record_count").number(raw)
        else:
            start, count = self._word("ftrace_records"), self._word("ftrace_record_count")
        size = self.record.size
        if not 0 <= size * count <= len(image.memory):
            raise GuestError(
                f"the guest has a count of {count} records of call sites of {size} bytes",
                "Its memory is damaged.",
            )
        ip, data = self.record.member("ip"), self._caller.read_memory(start, size * count)
        return start, [ip.number(data, at) for at in range(0, len(data), size)]

    @cached_property
    def record(self) -> Structure:
        """``struct dyn_ftrace``, with a member of the port's own type."""
        return self._image.structures.struct("dyn_ftrace")

    def _word(self, symbol: str) -> int:
        raw = self._caller.read_memory(self._image.address_of(symbol), self._image.isa.word_size)
        return int.from_bytes(raw, self._image.byteorder)
