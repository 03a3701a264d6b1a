# SPDX-License-Identifier: MIT
"""Replays of recorded runs: each event is found again, and every instruction before it."""

import random
import re
from pathlib import Path

import pytest

from harness.config import list_configs, load_config
from harness.errors import GdbError, UsageError
from harness.guest import start
from harness.kbuild import GuestSpec
from harness.replay import Recorder, memory_writer, open_replay, register_writer
from harness.ring import RingHeader, decode_page
from harness.ring.header import FIXED_SIZE, header_length
from support.command import harness

DOCUMENT = Path(__file__).parents[2] / "docs" / "replay.rst"
CONFIGS = [load_config(name) for name in list_configs()]
ONE_CPU = [one.name for one in CONFIGS if one.qemu.smp == 1 and one.saves_clock]
SEVERAL = next(one.name for one in CONFIGS if one.qemu.smp > 1)
WITHOUT_CLOCK = next(one.name for one in CONFIGS if one.qemu.smp == 1 and not one.saves_clock)


def pytest_generate_tests(metafunc):
    """Every config with one CPU, also those that other tests leave out."""
    own = metafunc.definition.get_closest_marker("parametrize")
    if "config" in metafunc.fixturenames and (own is None or "config" not in own.args[0]):
        metafunc.parametrize("config", ONE_CPU)


def record(config, file, *options):
    done = harness("record", "-c", config, "--replayable", "-o", file, *options)
    assert done.returncode == 0, done.stderr
    return file


def script(file, *lines):
    return harness("shell", "--replay", file, input="\n".join(lines) + "\n")


def newest(guest):
    """The time of the last event in the ring buffer of the replayed guest."""
    image, debugger = guest.image, guest.debugger
    order, at = image.byteorder, image.address_of("ring_buffer")
    size = header_length(debugger.read_memory(at, FIXED_SIZE), order)
    header = RingHeader.parse(debugger.read_memory(at, size), order)
    (cpu,) = header.cpus
    form = header.page_format
    pages = [
        debugger.dump_memory(cpu.page_address(one), form.page_size) for one in cpu.unread_pages[-2:]
    ]
    return [record.stamp for page in pages for record in decode_page(page, form)][-1]


def at_its_place(guest, one):
    """Whether the guest is at the instruction of an event, and has written those before it."""
    pc = guest.debugger.read_register(guest.image.isa.abi.pc_register) & guest.image.isa.mask
    if one.event.name == "function":
        return pc == one.event.ip & guest.image.isa.mask and guest.events.written == one.written
    return guest.events.next == one.number + 1 and newest(guest) == one.event.stamp


def test_two_recordings_are_equal(config, tmp_path):
    options = ("-p", "function", "-e", "sched:*", "--workload", "recursion")
    first, second = (record(config, tmp_path / name, *options) for name in ("1.dat", "2.dat"))
    assert first.read_bytes() == second.read_bytes()


@pytest.mark.parametrize("tracer", ["function", "function_graph"])
def test_every_event_is_found(config, tmp_path, tracer, thorough):
    file = record(config, tmp_path / "x.dat", "-p", tracer, "--workload", "recursion")
    chosen = random.Random(config)
    with open_replay(file) as guest:
        every = guest.events.all
        for one in chosen.sample(every, 20 if thorough else 8):
            guest.events.goto(one)
            if one.event.name == "function":
                assert at_its_place(guest, one), one
            else:
                place = guest.events.stands_at(one.number)
                assert place or guest.events.next == one.number + 1, one


def test_events_are_found_behind_drains(config, tmp_path, thorough):
    file = record(config, tmp_path / "x.dat", "--workload", "interpreter", "--buffer-size", "64")
    chosen = random.Random(config)
    with open_replay(file) as guest:
        for one in chosen.sample(guest.events.all, 12 if thorough else 6):
            guest.events.goto(one)
            assert at_its_place(guest, one), one
            guest.events.goto(guest.events.numbered(one.number + 1))
            assert newest(guest) == one.event.stamp, one


def test_calls_of_a_module_are_found(config, tmp_path):
    options = ("-p", "function_graph", "--module", "numbers", "--workload", "modules")
    with open_replay(record(config, tmp_path / "x.dat", *options)) as guest:
        guest.events.goto(guest.events.of_function("num_many", 2))
        place = guest.replay.icount
        pc = guest.debugger.read_register(guest.image.isa.abi.pc_register)
        assert guest.image.symbolize(pc & guest.image.isa.mask).startswith("num_many")
        assert [module.name for module in guest.modules.loaded] == ["numbers"]
        assert guest.sources.at(guest.image.source_line(pc))
        # Back over the calls by which the debugger loaded the module, and there again.
        first = guest.image.address_of("load_module")
        assert guest.replay.back_to(first)
        guest.replay.goto(place)
        assert guest.debugger.read_register(guest.image.isa.abi.pc_register) == pc


def test_a_function_is_called_as_by_gdb(config, tmp_path):
    spec = GuestSpec.of(load_config(config), "calls")
    recorder = Recorder(spec, tmp_path / "x.dat")
    with start(spec, replay=recorder.log, begins=recorder.begins) as guest:
        debugger = guest.debugger
        before = debugger.registers()
        found = guest.call("leaf", 4)
        assert debugger.registers() == before
        number = debugger.breakpoints.insert("leaf")
        with pytest.raises(GdbError, match="stopped inside leaf"):
            guest.call("leaf", 4)
        debugger.breakpoints.delete(number)
        debugger.journal = None
        debugger.write_registers(before)
        assert guest.call("leaf", 4) == found != guest.call("leaf", 5)


def test_one_instruction_back_is_where_it_was(config, tmp_path):
    with open_replay(record(config, tmp_path / "x.dat", "-p", "function")) as guest:
        guest.events.goto(guest.events.of_function("leaf", 2))
        start, trail = guest.replay.icount, []
        for _ in range(40):
            trail.append((guest.replay.icount, guest.debugger.registers()))
            guest.debugger.step_instruction()
        assert [place for place, _ in trail] == list(range(start, start + 40))
        for place, registers in reversed(trail):
            guest.replay.goto(place)
            assert guest.debugger.registers() == registers, place


def test_the_writer_of_a_counter_and_of_a_register(config, tmp_path):
    with open_replay(record(config, tmp_path / "x.dat", "-p", "function")) as guest:
        isa, debugger = guest.image.isa, guest.debugger
        guest.events.goto(guest.events.numbered(40))
        assert memory_writer(guest.replay, debugger, guest.events._counter, 4)
        assert guest.events.written == 39
        debugger.step_instruction()
        assert guest.events.written == 40
        name = isa.abi.argument_registers[0]
        after = debugger.read_register(name)
        assert register_writer(guest.replay, debugger, name)
        assert debugger.read_register(name) != after
        debugger.step_instruction()
        assert debugger.read_register(name) == after


def test_a_debuggers_write_is_told_as_such(tmp_path):
    file = record("mips-malta", tmp_path / "x.dat", "-p", "function")
    with open_replay(file) as guest:
        (site,) = [site for site in guest.image.sites if site.function == "leaf"]
        guest.events.goto(guest.events.of_function("leaf", 1))
        found = memory_writer(guest.replay, guest.debugger, site.address & guest.image.isa.mask, 4)
        assert found.debugger
        with pytest.raises(UsageError, match="this is a replay"):
            guest.debugger.write_memory(site.address, bytes(4))


def test_the_session_of_a_replay(tmp_path):
    file = record("mips-malta", tmp_path / "x.dat", "-p", "function_graph")
    done = script(
        file,
        *(
            "goto leaf:2",
            "when",
            "back 3",
            "reverse-stepi",
            "when",
            "previous",
            "next -F 'funcgraph_exit'",
        ),
        *("report | head -4", "goto 0", "reverse-continue", "when"),
    )
    assert (done.returncode, "Traceback" in done.stderr) == (0, False), done.stderr
    places = [int(place) for place in re.findall(r"instruction @(\d+) of", done.stdout)]
    assert places[1] == places[0]
    assert places[2] == places[0] - 3
    assert places[3] == places[0] - 4
    assert "# tracer: function_graph" in done.stdout


def test_an_event_of_a_report_is_gone_to_by_its_number(tmp_path):
    file = record("mips-malta", tmp_path / "x.dat", "-p", "function_graph", "--workload", "returns")
    shown = harness("report", file, "-O", "number").stdout
    lines = re.findall(r"^ *(\d+) .*\| +(\w+)\(\)[ ;{]", shown, re.MULTILINE)
    number, function = random.Random(1).choice(lines)
    done = script(file, f"goto {number}", "when")
    assert re.search(rf"at event {number}: .*\b{function}\(\)", done.stdout), done.stdout


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda file, run: run.unlink(), "cannot be replayed"),
        (lambda file, run: run.write_text("{}"), "is damaged"),
        (lambda file, run: run.write_text(run.read_text()[:-100]), "is damaged"),
        (lambda file, run: file.write_bytes(file.read_bytes() + b"x"), "is not the trace that"),
        (lambda file, run: (run.parent / "vmlinux").unlink(), "there is no"),
        (lambda file, run: (run.parent / "inputs").unlink(), "there is no"),
        (
            lambda file, run: run.write_text(run.read_text().replace('"qemu": "', '"qemu": "1', 1)),
            "was recorded with QEMU 1",
        ),
        (
            lambda file, run: run.write_text(
                re.sub('(build_id": ")..', r"\g<1>ff", run.read_text())
            ),
            "is not the image that was recorded",
        ),
    ],
)
def test_what_cannot_be_replayed_is_refused(tmp_path, change, message):
    file = record("mips-malta", tmp_path / "x.dat")
    change(file, file.with_name("x.dat.replay") / "manifest.json")
    done = script(file, "when")
    assert (done.returncode, done.stdout) == (2, ""), done.stderr
    assert message in done.stderr
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize(
    ("name", "message"),
    [(SEVERAL, "QEMU replays machines with one"), (WITHOUT_CLOCK, "cannot restore the clock")],
)
def test_what_cannot_be_recorded_for_a_replay_is_refused(tmp_path, name, message):
    file = tmp_path / "x.dat"
    done = harness("record", "-c", name, "--replayable", "-o", file)
    assert done.returncode == 2, done.stderr
    assert message in done.stderr
    assert list(tmp_path.iterdir()) == []


def test_timer_interrupts_that_qemu_forgets_are_told(tmp_path):
    file = record("mips-malta", tmp_path / "x.dat", "--workload", "threads", "--tick", "1000")
    done = script(file, "when")
    assert done.returncode == 2
    assert "do not hold the timer of this machine" in done.stderr


@pytest.mark.parametrize(
    ("config", "frame", "offset"),
    [("mips-malta", "ra at", 0), ("aarch64-virt", "Previous frame's sp is", 8)],
)
def test_the_walk_of_the_document(tmp_path, config, frame, offset):
    """Where the overwritten address lies depends on the compiler; gdb's words say it."""
    text = DOCUMENT.read_text()
    source = re.search(r"``smash.c``::\n\n((?:    .*\n|\n)+)", text)[1]
    (tmp_path / "smash.c").write_text(re.sub("(?m)^    ", "", source))
    walk = re.findall(r"(?m)^    \$ (harness .*)$", text)
    assert walk[0].startswith("harness record -c mips-malta")
    done = harness(*walk[0].replace("mips-malta", config).split()[1:], cwd=tmp_path)
    assert "the guest panicked" in done.stderr
    lines = re.findall(r"(?m)^    > (.*)$", text)
    assert len(lines) == 5
    assert lines[4].startswith("who-wrote 0x")
    seen = replayed(tmp_path / "smash.dat", lines[:3])
    place = int(re.search(rf"{frame} (0x\w+)", seen)[1], 16) + offset
    shown = replayed(tmp_path / "smash.dat", [*lines[:4], f"who-wrote {place:#x}"]).splitlines()
    assert "room[i] = 2 * i + 1;" in shown[-2]
    for line in re.findall(r"(?m)^    ([^$>\s].*)$", text.split("> goto")[1]):
        assert line.rstrip() in [one.rstrip() for one in shown], line


def replayed(file, lines):
    shown = script(file, *lines)
    assert shown.returncode == 0, shown.stderr
    return shown.stdout
