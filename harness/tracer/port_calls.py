# SPDX-License-Identifier: MIT
"""The port's own patching functions, called in the guest through the debugger.

What the patcher does from outside the port has to do from inside; both must leave the same text.
The guest must be stopped where its kernel could be interrupted by a call: not inside a stub.
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
    """The functions that the specification asks of a port; each returns what the port returned."""

    def __init__(self, image: RunningImage, caller: Caller) -> None:
        self._image = image
        self._caller = caller

    def make_nop(self, site: CallSite, address: int | None = None) -> int:
        """``ftrace_make_nop(mod, rec, address)``; by default from a call of ``ftrace_caller``.

        ``mod`` is the module that the site is in, NULL for the kernel's sites.
        """
        return self._call(
            "ftrace_make_nop", self._module(site), self.record_of(site), self._target(address)
        )

    def make_call(self, site: CallSite, address: int | None = None) -> int:
        """``ftrace_make_call(rec, address)``; by default to ``ftrace_caller``."""
        return self._call("ftrace_make_call", self.record_of(site), self._target(address))

    def replace_code(self, enable: bool) -> int:
        """Switch every call site on or off with the port's functions; the first of its errors."""
        return self._call("ftrace_replace_code", int(enable))

    def update_ftrace_func(self, function: str) -> int:
        """``ftrace_update_ftrace_func(function)``; ``ftrace_stub`` switches the tracer off."""
        return self._call("ftrace_update_ftrace_func", self._image.address_of(function))

    def enable_graph_caller(self) -> int:
        """``ftrace_enable_ftrace_graph_caller()``."""
        return self._call("ftrace_enable_ftrace_graph_caller")

    def disable_graph_caller(self) -> int:
        """``ftrace_disable_ftrace_graph_caller()``."""
        return self._call("ftrace_disable_ftrace_graph_caller")

    def _call(self, name: str, *arguments: int) -> int:
        return self._caller.call(self._image.address_of(name), *arguments)

    def _target(self, address: int | None) -> int:
        return self._image.address_of("ftrace_caller") if address is None else address

    def _module(self, site: CallSite) -> int:
        """The address of the ``struct module`` of a site; 0 for one of the kernel's."""
        name = self._image.module_at(site.address)
        return self._image.modules[name].address_of(THIS_MODULE) if name else 0

    def record_of(self, site: CallSite) -> int:
        """The address of the guest's ``struct dyn_ftrace`` of a site."""
        start, ips = self.records(self._module(site))
        if site.address not in ips:
            raise UsageError(f"the guest has no record of the call site at {site.address:#x}")
        return start + ips.index(site.address) * self.record.size

    def records(self, module: int = 0) -> tuple[int, list[int]]:
        """Where the records of the ``struct module`` at an address begin, and ``ip`` of each.

        0 for the kernel's.  GuestError where they are more than the guest's memory holds.
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
                f"the guest tells of {count} records of call sites of {size} bytes",
                "Its memory is damaged.",
            )
        ip, data = self.record.member("ip"), self._caller.read_memory(start, size * count)
        return start, [ip.number(data, at) for at in range(0, len(data), size)]

    @cached_property
    def record(self) -> Structure:
        """``struct dyn_ftrace``, which has a member of the port's own type."""
        return self._image.structures.struct("dyn_ftrace")

    def _word(self, symbol: str) -> int:
        raw = self._caller.read_memory(self._image.address_of(symbol), self._image.isa.word_size)
        return int.from_bytes(raw, self._image.byteorder)
