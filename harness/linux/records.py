# SPDX-License-Identifier: MIT
"""The kernel's records of its call sites: ``struct dyn_ftrace`` in the pages of ftrace_pages_start.

The table in the vmlinux is freed after boot, and knows no modules.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property

from harness.errors import GuestError
from harness.isa import CallSite, Form
from harness.linux.kernel import Kernel
from harness.linux.layouts import LayoutPlace

DISABLED = 1 << 25
"""FTRACE_FL_DISABLED: never traced."""

TRACED = 1 << 31 | 1
"""FTRACE_FL_ENABLED, and one user."""

APART = 16384
"""Bytes of unchanged records that are written again rather than begin another write."""

MAX_RECORDS = 1 << 20
MAX_PAGES = 1 << 16

NOT_SET_UP = "Let the kernel boot further: it reads its call sites in ftrace_init()."


@dataclass(frozen=True, slots=True)
class RecordPage:
    """The records of one ``struct ftrace_page``: where they lie, and how many bytes they have."""

    address: int
    size: int


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """A record: the address of its call site, and its flags."""

    ip: int
    flags: int


class SiteRecords:
    """All records of a stopped kernel; their contents are read when they are first asked for."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._layout = kernel.layouts["dyn_ftrace"]
        self._ip, self._flags = self._layout.place("ip"), self._layout.place("flags")
        self.pages = self._read()

    def __iter__(self) -> Iterator[SiteRecord]:
        ip, flags = self._form(self._ip), self._form(self._flags)
        for data in self._contents:
            for at in range(0, len(data), self._layout.size):
                yield SiteRecord(
                    ip.unpack_from(data, at + self._ip.offset)[0],
                    flags.unpack_from(data, at + self._flags.offset)[0],
                )

    def write(self, flags: Mapping[int, int]) -> None:
        """Set the flags of the records with these addresses, those of neighbours at once."""
        form, put, size = self._form(self._ip), self._form(self._flags), self._layout.size
        for number, (page, data) in enumerate(zip(self.pages, self._contents, strict=True)):
            changed = bytearray(data)
            runs: list[range] = []
            for at in range(0, len(data), size):
                (ip,) = form.unpack_from(data, at + self._ip.offset)
                if ip in flags:
                    put.pack_into(changed, at + self._flags.offset, flags[ip])
                    near = runs and at - runs[-1].stop <= APART
                    start = runs.pop().start if near else at
                    runs.append(range(start, at + size))
            for run in runs:
                self._kernel.memory.restore_memory(
                    page.address + run.start, bytes(changed[run.start : run.stop])
                )
            self._contents[number] = bytes(changed)

    def _form(self, place: LayoutPlace) -> struct.Struct:
        order = ">" if self._kernel.image.byteorder == "big" else "<"
        return struct.Struct(order + ("I" if place.size == 4 else "Q"))

    @cached_property
    def _contents(self) -> list[bytes]:
        return [self._kernel.memory.dump_memory(page.address, page.size) for page in self.pages]

    def _read(self) -> list[RecordPage]:
        kernel, size = self._kernel, self._layout.size
        at = kernel.pointer(kernel.symbol("ftrace_pages_start", "DYNAMIC_FTRACE"))
        if not at:
            raise GuestError("the kernel has not read its call sites yet", NOT_SET_UP)
        found: list[RecordPage] = []
        count = 0
        while at:
            view = kernel.view("ftrace_page", at)
            index = view["index"]
            count += index
            if index < 0 or count > MAX_RECORDS or len(found) > MAX_PAGES:
                raise GuestError(
                    f"the kernel's records of call sites are damaged: {count} records, or more"
                )
            if index:
                found.append(RecordPage(view["records"], index * size))
            at = view["next"]
        return found


def call_sites(kernel: Kernel, records: SiteRecords) -> list[CallSite]:
    """The call sites of functions that may be traced, by address.

    Left out are records that the kernel disabled, and those of weak functions that were replaced,
    which lie behind the end of any function.
    """
    image = kernel.image
    found = []
    for record in records:
        function = image.function_at(record.ip)
        if function is not None and not record.flags & DISABLED:
            found.append(CallSite(record.ip, Form.MCOUNT, function.name, function.address))
    return sorted(found, key=lambda site: site.address)
