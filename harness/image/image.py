# SPDX-License-Identifier: MIT
"""A guest as its ELF file describes it."""

import struct
from collections.abc import Mapping
from functools import cached_property
from types import MappingProxyType

from harness.errors import FormatError, GuestError
from harness.image.elf import Elf
from harness.image.functions import Function, functions_of, symbols_of
from harness.image.structures import Structures
from harness.image.text import code_around, isa_of
from harness.isa import MCOUNT, CallSite, Form
from harness.units import ByteOrder

IRQ_ENTRY = ("__irqentry_text_start", "__irqentry_text_end")
"""What the graph view knows the functions of interrupts by, as the kernel does."""


class Image:
    """A linked guest, read from the bytes of its ELF file; ``name`` is for messages.

    Addresses that are passed in may be sign-extended; those that come out are masked to the
    guest's word size.  FormatError when the file is no ELF file, damaged, stripped, not linked,
    or for a machine that cannot be traced.

    ``symbols`` gives each symbol's address by name; of several with one name, the most public
    one's.  ``functions`` are all functions with a size, by address, one for each address.
    """

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self._elf = Elf(data, name)
        elf = self._elf
        self.isa = isa_of(elf)
        if elf.type != "ET_EXEC":
            raise FormatError(f"{name} is not a linked guest", "Link it to an executable.")
        self.bits = elf.bits
        self.byteorder: ByteOrder = elf.byteorder
        self.entry = elf.entry
        own = symbols_of(elf)
        self.symbols: Mapping[str, int] = MappingProxyType(
            {name: symbol.address for name, symbol in own.items()}
        )
        self._sizes = {name: symbol.size for name, symbol in own.items()}
        self._functions = functions_of(elf)
        self.functions: list[Function] = self._functions.all

    def address_of(self, name: str) -> int:
        """The address of the symbol ``name``; GuestError when the guest has none."""
        try:
            return self.symbols[name]
        except KeyError:
            raise GuestError(f"{self.name} has no symbol {name}") from None

    def size_of(self, name: str) -> int:
        """The bytes of the object ``name``; GuestError when the guest has no such object."""
        if not self._sizes.get(name):
            raise GuestError(f"{self.name} has no object {name} of any size")
        return self._sizes[name]

    @property
    def memory(self) -> range:
        """The addresses that the linker laid out, ``_text`` to ``_end``: all that is the guest's.

        What a guest describes of itself lies there, and is no more than that.
        """
        return range(self.address_of("_text"), self.address_of("_end"))

    def function_at(self, address: int) -> Function | None:
        """The function whose bytes hold ``address``; None in a gap between functions."""
        return self._functions.at(address & self.isa.mask)

    def symbolize(self, address: int) -> str:
        """``name``, ``name+0x10`` or, outside every function, the address in hex."""
        address &= self.isa.mask
        function = self.function_at(address)
        if function is None:
            return self._hex(address)
        offset = address - function.address
        return f"{function.name}+0x{offset:x}" if offset else function.name

    @property
    def text(self) -> range:
        """The addresses from ``_text`` to ``_etext``; GuestError when they cannot be right."""
        text = range(self.address_of("_text"), self.address_of("_etext"))
        if not 0 <= text.stop - text.start <= len(self._elf.data):
            bounds = f"{self._hex(text.start)} to {self._hex(text.stop)}"
            raise GuestError(f"the text of {self.name} cannot reach from {bounds}")
        return text

    def read(self, address: int, size: int) -> bytes:
        """What the linker put at ``address``; GuestError where the file holds no bytes (bss)."""
        address &= self.isa.mask
        segment = self._elf.segment_at(address)
        if segment is None or address + size > segment.address + segment.size:
            raise GuestError(f"{self.name} holds no {size} bytes at {self._hex(address)}")
        start = segment.offset + address - segment.address
        return self._elf.data[start : start + size]

    @cached_property
    def structures(self) -> Structures:
        """The C types of the guest; FormatError if it has no debug information."""
        return Structures(self._elf.debug_sections, self.byteorder, self.name, self.bits)

    @property
    def build_id(self) -> bytes:
        """The linker's build id; GuestError when the guest was linked without one."""
        return self._build_id[1]

    @property
    def build_id_address(self) -> int:
        """Where the bytes of the build id lie in the guest's memory."""
        return self._build_id[0]

    def is_assembled(self, address: int) -> bool:
        """Whether debug information says that an assembler file brought what lies there."""
        address &= self.isa.mask
        return any(address in code for code in self._elf.assembled)

    @property
    def sites(self) -> list[CallSite]:
        """The call sites in the guest's table, by address.

        GuestError when the table is none, or when one of its entries is not the address of a call
        site as the compiler writes them.
        """
        return self._table[0]

    @property
    def ignored_sites(self) -> list[range]:
        """Entries that lie in no function, as the addresses of their bytes.

        They are patchable entries of overridden weak functions; a kernel patches them like others.
        """
        return self._table[1]

    def site_target(self, kernel: "Image", function: str = "ftrace_caller") -> int:
        """What a call site of this image calls when it calls ``function`` of ``kernel``.

        That is the function itself, or the trampoline of a module that cannot reach it.
        """
        trampoline = "ftrace_trampoline" if function == "ftrace_caller" else function
        own = self.symbols.get(trampoline)
        return kernel.address_of(function) if own is None else own

    def kallsyms(self, module: str = "") -> str:
        """The functions in the layout of ``/proc/kallsyms``, for a trace file.

        With the symbols that tell where the functions are that interrupts begin in.  Ends with the
        symbol ``_end``, so that nothing behind the guest bears the name of its last function.  With
        ``module`` the lines are those of a module of that name.
        """
        digits = self.bits // 4
        suffix = f"\t[{module}]" if module else ""
        end = self.symbols.get("_end")
        rows = [(function.address, function.name) for function in self._functions.all]
        rows += [(self.symbols[name], name) for name in IRQ_ENTRY if name in self.symbols]
        if end is not None:
            rows.append((end, "_end"))
        return "".join(f"{address:0{digits}x} T {_spelt(name)}{suffix}\n" for address, name in rows)

    @cached_property
    def _build_id(self) -> tuple[int, bytes]:
        found = self._elf.build_id()
        if found is None:
            raise GuestError(f"{self.name} has no build id", "Link it with --build-id=sha1.")
        return found

    @cached_property
    def _table(self) -> tuple[list[CallSite], list[range]]:
        mcount = self.symbols.get(MCOUNT)
        sites: list[CallSite] = []
        ignored: list[range] = []
        previous = None
        for address in sorted(self._table_entries()):
            if address == previous:
                raise self._bad_entry(address, "stands there twice")
            previous = address
            before, code = code_around(self._elf, self.isa, address)
            form = self.isa.sites.recognise(address, code, mcount, before)
            if form is None:
                raise self._bad_entry(address, "is no call site")
            function = self.function_at(address)
            size = self.isa.sites.size(form, code)
            if function is not None:
                site = CallSite(address, form, function.name, function.address, code[:size])
                sites.append(site)
            elif form is Form.PATCHABLE_ENTRY:
                ignored.append(range(address, address + size))
            else:
                raise self._bad_entry(address, "lies in no function")
        return sites, ignored

    def _table_entries(self) -> tuple[int, ...]:
        start = self.address_of("__start_mcount_loc")
        size = self.address_of("__stop_mcount_loc") - start
        word = self.isa.word_size
        if size < 0 or size % word or start % word:
            raise GuestError(
                f"the table of call sites in {self.name} is damaged: "
                f"{size} bytes at {self._hex(start)}",
                f"It must be aligned to {word} bytes and hold {word} bytes for each site.",
            )
        order = "<" if self.byteorder == "little" else ">"
        kind = "I" if word == 4 else "Q"
        if not size:
            return ()
        return struct.unpack(f"{order}{size // word}{kind}", self.read(start, size))

    def _bad_entry(self, address: int, what: str) -> GuestError:
        before, code = code_around(self._elf, self.isa, address)
        listing = [
            f"{'=>' if at.address == address else '  '} {self._hex(at.address)}: {at.text}"
            for at in self.isa.disassemble(
                before + code[: 4 * self.isa.longest], address - len(before)
            )
        ]
        place = self._hex(address)
        if self.function_at(address) is not None:
            place += f" ({self.symbolize(address)})"
        return GuestError(
            f"the table of call sites in {self.name} names {place}, which {what}",
            "\n".join(["Found there:", *listing] if listing else ["There is no code there."]),
        )

    def _hex(self, address: int) -> str:
        return f"0x{address:0{self.bits // 4}x}"


def _spelt(name: str) -> str:
    """A function's name for a table of which readers, as trace-cmd, skip names like ``$x``."""
    return f"\\x24{name[1:]}" if name.startswith("$") else name
