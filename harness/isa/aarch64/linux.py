# SPDX-License-Identifier: MIT
"""Linux on arm64, and ``arch/arm64`` of a Linux tree."""

from collections.abc import Callable, Mapping

from harness.errors import FormatError, WrongGuest
from harness.isa.linux import Linux, LinuxFiles

_TABLE = (1 << 48) - 2
"""The address in TTBR1_EL1, between the address space's number and the bit CnP."""

_OUTPUT = (1 << 48) - 1
"""The address in a descriptor, with the attributes below it."""

_STATUS_REGISTERS = 112
"""Where NT_PRSTATUS has the registers (``struct aarch64_user_regs``)."""

# The unwinder looks for the frame pointer that it stands at.
_RETP = r"\(void \*\)frame_pointer\)"

_FILES = LinuxFiles(
    directory="arm64",
    entry="ARM64",
    sources=("kernel/entry-ftrace.S", "kernel/ftrace.c", "include/asm/ftrace.h"),
    words=(
        ("floating_point = false", "Makefile", r"-mgeneral-regs-only"),
        ('retp = "cookie"', "kernel/ftrace.c", _RETP),
    ),
    features=(("FUNCTION_GRAPH_RET_ADDR_PTR", "kernel/ftrace.c", _RETP),),
)


class AArch64Linux(Linux):
    """Without KASLR."""

    files = _FILES
    page_object = "empty_zero_page"
    switch = ("cpu_switch_to", "ret_from_fork")

    def ops(self, address: int) -> int:
        """In front of the function's landing pad, if it has one: at a multiple of 8.

        ftrace_call_adjust() of arch/arm64/kernel/ftrace.c.
        """
        return address - 12 & -8

    def runs_kernel(self, register: Callable[[str], int]) -> bool:
        """PSTATE.EL is not 0, and PSTATE.I not set."""
        status = register("cpsr")
        return bool(status & 0xC) and not status & 0x80

    def linear(
        self,
        register: Callable[[str], int],
        symbols: Mapping[str, int],
        word: Callable[[int, int], int],
    ) -> Callable[[int], int | None]:
        """The kernel's image, and the linear map of all memory.

        Arm Architecture Reference Manual, D13.2 (TCR_EL1, TTBR1_EL1).
        """
        mask = self.code.mask
        # The kernel unmaps its head, and may have a stack there.
        image = range(symbols["_stext"], symbols["_end"])
        # Physical: the kernel's page table lies in its image.
        table = register("TTBR1_EL1") & _TABLE
        image_offset = symbols["swapper_pg_dir"] - table
        # The kernel's own value, of the addresses at which it runs.
        variable = symbols.get("kimage_voffset")
        if variable is not None:
            moved = word(variable, variable - image_offset) - image_offset & mask
            if moved:
                raise WrongGuest(
                    f"the kernel runs {moved:#x} above the addresses of its vmlinux",
                    "Boot it with nokaslr.",
                )
        bits = 64 - (register("TCR_EL1") >> 16 & 63)
        linear = range(-(1 << bits) & mask, (-(1 << bits) & mask) + (1 << (bits - 1)))
        variable = symbols["memstart_addr"]
        first = word(variable, variable - image_offset)

        def translate(address: int) -> int | None:
            address &= mask
            if address in image:
                return address - image_offset
            return address - linear.start + first & mask if address in linear else None

        return translate

    def tables(
        self,
        symbols: Mapping[str, int],
        offset: int,
        page_size: int,
        word: Callable[[int], int],
    ) -> Callable[[int], int | None]:
        """The kernel's image, and what ``swapper_pg_dir`` maps.

        Arm Architecture Reference Manual, D8.3 (translation table descriptor formats).
        """
        mask, image = self.code.mask, range(symbols["_text"], symbols["_end"])
        # The image lies in the upper half of the kernel's addresses, so its bits say how many
        # are translated.
        bits = (~symbols["_text"] & mask).bit_length() + 1
        shift = page_size.bit_length() - 1
        step = shift - 3
        levels = range(shift, bits, step)
        root = symbols["swapper_pg_dir"] - offset

        def translate(address: int) -> int | None:
            address &= mask
            if address < mask & -(1 << bits):
                return None
            table, left = root, bits
            for level in reversed(levels):
                index = (address & (1 << left) - 1) >> level
                entry = word(table + 8 * index)
                if not entry & 1:
                    break
                found = entry & _OUTPUT & -page_size
                if level == shift or not entry & 2:
                    return found & -(1 << level) | address & (1 << level) - 1
                table, left = found, level
            # Before paging_init() the kernel runs on other tables.
            return address - offset if address in image else None

        return translate

    def dump_registers(self, status: bytes) -> bytes:
        """x0 to x30, sp, pc and the processor state, of QEMU's target/arm/arch_dump.c."""
        if len(status) < _STATUS_REGISTERS + 8 * 34:
            raise FormatError(f"a CPU of the memory dump has registers of {len(status)} bytes")
        return status[_STATUS_REGISTERS : _STATUS_REGISTERS + 8 * 33 + 4]
