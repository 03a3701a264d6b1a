# SPDX-License-Identifier: MIT
"""A guest as described by its ELF file."""

import struct
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar

from harness.errors import FormatError, GuestError
from harness.image.compile_units import ASSEMBLER
from harness.image.elf import Elf
from harness.image.functions import Function, functions_of, symbols_of
from harness.image.lines import SourceLine
from harness.image.objects import object_at, objects_of
from harness.image.structures import Structures
from harness.image.symbol_table import Symbol
from harness.image.text import code_around, isa_of
from harness.isa import CallSite, Form
from harness.units import ByteOrder

IRQ_ENTRY = ("__irqentry_text_start", "__irqentry_text_end")
"""The graph view recognises interrupt functions by these, as the kernel does."""


_INSN_SIZE = "mcount_insn_size"
"""MCOUNT_INSN_SIZE of the port; guests of the harness have it."""

_LITERAL_SIZE = "ftrace_literal_size"
"""Bytes of the ops in front of a function; guests with DYNAMIC_FTRACE_WITH_CALL_OPS have it."""


class Image:
    """A linked guest, read from the bytes of its ELF file; ``name`` is for messages.

    Given addresses may be sign-extended; returned addresses are masked to the guest's word size.
    FormatError if the file is no ELF file, damaged, stripped, not linked, or for an unsupported
    machine.

    ``symbols`` has the address of each symbol by name, of several with one name the most visible
    one's.  ``functions`` has all functions with a size, by address, one for each address.
    """

    types: ClassVar[Sequence[str | int]] = ("ET_EXEC",)
    """The types of ELF files that are linked guests."""

    def __init__(self, data: bytes, name: str) -> None:
        self.name = name
        self._elf = Elf(data, name)
        elf = self._elf
        self.isa = isa_of(elf)
        if elf.type not in self.types:
            raise FormatError(f"{name} is not a linked guest", "Link it to an executable.")
        self.bits = elf.bits
        self.byteorder: ByteOrder = elf.byteorder
        self.entry = self.isa.pointed_to(elf.entry)
        own = symbols_of(elf, self.isa.code_bit)
        self.symbols: Mapping[str, int] = MappingProxyType(
            {name: symbol.address for name, symbol in own.items()}
        )
        self._sizes = {name: symbol.size for name, symbol in own.items()}
        if "ftrace_call" in self.symbols:
            # Missing contents are an error only where they are needed.
            with suppress(GuestError):
                slot = Image.read(self, self.symbols["ftrace_call"], 2 * self.isa.longest)
                self.isa.sites.learn(slot)
        self._functions = functions_of(elf, self.isa.code_bit)
        self.functions: list[Function] = self._functions.all

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name}, {self.isa!r}, {len(self.functions)} functions>"

    def address_of(self, name: str) -> int:
        """The address of a symbol; GuestError if the guest has none."""
        try:
            return self.symbols[name]
        except KeyError:
            raise GuestError(f"{self.name} has no symbol {name}") from None

    def pointer_to(self, name: str) -> int:
        """The value of a pointer to a function of the guest; GuestError if it has none."""
        return self.address_of(name) | self.isa.code_bit

    def size_of(self, name: str) -> int:
        """The size in bytes of an object; GuestError if the guest has none."""
        if not self._sizes.get(name):
            raise GuestError(f"{self.name} has no object {name} of any size")
        return self._sizes[name]

    @property
    def memory(self) -> range:
        """The addresses from ``_text`` to ``_end``, with all static data of a guest."""
        return range(self.address_of("_text"), self.address_of("_end"))

    def function_at(self, address: int) -> Function | None:
        """The function that contains ``address``; None in a gap between functions."""
        return self._functions.at(self.isa.pointed_to(address))

    def symbolize(self, address: int) -> str:
        """``name``, ``name+0x10`` or, outside of functions, the address in hex."""
        function = self.function_at(address)
        if function is None:
            return self._hex(address)
        address = self.isa.pointed_to(address)
        offset = address - function.address
        return f"{function.name}+0x{offset:x}" if offset else function.name

    @property
    def text(self) -> range:
        """The addresses from ``_text`` to ``_etext``; GuestError if they are invalid."""
        text = range(self.address_of("_text"), self.address_of("_etext"))
        if not 0 <= text.stop - text.start <= len(self._elf.data):
            bounds = f"{self._hex(text.start)} to {self._hex(text.stop)}"
            raise GuestError(f"the text of {self.name} cannot reach from {bounds}")
        return text

    def read(self, address: int, size: int) -> bytes:
        """The linked contents at ``address``; GuestError if the file has none (bss)."""
        address &= self.isa.mask
        segment = self._elf.segment_at(address)
        if segment is None or address + size > segment.address + segment.size:
            raise GuestError(f"{self.name} holds no {size} bytes at {self._hex(address)}")
        start = segment.offset + address - segment.address
        return self._elf.data[start : start + size]

    @cached_property
    def structures(self) -> Structures:
        """The guest's C types; FormatError without debug information."""
        return Structures(self._elf.debug_sections, self.byteorder, self.name, self.bits)

    def need_debug_info(self) -> None:
        """FormatError without debug information."""
        _ = self._elf.debug_headers

    @property
    def build_id(self) -> bytes:
        """The build id; GuestError if the guest was linked without one."""
        return self._build_id[1]

    @property
    def build_id_address(self) -> int:
        """The address of the build id in guest memory."""
        return self._build_id[0]

    def object_at(self, address: int) -> str:
        """The name of the variable that contains ``address``; empty if there is none."""
        found = object_at(self._objects, address & self.isa.mask)
        return found.name if found else ""

    def variables_in(self, wanted: Callable[[str], bool]) -> list[range]:
        """The variables that are defined in some source files, by the debug information."""
        addresses = self.structures.variables_in(wanted)
        return [
            range(one.address, one.address + one.size)
            for one in self._objects
            if one.address in addresses
        ]

    @cached_property
    def _objects(self) -> list[Symbol]:
        return objects_of(self._elf)

    def is_assembled(self, address: int) -> bool:
        """Whether the code there comes from an assembler file, by the debug information."""
        unit = self._elf.unit(address & self.isa.mask)
        return unit is not None and unit.language == ASSEMBLER

    def source_file(self, address: int) -> str:
        """The file that the code there was compiled from, as the compiler was given it.

        It is empty where the debug information has none.
        """
        unit = self._elf.unit(address & self.isa.mask)
        return "" if unit is None else unit.file

    def source_line(self, address: int) -> SourceLine | None:
        """The source line of an instruction; None where the debug information has none."""
        return self._elf.source_line(address & self.isa.mask)

    def inlined_calls(self, address: int) -> list[SourceLine]:
        """The calls of the inline functions that an instruction is in, innermost first."""
        return self._elf.inlined_calls(address & self.isa.mask)

    @property
    def sites(self) -> list[CallSite]:
        """The call sites in the guest's table, by address.

        GuestError if the table is invalid, or an entry is not the address of a compiler's call
        site.
        """
        return self._table[0]

    @property
    def ignored_sites(self) -> list[range]:
        """The byte ranges of entries outside of all functions.

        They are patchable entries of overridden weak functions; a kernel patches them too.
        """
        return self._table[1]

    def ip_offset(self, form: Form, size: int) -> int:
        """Bytes from a call site of this size to its record's ``ip``.

        What changes at ``ip`` are MCOUNT_INSN_SIZE bytes, and the last ones of a patchable entry.
        """
        changing = self.symbols.get(_INSN_SIZE)
        if form is not Form.PATCHABLE_ENTRY or changing is None:
            return 0
        return max(0, size - int.from_bytes(self.read(changing, 4), self.byteorder))

    @cached_property
    def literal_size(self) -> int:
        """Bytes in front of a function for its own ops, and their alignment; 0 without them.

        Functions whose entry in the table is not aligned have no call site.
        """
        size = self.symbols.get(_LITERAL_SIZE)
        return 0 if size is None else int.from_bytes(self.read(size, 4), self.byteorder)

    def site_target(self, kernel: "Image", function: str = "ftrace_caller") -> int:
        """The target of a call site of this image that calls ``function`` of ``kernel``.

        It is the function, or a trampoline in a module out of reach.
        """
        trampoline = "ftrace_trampoline" if function == "ftrace_caller" else function
        own = self.symbols.get(trampoline)
        return kernel.address_of(function) if own is None else own

    def kallsyms(self, module: str = "") -> str:
        """The functions in the format of ``/proc/kallsyms``, for a trace file.

        With the symbols around the interrupt functions, and ``_end``, so that addresses behind the
        guest are not attributed to its last function.  ``module`` is the name of the module, if it
        is one.
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
        mcount = self.symbols.get(self.isa.sites.mcount)
        sites: list[CallSite] = []
        ignored: list[range] = []
        previous = None
        for address in sorted(self._table_entries()):
            if address == previous:
                raise self._bad_entry(address, "stands there twice")
            previous = address
            literal, start = address, address
            if self.literal_size:
                if address % self.literal_size:
                    continue
                _, code = code_around(self._elf, self.isa, address + self.literal_size)
                address = self.isa.sites.behind_landing_pad(address + self.literal_size, code)
            before, code = code_around(self._elf, self.isa, address)
            form = self.isa.sites.recognise(address, code, mcount, before)
            if form is None:
                raise self._bad_entry(address, "is no call site")
            function = self.function_at(address)
            size = self.isa.sites.size(form, code)
            if function is not None:
                place = (address, form, function.name, function.address, code[:size])
                own = literal if self.literal_size else 0
                sites.append(CallSite(*place, self.ip_offset(form, size), own))
            elif form is Form.PATCHABLE_ENTRY:
                ignored.append(range(start, address + size))
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
    """A function's name for /proc/kallsyms: readers such as trace-cmd skip names like ``$x``."""
    return f"\\x24{name[1:]}" if name.startswith("$") else name
