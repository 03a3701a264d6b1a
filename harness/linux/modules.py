# SPDX-License-Identifier: MIT
"""The loaded modules of a stopped kernel, with their functions by the kernel's own tables."""

import struct
from collections.abc import Iterator

from harness.errors import GuestError
from harness.image import Function
from harness.linux.image import LoadedModule
from harness.linux.kernel import Kernel, View
from harness.units import one_line

MAX_MODULES = 4096
MAX_SYMBOLS = 1 << 16
MAX_STRINGS = 1 << 22
MAX_MEMORY = 1 << 28

UNFORMED = 3
"""MODULE_STATE_UNFORMED."""

_TEXT = frozenset(b"tTwW")


def loaded_modules(kernel: Kernel) -> list[LoadedModule]:
    """The modules, newest first; none if the kernel was built without them."""
    if not kernel.has("modules") or "module" not in kernel.layouts:
        return []
    head = kernel.image.symbols["modules"]
    if not kernel.pointer(head):
        return []
    found = []
    for address in kernel.listed(head, "module", "list.next", MAX_MODULES):
        view = kernel.view("module", address)
        if view["state"] != UNFORMED:
            name = one_line(view.bytes("name").partition(b"\0")[0].decode("latin-1"), 64)
            found.append(LoadedModule(name, tuple(_memory(view)), tuple(_functions(kernel, view))))
    return found


def _memory(view: View) -> Iterator[range]:
    """The memory of a module.  Linux 6.4 has an array of parts, earlier kernels one part."""
    kernel = view.kernel
    if "mem" in view.layout:
        part = kernel.layouts["module_memory"]
        place = view.layout.place("mem")
        ends = [
            (
                part.place("base").number(view.data, kernel.image.byteorder, place.offset + at),
                part.place("size").number(view.data, kernel.image.byteorder, place.offset + at),
            )
            for at in range(0, place.size - part.size + 1, part.size)
        ]
    else:
        base = view.layout.first("core_layout.base", "module_core")
        size = view.layout.first("core_layout.size", "core_size")
        order = kernel.image.byteorder
        ends = [(base.number(view.data, order), size.number(view.data, order))]
    for start, length in ends:
        if not 0 <= length <= MAX_MEMORY:
            raise GuestError(f"the kernel has a module of {length} bytes; its memory is damaged")
        if length:
            yield range(start, start + length)


def _functions(kernel: Kernel, view: View) -> list[Function]:
    address = view.get("kallsyms")
    if not address:
        return []
    table = kernel.view("mod_kallsyms", address)
    count = table["num_symtab"]
    if not 0 <= count <= MAX_SYMBOLS:
        raise GuestError(f"the kernel has a module of {count} symbols; its memory is damaged")
    order = ">" if kernel.image.byteorder == "big" else "<"
    form = struct.Struct(order + ("IIIBBH" if kernel.word == 4 else "IBBHQQ"))
    symbols = kernel.read(table["symtab"], form.size * count) if count else b""
    types = kernel.read(table["typetab"], count) if count else b""
    rows = []
    for fields, kind in zip(form.iter_unpack(symbols), types, strict=True):
        name, value, size = fields[:3] if kernel.word == 4 else (fields[0], *fields[4:])
        if kind in _TEXT and value:
            rows.append((value, size, name))
    if not rows:
        return []
    last = max(name for _, _, name in rows)
    if last > MAX_STRINGS:
        raise GuestError("the names of a module's symbols lie too far apart; memory is damaged")
    # The name behind the last one's beginning ends with it.
    names = kernel.read(table["strtab"], last) + kernel.text(table["strtab"] + last, 512).encode(
        "latin-1"
    )
    found = {}
    for value, size, name in sorted(rows):
        end = names.find(b"\0", name)
        text = names[name : len(names) if end < 0 else end].decode("latin-1")
        if text and not text.startswith(("$", ".L")):
            found[value] = Function(one_line(text, 512), value, size or kernel.word)
    return list(found.values())
