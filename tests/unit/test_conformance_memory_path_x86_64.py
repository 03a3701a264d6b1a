# SPDX-License-Identifier: MIT
"""Bytes of code on their way through memory, as gcc compiles the x86-64 port."""

from types import SimpleNamespace

import pytest

from harness.conformance.localization.memory_path import MemoryPath
from harness.isa import for_elf

ISA = for_elf(62, 64, "little")
TEXT, STACK, SITE = 0x1000, 0x8000, 0x2000
REGISTERS = {"rsp": STACK, "rdi": SITE, "rbx": 2, "rax": 0, "rdx": 0, "rcx": 0}


def path_of(*code, registers=REGISTERS):
    """The path of these instructions, each with the same registers before it."""
    starts = [TEXT + sum(map(len, code[:at])) for at in range(len(code))]
    linked = dict(zip(starts, code, strict=True))
    text = SimpleNamespace(
        linked=linked.__getitem__,
        disassembled=lambda at: ISA.disassemble(linked[at], at)[0].text,
    )
    bench = SimpleNamespace(isa=ISA, code=text)
    return MemoryPath(bench, starts, lambda _: registers)


OPCODE = bytes.fromhex("c644240be9")  # mov byte ptr [rsp + 0xb], 0xe9
DISTANCE = bytes.fromhex("8954240c")  # mov dword ptr [rsp + 0xc], edx
LOAD = bytes.fromhex("8a441c0b")  # mov al, byte ptr [rsp + rbx + 0xb]
COPY = bytes.fromhex("880417")  # mov byte ptr [rdi + rdx], al
COMPARE = bytes.fromhex("3807")  # cmp byte ptr [rdi], al
BRANCH = bytes.fromhex("7500")  # jne


@pytest.mark.parametrize(
    ("code", "operand"),
    [
        ("c644240be9", range(STACK + 0xB, STACK + 0xC)),
        ("8954240c", range(STACK + 0xC, STACK + 0x10)),
        ("8a441c0b", range(STACK + 0xD, STACK + 0xE)),
        ("488b44dff8", range(SITE + 8, SITE + 16)),  # mov rax, [rdi + 8*rbx - 8]
        ("c60510000000cc", range(TEXT + 7 + 16, TEXT + 7 + 17)),  # mov byte ptr [rip + 0x10], 0xcc
        ("65488b0425108a0000", range(0)),  # mov rax, gs:[0x8a10]
        ("89c2", range(0)),  # mov edx, eax
    ],
)
def test_the_address_of_an_operand(code, operand):
    assert path_of(bytes.fromhex(code)).accessed(0) == operand


def test_a_byte_that_is_copied_comes_from_the_last_store_there():
    """With 2 in rbx it is the second byte of the distance, and with 0 the opcode."""
    assert path_of(OPCODE, DISTANCE, LOAD, COPY).source(3, SITE) == 1
    first = {**REGISTERS, "rbx": 0}
    assert path_of(OPCODE, DISTANCE, LOAD, COPY, registers=first).source(3, SITE) == 0


def test_a_byte_that_was_never_in_memory_comes_from_what_made_it():
    move, made = bytes.fromhex("89d8"), bytes.fromhex("bbe9000000")  # mov eax, ebx; mov ebx, 0xe9
    assert path_of(OPCODE, made, move, COPY).source(3, SITE) == 1
    assert path_of(COPY).source(0, SITE) is None


def test_a_byte_that_nobody_has_stored_was_there_before():
    assert path_of(LOAD, COPY).held_at(1, SITE) == STACK + 0xD
    assert path_of(LOAD, COPY).source(1, SITE) is None
    assert path_of(OPCODE, DISTANCE, LOAD, COPY).held_at(3, SITE) is None


def test_bytes_that_are_put_in_order_come_from_their_store():
    subtract, swap = bytes.fromhex("29ca"), bytes.fromhex("0fca")  # sub edx, ecx; bswap edx
    assert path_of(subtract, DISTANCE, LOAD, COPY).source(3, SITE) == 0
    assert path_of(subtract, swap, DISTANCE, LOAD, COPY).source(4, SITE) == 2


def test_a_byte_of_a_site_is_compared_with_one_that_was_stored():
    site = range(SITE, SITE + 16)
    assert path_of(OPCODE, DISTANCE, LOAD, COMPARE, BRANCH).compared(4, site) == 1
    # No byte of the site is looked at, or none besides.
    assert path_of(OPCODE, DISTANCE, LOAD, BRANCH).compared(3, site) is None
    assert path_of(OPCODE, COMPARE, BRANCH).compared(2, site) is None
