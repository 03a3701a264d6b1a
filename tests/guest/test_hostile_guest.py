# SPDX-License-Identifier: MIT
"""A guest with impossible data: an error at once, and little of it is read."""

import resource
import shutil

import pytest

from harness import boot
from harness.config import resources
from harness.errors import GuestError
from support.command import harness
from tests.support.configs import others

CONFIGS = ("mips-malta", "mips64-malta", "aarch64-virt-smp", *others())
LIMIT = 1 << 30
"""Bytes that the harness may write to a file while a guest wants more written."""

WORKLOAD = """\
#include <stdint.h>
#include <linux/ring_buffer.h>
#ifndef LIE
#define LIE (void)cpu
#endif
__attribute__((noipa)) int step(int x) { return x + 1; }
int workload(void)
{
        struct ring_buffer_per_cpu *cpu = &ring_buffer.cpu[0];
        int x = 0;

        (void)cpu;
        for (int i = 0; i < 20; i++)
                x = step(x);
        LIE;
        for (;;)
                __asm__ volatile("");
}
"""
LIES = {
    "many-pages": (
        "cpu->max_pages = cpu->nr_pages = 1 << 18; cpu->tail = cpu->head + (1 << 18) - 1;",
        "the ring buffer header has cpu[0].pages",
    ),
    "device": (
        "cpu->pages = sizeof(long) == 8 ? 0x08000000 : 0xb8000000; cpu->tail = cpu->head + 3;",
        "the ring buffer header has cpu[0].pages",
    ),
    "nowhere": (
        "cpu->pages = 0xffffffffff000000ull & (unsigned long)-1;",
        "the ring buffer header has cpu[0].pages",
    ),
    "entries": ("cpu->first_entry = 8;", "the ring buffer header has cpu[0].first_entry"),
}


@pytest.fixture
def workload(tmp_path):
    def write(lie):
        path = tmp_path / "lies.c"
        path.write_text(f"#define LIE {lie}\n{WORKLOAD}")
        return path

    return write


def within_limit():
    resource.setrlimit(resource.RLIMIT_FSIZE, (LIMIT, LIMIT))


@pytest.mark.parametrize("lie", LIES)
@pytest.mark.parametrize("name", CONFIGS)
def test_a_lie_about_where_and_how_much_is_the_guests_fault(tmp_path, workload, name, lie):
    code, said = LIES[lie]
    done = harness(
        *("record", "-c", name, "--workload", workload(code), "-o", tmp_path / "x.dat"),
        *("--timeout", "20"),
        preexec_fn=within_limit,
    )
    assert done.returncode == 1, done.stderr
    assert said in done.stderr
    assert "did not reach" not in done.stderr
    assert (tmp_path / "x.dat").exists()


def test_a_guest_that_never_ends_an_event_is_not_stepped_for_ever(tmp_path, workload):
    done = harness(
        *("record", "-c", "mips-malta", "--workload", workload("cpu->writing = 1;")),
        *("--duration", "0.5", "-o", tmp_path / "x.dat"),
    )
    assert done.returncode == 1
    assert "an event is still being written" in done.stderr


def test_the_timeout_is_for_booting_too(tmp_path):
    port = tmp_path / "port"
    shutil.copytree(resources.guests_directory() / "ports" / "mips", port)
    source = port / "ftrace.c"
    text = source.read_text()
    begins = "int ftrace_dyn_arch_init(void)\n{\n"
    assert begins in text
    source.write_text(text.replace(begins, f"{begins}\tfor (;;)\n\t\t;\n"))
    where = tmp_path / "empty"
    where.mkdir()
    done = harness("record", "-c", "mips-malta", "--port", port, "--timeout", "2", cwd=where)
    assert done.returncode == 1
    assert "did not reach workload within 2 s" in done.stderr
    assert list(where.iterdir()) == []


def test_words_of_a_guest_that_say_how_much_there_is_to_read():
    with boot("mips-malta") as guest:
        site = guest.image.sites[0]
        for count in (1 << 28, 0xFFFFFFFF):
            data = count.to_bytes(4, guest.image.byteorder)
            guest.debugger.write_memory(guest.image.symbols["ftrace_record_count"], data)
            with pytest.raises(GuestError, match="records of call sites"):
                guest.port.record_of(site)
        graph, most = guest.tracer.graph, (0xFFFFFFFF).to_bytes(4, guest.image.byteorder)
        control = guest.image.structures.struct("ftrace_graph_control")
        for name in ("nr_functions", "nr_notrace"):
            place = guest.image.symbols["ftrace_graph_control"] + control.member(name).offset
            guest.debugger.write_memory(place, most)
        assert (graph.graph_functions, graph.graph_notrace) == ([], [])


def test_system_calls_that_a_guest_describes_as_they_cannot_be():
    with boot("mips-malta") as guest:
        guest.debugger.write_memory(guest.image.symbols["__start_syscalls_metadata"], b"\x1b[2J")
        with pytest.raises(GuestError, match=r"the table of system calls of .* is damaged"):
            guest.tracer.event_control.syscalls  # noqa: B018


def test_events_that_a_guest_refuses_uncounted_are_spoken_of(tmp_path, workload):
    off = workload("ring_buffer.header.record_disabled = 1; step(x); return 0")
    done = harness("record", "-c", "mips-malta", "--workload", off, cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stdout.rstrip().endswith(
        "none was recorded or counted while record_disabled was set"
    )
    said = harness("stat", cwd=tmp_path).stdout
    assert "record_disabled was set on CPU 0: nothing was counted then" in said
    counted = harness("record", "-c", "mips-malta", cwd=tmp_path)
    assert "record_disabled" not in counted.stdout + harness("stat", cwd=tmp_path).stdout
