# SPDX-License-Identifier: MIT
"""recordmcount on synthetic links, and its command line."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import FormatError, GuestError
from harness.image.recordmcount import Records, assembly, recordmcount
from harness.image.recordmcount.__main__ import main
from harness.isa.sites import Sites
from tests.unit.elf_builder import ALLOC, ElfBuilder
from tests.unit.guest_drafts import KINDS, Draft, Kind

MCOUNT_KINDS = [kind for kind in KINDS if kind.form == "mcount"]
R_MIPS_32, R_MIPS_26, R_MIPS_HI16, R_MIPS_LO16 = 2, 4, 5, 6
MCOUNT = 0x80100000


@pytest.fixture(params=MCOUNT_KINDS, ids=lambda kind: kind.name)
def draft(request: pytest.FixtureRequest) -> Draft:
    return Draft(request.param)


def test_finds_the_sites_sorted(draft: Draft) -> None:
    draft.relocate(draft.second, draft.first)
    records = recordmcount(draft.elf.build(), "vmlinux")
    assert records.sites == [draft.site(draft.first), draft.site(draft.second)]
    assert records.ignored == []
    assert records.word_size == draft.kind.bits // 8


def test_one_record_however_often_it_is_named(draft: Draft) -> None:
    draft.relocate(draft.first, draft.first)
    assert recordmcount(draft.elf.build(), "vmlinux").sites == [draft.site(draft.first)]


def test_dead_body_is_ignored(draft: Draft) -> None:
    draft.relocate(draft.first, draft.gap)
    records = recordmcount(draft.elf.build(), "vmlinux")
    assert records.sites == [draft.site(draft.first)]
    ((address, reason),) = records.ignored
    assert address == draft.site(draft.gap)
    assert "weak" in reason


def test_reference_of_data_is_ignored(draft: Draft) -> None:
    draft.relocate(draft.first)
    pointer = draft.elf.section(draft.table + 0x100, bytes(8), flags=ALLOC)
    draft.elf.relocation(pointer, draft.table + 0x100, "_mcount", draft.kind.call_relocation)
    # Such a type is never a call, wherever it stands.
    draft.elf.relocation(draft.text, draft.site(draft.second), "_mcount", 1)
    records = recordmcount(draft.elf.build(), "vmlinux")
    assert (records.sites, records.ignored) == ([draft.site(draft.first)], [])


@pytest.mark.parametrize("kind", [k for k in MCOUNT_KINDS if k.bits == 64], ids=lambda k: k.name)
def test_relocation_composed_of_three(kind: Kind) -> None:
    draft = Draft(kind)
    draft.elf.composed = (1, 5, 24)
    draft.relocate(draft.first)
    draft.elf.relocation(draft.text, draft.site(draft.second), "second", kind.call_relocation)
    assert recordmcount(draft.elf.build(), "vmlinux").sites == [draft.site(draft.first)]


def test_relocation_that_lies(draft: Draft) -> None:
    draft.relocate(draft.first)
    for address in (draft.first, draft.first + 2, 0x10, 0):
        draft.elf.relocation(draft.text, address, "_mcount", draft.kind.call_relocation)
    assert recordmcount(draft.elf.build(), "vmlinux").sites == [draft.site(draft.first)]


def test_call_of_something_else(draft: Draft) -> None:
    draft.relocate(draft.first)
    kind = draft.kind.call_relocation
    draft.elf.relocation(draft.text, draft.site(draft.second), "second", kind)
    assert recordmcount(draft.elf.build(), "vmlinux").sites == [draft.site(draft.first)]


def mips_text(*words: int) -> ElfBuilder:
    """``_mcount`` and one function of the given words at 0x80100010."""
    elf = ElfBuilder()
    elf.section(MCOUNT, elf.words(0, 0, 0, 0, *words))
    elf.function("_mcount", MCOUNT, 16)
    elf.function("f", MCOUNT + 16, 4 * len(words))
    return elf


def test_the_name_that_sites_call_is_the_architectures(monkeypatch: pytest.MonkeyPatch) -> None:
    elf = mips_text(0x03E00825, 0x0C040000, 0x27BDFFF8)
    elf.function("__mcount", MCOUNT, 16)
    elf.relocation(1, MCOUNT + 20, "__mcount", R_MIPS_26)
    with pytest.raises(GuestError, match="no call of _mcount"):
        recordmcount(elf.build(), "vmlinux")
    monkeypatch.setattr(Sites, "mcount", "__mcount")
    assert recordmcount(elf.build(), "vmlinux").sites == [MCOUNT + 20]


def test_long_call_makes_one_record() -> None:
    elf = mips_text(0x3C038010, 0x24630000, 0x03E00825, 0x0060F809, 0x27BDFFF8)
    elf.relocation(1, MCOUNT + 16, "_mcount", R_MIPS_HI16)
    elf.relocation(1, MCOUNT + 20, "_mcount", R_MIPS_LO16)
    assert recordmcount(elf.build(), "vmlinux").sites == [MCOUNT + 16]


def test_address_taken_in_text_is_no_call() -> None:
    site = (0x03E00825, 0x0C040000, 0x27BDFFF8)
    elf = mips_text(*site, 0x3C028010, 0x24420000, 0x03E00008, 0)
    elf.relocation(1, MCOUNT + 20, "_mcount", R_MIPS_26)
    elf.relocation(1, MCOUNT + 28, "_mcount", R_MIPS_HI16)
    elf.relocation(1, MCOUNT + 32, "_mcount", R_MIPS_LO16)
    records = recordmcount(elf.build(), "vmlinux")
    assert records.sites == [MCOUNT + 20]
    assert [address for address, _ in records.ignored] == [MCOUNT + 28]


def test_call_of_mcount_in_somebodys_code_is_told(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    elf = mips_text(0x03E00825, 0x0C040000, 0x27BDFFF8, 0x0C040000, 0)
    elf.relocation(1, MCOUNT + 20, "_mcount", R_MIPS_26)
    elf.relocation(1, MCOUNT + 28, "_mcount", R_MIPS_26)
    records = recordmcount(elf.build(), "vmlinux")
    assert (records.sites, records.suspicious) == ([MCOUNT + 20], [MCOUNT + 28])
    path = tmp_path / "vmlinux"
    path.write_bytes(elf.build())
    assert main([str(path), "-o", str(tmp_path / "mcount_loc.S")]) == 0
    assert "0x8010001c is no call site: it calls _mcount, but not as" in capsys.readouterr().err


def test_link_without_relocations() -> None:
    with pytest.raises(FormatError, match="--emit-relocs"):
        recordmcount(Draft(KINDS[0]).elf.build(), "vmlinux")


def test_link_without_calls(draft: Draft) -> None:
    kind = draft.kind.call_relocation
    draft.elf.relocation(draft.text, draft.site(draft.first), "second", kind)
    with pytest.raises(GuestError, match="no call of _mcount"):
        recordmcount(draft.elf.build(), "vmlinux")


def test_object_file_is_refused(draft: Draft) -> None:
    draft.elf.type = 1
    with pytest.raises(FormatError, match="not a final link"):
        recordmcount(draft.elf.build(), "a.o")


def test_relocations_of_another_symbol_table(draft: Draft) -> None:
    draft.relocate(draft.first)
    data = bytearray(draft.elf.build())
    # sh_link of the last section header.
    at = len(data) - (16 if draft.kind.bits == 32 else 24)
    data[at : at + 4] = draft.elf.words(1)
    with pytest.raises(FormatError, match="another symbol table"):
        recordmcount(bytes(data), "vmlinux")


@pytest.mark.parametrize(
    ("records", "expected"),
    [
        (Records([0x80100010, 0x80100020], [], [], 4), "\t.balign 4\n\t.4byte 0x80100010\n"),
        (Records([0xFFFFFFFF80100010], [], [], 8), "\t.balign 8\n\t.8byte 0xffffffff80100010\n"),
    ],
)
def test_assembly(records: Records, expected: str) -> None:
    text = assembly(records, "vmlinux")
    assert expected in text
    assert '\t.section .mcount_loc, "a"' in text
    assert f"{len(records.sites)} call sites" in text


def run(*arguments: object) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "harness.image.recordmcount", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)


def linked(kind: Kind, tmp_path: Path) -> Path:
    draft = Draft(kind)
    draft.relocate(draft.first, draft.second, draft.gap)
    path = tmp_path / "vmlinux"
    path.write_bytes(draft.elf.build())
    return path


def test_command(tmp_path: Path) -> None:
    path, output = linked(KINDS[0], tmp_path), tmp_path / "mcount_loc.S"
    done = run(path, "-o", output, "-v")
    assert (done.returncode, done.stdout) == (0, "")
    assert f"{path}: 0x801000c8 is no call site: it lies in no function" in done.stderr
    assert run(path, "-o", output).stderr == ""
    assert output.read_text() == assembly(recordmcount(path.read_bytes(), ""), "vmlinux")


@pytest.mark.parametrize("content", [None, b"", b"\x7fELF\x01\x02", Draft(KINDS[0]).elf.build()])
def test_command_refuses(tmp_path: Path, content: bytes | None) -> None:
    path, output = tmp_path / "vmlinux", tmp_path / "mcount_loc.S"
    if content is not None:
        path.write_bytes(content)
    done = run(path, "-o", output)
    assert done.returncode == 2
    assert done.stderr.startswith("recordmcount: ")
    assert str(path) in done.stderr
    assert "Traceback" not in done.stderr
    assert not output.exists()


def test_command_without_pyelftools(tmp_path: Path) -> None:
    path, output = linked(KINDS[0], tmp_path), tmp_path / "mcount_loc.S"
    code = (
        "import runpy, sys; sys.modules['elftools'] = None;"
        "runpy.run_module('harness.image.recordmcount', run_name='__main__', alter_sys=True)"
    )
    command = [sys.executable, "-c", code, str(path), "-o", str(output)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert done.stderr.startswith("recordmcount: The Python package pyelftools is not installed.")
    assert "Traceback" not in done.stderr


def test_command_that_cannot_write(tmp_path: Path) -> None:
    output = tmp_path / "missing" / "mcount_loc.S"
    done = run(linked(KINDS[0], tmp_path), "-o", output)
    assert done.returncode == 2
    assert "Traceback" not in done.stderr
    assert str(output) in done.stderr


def full_disk(path: Path, text: str, encoding: str) -> int:
    with path.open("w", encoding=encoding) as file:
        file.write(text[:10])
    raise OSError(errno.ENOSPC, "No space left on device")


def test_full_disk_leaves_no_half_table(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    output = tmp_path / "mcount_loc.S"
    monkeypatch.setattr(Path, "write_text", full_disk)
    assert main([str(linked(KINDS[0], tmp_path)), "-o", str(output)]) == 2
    assert capsys.readouterr().err == f"recordmcount: {output}: No space left on device\n"
    assert not output.exists()


def test_failure_does_not_remove_what_is_no_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    output = tmp_path / "pipe"
    os.mkfifo(output)
    reader = os.open(output, os.O_RDONLY | os.O_NONBLOCK)
    monkeypatch.setattr(Path, "write_text", full_disk)
    assert main([str(linked(KINDS[0], tmp_path)), "-o", str(output)]) == 2
    os.close(reader)
    assert output.exists()
