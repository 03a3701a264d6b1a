# SPDX-License-Identifier: MIT
"""The kernel's records of its call sites: ``struct dyn_ftrace`` in the pages of ftrace_pages_start.

The table in the vmlinux is freed after boot, and knows no modules.
"""

import struct
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from harness.errors import GuestError
from harness.isa import CallSite, Form
from harness.linux.kernel import Kernel

DISABLED = 1 << 25
"""FTRACE_FL_DISABLED: never traced."""

TRACED = 1 << 31 | 1
"""FTRACE_FL_ENABLED, and one user."""

MAX_RECORDS = 1 << 20
MAX_PAGES = 1 << 16

NOT_SET_UP = "Let the kernel boot further: it reads its call sites in ftrace_init()."


@dataclass(frozen=True, slots=True)
class RecordPage:
    """The records of one ``struct ftrace_page``: where they lie, and their contents."""

    address: int
    data: bytes

    def __len__(self) -> int:
        return len(self.data)


@dataclass(frozen=True, slots=True)
class SiteRecord:
    """A record: the address of its call site, and its flags."""

    ip: int
    flags: int


class SiteRecords:
    """All records of a stopped kernel."""

    def __init__(self, kernel: Kernel) -> None:
        self._kernel = kernel
        self._layout = kernel.layouts["dyn_ftrace"]
        self._ip, self._flags = self._layout.place("ip"), self._layout.place("flags")
        self.pages = self._read()

    def __iter__(self) -> Iterator[SiteRecord]:
        order = self._kernel.image.byteorder
        for page in self.pages:
            for at in range(0, len(page.data), self._layout.size):
                yield SiteRecord(
                    self._ip.number(page.data, order, at), self._flags.number(page.data, order, at)
                )

    def write(self, flags: Mapping[int, int]) -> None:
        """Set the flags of the records with these addresses, a page of records at once."""
        form = self._form
        for page in self.pages:
            changed = bytearray(page.data)
            for at in range(0, len(page.data), self._layout.size):
                (ip,) = form.unpack_from(page.data, at + self._ip.offset)
                if ip in flags:
                    form.pack_into(changed, at + self._flags.offset, flags[ip])
            if changed != page.data:
                self._kernel.memory.restore_memory(page.address, bytes(changed))

    @property
    def _form(self) -> struct.Struct:
        order = ">" if self._kernel.image.byteorder == "big" else "<"
        return struct.Struct(order + ("I" if self._ip.size == 4 else "Q"))

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
                address = view["records"]
                data = kernel.memory.dump_memory(address, index * size)
                found.append(RecordPage(address, data))
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
