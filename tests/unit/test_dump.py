# SPDX-License-Identifier: MIT
"""Memory dumps: ELF cores as QEMU writes them, and the kernel in them, without QEMU."""

import socket
import struct
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from harness.dump import DumpedKernel, DumpStub, ElfCore
from harness.errors import FormatError, GuestError, HarnessError, UsageError, WrongGuest
from harness.isa import for_elf

ARM, MIPS = 183, 8
RAM = 0x40000000
TEXT = 0xFFFFFFC008000000
"""The kernel's image, with 39 bits of addresses."""
VMALLOC, LINEAR = 0xFFFFFFC010000000, 0xFFFFFF8000000000
IMAGE, TABLES, FAR = 0x1000, 0x10000, 0x20000
"""Offsets in the memory."""
BANNER, NOTE = TEXT + 0x100, TEXT + 0x200
BUILD_ID = bytes(range(1, 21))
TEXT_OF_BANNER = b"Linux version 6.1 (made up)"


def image(**symbols: int) -> Any:
    """What of a vmlinux is asked for."""
    names = {
        **{"_text": TEXT, "_end": TEXT + 0x8000, "linux_banner": BANNER},
        **{"swapper_pg_dir": TEXT + TABLES - IMAGE},
        **symbols,
    }
    return SimpleNamespace(
        name="vmlinux",
        isa=for_elf(ARM, 64, "little"),
        byteorder="little",
        symbols=names,
        address_of=names.__getitem__,
        size_of=lambda name: 4096,
        banner=TEXT_OF_BANNER,
        build_id=BUILD_ID,
        build_id_address=NOTE + 16,
    )


def memory() -> bytearray:
    """The image, and tables for it, for a page of vmalloc, and for a block of the linear map."""
    found = bytearray(0x30000)

    def put(offset: int, data: bytes) -> None:
        found[offset : offset + len(data)] = data

    def entry(table: int, index: int, value: int) -> None:
        put(table + 8 * index, value.to_bytes(8, "little"))

    put(IMAGE + 0x100, TEXT_OF_BANNER + b"\0")
    put(IMAGE + 0x200, struct.pack("<III", 4, 20, 3) + b"GNU\0" + BUILD_ID)
    put(FAR, b"far away")
    first, second, third, linear = (TABLES + 0x1000 * one for one in range(4))
    for place in (TEXT, VMALLOC):
        entry(first, place >> 30 & 511, RAM + second | 3)
        entry(second, place >> 21 & 511, RAM + third + (0x3000 if place == VMALLOC else 0) | 3)
    entry(third, 0, RAM + IMAGE | 0x60000000000F03)
    entry(third + 0x3000, 5, RAM + FAR | 0x60000000000F03)
    entry(first, LINEAR >> 30 & 511, RAM + linear | 3)
    entry(linear, 0, RAM | 0x60000000000F01)
    return found


def core(ram: bytes, machine: int = ARM, cpus: int = 2, kind: int = 4) -> bytes:
    """An ELF core like QEMU's, with x0 of each CPU its number and pc ``TEXT``."""
    notes = b""
    for cpu in range(cpus):
        status = bytes(112) + struct.pack("<34Q", cpu, *[0] * 31, TEXT, 0x3C5) + bytes(8)
        notes += struct.pack("<III", 5, len(status), 1) + b"CORE\0\0\0\0" + status
    start = 64 + 2 * 56
    header = b"\x7fELF\2\1\1" + bytes(9)
    header += struct.pack("<HHIQQQIHHHHHH", kind, machine, 1, 0, 64, 0, 0, 8, 56, 2, 64, 0, 0)
    segments = struct.pack("<IIQQQQQQ", 4, 0, start, 0, 0, len(notes), len(notes), 0)
    place = start + len(notes)
    segments += struct.pack("<IIQQQQQQ", 1, 0, place, RAM, RAM, len(ram), len(ram), 0)
    return header + segments + notes + ram


@pytest.fixture
def dump(tmp_path: Path) -> Callable[[bytes], ElfCore]:
    def make(data: bytes) -> ElfCore:
        path = tmp_path / "core"
        path.write_bytes(data)
        return ElfCore(path)

    return make


def test_all_that_the_page_tables_map_is_read(dump: Callable[[bytes], ElfCore]) -> None:
    kernel = DumpedKernel(image(), dump(core(memory())))
    assert kernel.read_memory(BANNER, 13) == b"Linux version"
    assert kernel.read_memory(VMALLOC + 0x5000, 8) == b"far away"
    assert kernel.read_memory(LINEAR + FAR, 8) == b"far away"
    # Beyond the end of a page, which lies elsewhere.
    assert kernel.read_memory(LINEAR + FAR - 4, 12) == bytes(4) + b"far away"
    for wrong in (VMALLOC, 0, 0x400000, LINEAR + 0x30000):
        with pytest.raises(GuestError):
            kernel.read_memory(wrong, 8)
    with pytest.raises(GuestError, match="maps nothing"):
        kernel.read_memory(VMALLOC + 0x5FFC, 8)


def test_before_the_page_tables_the_image_is_read(dump: Callable[[bytes], ElfCore]) -> None:
    ram = memory()
    ram[TABLES : TABLES + 0x4000] = bytes(0x4000)
    kernel = DumpedKernel(image(), dump(core(ram)))
    assert kernel.read_memory(BANNER, 13) == b"Linux version"
    with pytest.raises(GuestError):
        kernel.read_memory(LINEAR, 8)


def test_another_kernel_is_refused(dump: Callable[[bytes], ElfCore]) -> None:
    ram = bytes(memory())
    with pytest.raises(WrongGuest, match="does not hold the kernel"):
        DumpedKernel(image(), dump(core(ram.replace(BUILD_ID, bytes(20)))))
    with pytest.raises(WrongGuest, match="does not hold the kernel"):
        DumpedKernel(
            image(), dump(core(ram.replace(TEXT_OF_BANNER, b"Linux version 7.0 (made up)")))
        )


def test_a_kernel_at_other_addresses_is_refused(dump: Callable[[bytes], ElfCore]) -> None:
    ram = memory()
    # Mapped, but to another page.
    third = TABLES + 0x2000
    ram[third : third + 8] = (RAM + FAR | 0x60000000000F03).to_bytes(8, "little")
    with pytest.raises(WrongGuest, match="does not lie at the addresses"):
        DumpedKernel(image(), dump(core(ram)))


def test_nothing_can_be_written(dump: Callable[[bytes], ElfCore]) -> None:
    kernel = DumpedKernel(image(), dump(core(memory())))
    for write in (kernel.write_memory, kernel.restore_memory):
        with pytest.raises(UsageError, match="cannot be changed"):
            write(BANNER, b"x")


def test_bad_files_are_refused_in_a_sentence(tmp_path: Path) -> None:
    good = core(memory())
    bad = {
        "empty": b"",
        "text": b"no dump at all",
        "executable": core(memory(), kind=2),
        "no CPU": core(memory(), cpus=0),
        "cut": good[:100],
        "header only": good[:64],
    }
    for name, data in bad.items():
        path = tmp_path / name
        path.write_bytes(data)
        with pytest.raises(FormatError):
            ElfCore(path)
    with pytest.raises(UsageError, match="cannot be read"):
        ElfCore(tmp_path)


def test_every_damage_is_an_error_of_ours(tmp_path: Path) -> None:
    good = core(memory())
    path = tmp_path / "core"
    for offset in range(0, 64 + 2 * 56 + 32):
        path.write_bytes(good[:offset] + b"\xff" * 4 + good[offset + 4 :])
        try:
            with ElfCore(path) as found:
                DumpedKernel(image(), found).read_memory(BANNER, 8)
        except HarnessError:
            continue


def test_an_architecture_without_dumps_says_so(dump: Callable[[bytes], ElfCore]) -> None:
    made = image()
    made.isa = for_elf(MIPS, 32, "big")
    with pytest.raises(UsageError, match="QEMU writes no memory dumps"):
        DumpedKernel(made, dump(core(memory())))


def packet(text: bytes) -> bytes:
    return b"+$%b#%02x" % (text, sum(text) & 0xFF)


def test_the_stub_answers_gdb(dump: Callable[[bytes], ElfCore], tmp_path: Path) -> None:
    kernel = DumpedKernel(image(), dump(core(memory())))
    path = tmp_path / "stub"
    with DumpStub(kernel, path), socket.socket(socket.AF_UNIX) as client:
        client.connect(str(path))
        client.settimeout(10)
        for question, answer in {
            b"?": b"T05thread:1;",
            b"qfThreadInfo": b"m1,2",
            b"Hg2": b"OK",
            b"Hg3": b"E01",
            b"m%x,5" % BANNER: b"Linux".hex().encode(),
            b"m0,8": b"E14",
            b"m": b"E01",
            b"Xffff,1:\0": b"E01",
            b"c": b"T05thread:1;",
            b"vMustReplyEmpty": b"",
            b"": b"",
        }.items():
            client.sendall(packet(question))
            assert client.recv(1000) == packet(answer), question
        client.sendall(packet(b"g"))
        registers = bytes.fromhex(client.recv(1000)[2:-3].decode())
        assert (registers[0], len(registers)) == (1, 8 * 33 + 4)
