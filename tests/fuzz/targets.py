# SPDX-License-Identifier: MIT
"""All readers of untrusted data, each with valid inputs."""

import io
import random
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

from dwarf_builder import sample
from graph_files import NESTED, graph_trace
from guest_drafts import KINDS, Draft
from harness.config import load_config, load_port, resources
from harness.debugger.records import parse_record
from harness.image import Image
from harness.image.layout import Structure
from harness.image.recordmcount import assembly, recordmcount
from harness.image.structures import MAX_SIZE, Structures
from harness.matrix.history import History
from harness.matrix.model import DEFAULT, load_matrix
from harness.matrix.result import (
    CellFindings,
    read_findings,
    read_result,
    write_findings,
    write_result,
)
from harness.matrix.rundir import open_run, read_run
from harness.record.limit import keep_first, total_events
from harness.report import VIEWS, report_bytes
from harness.ring import (
    FIXED_SIZE,
    PageFormat,
    RingHeader,
    header_length,
    mark_lost,
    rest_of_page,
)
from harness.trace import (
    EventFormat,
    TraceDatReader,
    difference_json,
    difference_text,
    event_formats,
    parse_filters,
    parse_syscall,
    stat_json,
    stat_text,
    trace_difference,
    trace_statistics,
)
from matrix_drafts import RESULT
from support.ring_model import RingModel
from test_image_threads import array
from test_image_threads import entry as thread_entry
from trace_files import FORMATS, function_trace

Look = Callable[[bytes, random.Random, Path], object]
"""Read an input to its end; the directory is for files of its own."""


@dataclass(frozen=True)
class Target:
    """A reader and valid inputs; ``begins`` recognises files of a corpus for it."""

    name: str
    seeds: tuple[bytes, ...]
    look: Look
    begins: bytes = b""


TRACES = tuple(
    made
    for form in FORMATS
    for made in (function_trace(form, 5), graph_trace(form, NESTED), function_trace(form, 3, 3))
)
FILTERS = (
    b"function: ip == do_work && CPU == 0",
    b"func*,funcgraph_exit: (duration > 1000 || !(depth < 2)) && COMM ~ 'w*'",
    b'sched/sched_switch: prev_comm == "task" && next_pid & 0x10',
)


READER = TraceDatReader(io.BytesIO(TRACES[1]))
FORMATS_OF_FILTERS = list(READER.formats.values())
EVENTS_OF_FILTERS = list(READER.events())


def look_at_trace(data: bytes, chance: random.Random, directory: Path) -> None:
    """One view of a trace.dat, its statistics, its difference from another, or a filter."""
    reader = TraceDatReader(io.BytesIO(data))
    view = chance.choice((*VIEWS, "stat", "diff"))
    if view == "stat":
        sums = trace_statistics(reader)
        assert stat_json(sums)
        assert list(stat_text(sums))
        return
    if view == "diff":
        other = TraceDatReader(io.BytesIO(TRACES[reader.tracer == "function_graph"]))
        if reader.tracer == other.tracer:
            found = trace_difference(reader, other)
            assert difference_json(found, ("a", "b"))
            assert all(line.isprintable() for line in difference_text(found, ("a", "b"), most=9))
        return
    filters = ["func*: pid == 1"] if chance.random() < 0.1 else []
    for line in report_bytes(reader, view, filters):
        if view != "perfetto":
            # The page's own script has tabs.
            text = line.decode().replace("\t", "" if view == "html" else "\t")
            assert all(part.isprintable() for part in text.split("\n"))


def look_at_filter(data: bytes, chance: random.Random, directory: Path) -> None:
    keep = parse_filters([data.decode("utf-8", "surrogateescape")], FORMATS_OF_FILTERS)
    assert keep is not None
    for event in EVENTS_OF_FILTERS:
        keep(event)


def look_at_format(data: bytes, chance: random.Random, directory: Path) -> None:
    form = EventFormat.parse(data.decode("utf-8", "backslashreplace"), "system")
    EventFormat.parse(form.text, "system")


def look_at_page(data: bytes, chance: random.Random, directory: Path) -> None:
    """All reads of a guest's pages before they are written to a file."""
    form = PageFormat(*chance.choice(FORMATS))
    page = data[:4096].ljust(4096, b"\xa5")
    for change in (lambda: mark_lost(page, form, 3), lambda: rest_of_page(page, form, 0)):
        change()
    streams = [io.BytesIO(page + data), io.BytesIO(page)]
    events, _ = total_events(streams, form)
    keep_first(streams, form, events // 2)


def look_at_header(data: bytes, chance: random.Random, directory: Path) -> None:
    size = header_length(data[:FIXED_SIZE], "big")
    for cpu in RingHeader.parse(data[:size], "big").cpus:
        assert len(cpu.unread_pages) <= cpu.nr_pages


def look_at_threads(data: bytes, chance: random.Random, directory: Path) -> None:
    found = array()
    entries = data[: found.size].ljust(found.size, b"\0")
    for thread in found.threads(entries):
        assert str(thread).replace("\t", "").isprintable()
    found.names(entries)


def look_at_image(data: bytes, chance: random.Random, directory: Path) -> None:
    image = Image(data, "vmlinux")
    assert all(line.isprintable() for line in image.kallsyms().splitlines())
    assert all(image.symbolize(one.address).isprintable() for one in image.functions)
    looks = (lambda: image.sites, lambda: image.build_id, lambda: image.read(image.entry, 64))
    chance.choice(looks)()


def look_at_structures(data: bytes, chance: random.Random, directory: Path) -> None:
    """Sections one after the other; the input has their lengths."""
    first, second = int.from_bytes(data[:2], "big"), int.from_bytes(data[2:4], "big")
    rest = data[4:]
    sections = {
        ".debug_info": rest[:first],
        ".debug_abbrev": rest[first : first + second],
        ".debug_str": rest[first + second :],
    }
    types = Structures(sections, chance.choice(("big", "big", "little")), "vmlinux", 32)
    looks = (lambda: types.struct("sample"), lambda: types.typedef("color_t"))
    found = chance.choice(looks)()
    assert found.size <= MAX_SIZE
    for member in found.members.values() if isinstance(found, Structure) else ():
        assert member.name.replace("\t", "").isprintable()
        assert len(member.raw(bytes(found.size))) == member.size


def look_at_link(data: bytes, chance: random.Random, directory: Path) -> None:
    assert assembly(recordmcount(data, "vmlinux"), "vmlinux").isascii()


def look_at_syscalls(data: bytes, chance: random.Random, directory: Path) -> None:
    name, _, rest = data.partition(b"\0")
    declaration, _, numbers = rest.partition(b"\0")
    assert parse_syscall(3, name, declaration, 4, len(numbers)).formats(4)


def look_at_answer(data: bytes, chance: random.Random, directory: Path) -> None:
    parse_record(data)


def look_at_config(data: bytes, chance: random.Random, directory: Path) -> None:
    file = directory / "board.toml"
    file.write_bytes(data)
    load_config(file)


def look_at_port(data: bytes, chance: random.Random, directory: Path) -> None:
    (directory / "include" / "asm").mkdir(parents=True, exist_ok=True)
    for name in ("mcount.S", "ftrace.c", "include/asm/ftrace.h"):
        (directory / name).touch()
    (directory / "port.toml").write_bytes(data)
    load_port(directory)


def look_at_matrix(data: bytes, chance: random.Random, directory: Path) -> None:
    file = directory / "matrix.toml"
    file.write_bytes(data)
    load_matrix(file)


def look_at_result(data: bytes, chance: random.Random, directory: Path) -> None:
    (directory / "result.json").write_bytes(data)
    found = read_result(directory)
    history = directory / "new.sqlite"
    history.unlink(missing_ok=True)
    with History(history) as kept:
        kept.add([found])
        kept.attempts()


def look_at_findings(data: bytes, chance: random.Random, directory: Path) -> None:
    (directory / "findings.json").write_bytes(data)
    read_findings(directory)


def look_at_run(data: bytes, chance: random.Random, directory: Path) -> None:
    (directory / "run.json").write_bytes(data)
    read_run(directory)


def look_at_history(data: bytes, chance: random.Random, directory: Path) -> None:
    file = directory / "history.sqlite"
    for left in directory.glob("history.sqlite*"):
        left.unlink()
    file.write_bytes(data)
    with History(file) as history:
        history.runs()
        history.attempts()
        history.add([replace(RESULT, id="new")])


def _written(directory: Path, write: Callable[[Path], object], name: str) -> bytes:
    write(directory)
    return (directory / name).read_bytes()


def _history(directory: Path) -> None:
    with History(directory / "history.sqlite") as history:
        history.add([RESULT, replace(RESULT, id="a2", cell="other/dynamic/gcc-O2/calls")])


def _sections() -> bytes:
    info, abbrev, strings = sample().sections().values()
    return b"".join(
        (len(info).to_bytes(2, "big"), len(abbrev).to_bytes(2, "big"), info, abbrev, strings)
    )


def _answers() -> tuple[bytes, ...]:
    return (
        b'12^done,stack=[frame={level="0",addr="0x80100000",func="main",args=[]}]',
        b'*stopped,reason="breakpoint-hit",bkptno="1",frame={addr="0x1"},thread-id="1"',
        b'7^done,memory=[{begin="0x0",offset="0x0",end="0x4",contents="00010203"}]',
        b'~"text\\n"',
    )


def targets(directory: Path) -> list[Target]:
    """All targets; inputs are made in ``directory``."""
    drafts = []
    for kind in KINDS:
        draft = Draft(kind)
        if kind.form == "mcount":
            draft.relocate(draft.first, draft.second, draft.gap)
        drafts.append(draft.elf.build())
    elf = tuple(drafts)
    ring = RingModel()
    for ip in range(3):
        ring.event(ip)
    pages = tuple(trace[-4096:] for trace in TRACES)
    configs = tuple(f.read_bytes() for f in sorted(resources.configs_directory().glob("*.toml")))
    ports = (resources.guests_directory() / "ports").glob("*/port.toml")
    texts = tuple(form.text.encode() for size in (4, 8) for form in event_formats(size))
    calls = (b"sys_write\0(int fd, const char * buf, size_t count)\0" + bytes(3),)
    findings = CellFindings(RESULT.verdicts, 12)
    return [
        Target("trace.dat", TRACES, look_at_trace, b"\x17\x08D"),
        Target("filter", FILTERS, look_at_filter),
        Target("format", texts, look_at_format, b"name: "),
        Target("page", pages, look_at_page),
        Target("ring-header", (bytes(ring.memory[:400]),), look_at_header),
        Target("threads", (thread_entry(7, b"task".ljust(16, b"\0")) * 3,), look_at_threads),
        Target("elf", elf, look_at_image, b"\x7fELF"),
        Target("structures", (_sections(),), look_at_structures),
        Target("recordmcount", elf, look_at_link, b"\x7fELF"),
        Target("syscalls", calls, look_at_syscalls),
        Target("gdb-answer", _answers(), look_at_answer),
        Target("config", configs, look_at_config),
        Target("port", tuple(file.read_bytes() for file in ports), look_at_port),
        Target("matrix", (DEFAULT.read_bytes(),), look_at_matrix),
        Target(
            "result",
            (_written(directory, lambda at: write_result(at, RESULT), "result.json"),),
            look_at_result,
        ),
        Target(
            "findings",
            (_written(directory, lambda at: write_findings(at, findings), "findings.json"),),
            look_at_findings,
        ),
        Target(
            "run", (_written(directory, lambda at: open_run(at, "1111"), "run.json"),), look_at_run
        ),
        Target("history", (_written(directory, _history, "history.sqlite"),), look_at_history),
    ]
