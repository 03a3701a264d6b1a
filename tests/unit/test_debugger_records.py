# SPDX-License-Identifier: MIT
"""Lines that gdb 13 printed, and what becomes of them when they are damaged."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pygdbmi.gdbmiparser import parse_response

from harness.debugger.records import Kind, MemoryBlock, parse_record
from harness.debugger.state import Stop, stop_from

STOPPED = (
    b'*stopped,reason="breakpoint-hit",disp="keep",bkptno="1",frame={addr="0x000000004020001c",'
    b'func="leaf",args=[],file="a.S",fullname="/tmp/a.S",line="12",arch="aarch64"},thread-id="1",'
    b'stopped-threads="all"'
)
INTERRUPTED = (
    b'*stopped,reason="signal-received",signal-name="SIGINT",signal-meaning="Interrupt",'
    b'frame={addr="0x80100010",func="loop",args=[],arch="mips:isa32r2"},thread-id="2",'
    b'stopped-threads="all"'
)
ATTACHED = (
    b'*stopped,frame={addr="0xbfc00000",func="??",args=[],arch="mips:isa32r2"},thread-id="1",'
    b'stopped-threads="all"'
)
THREADS = (
    b'8^done,threads=[{id="1",target-id="Thread 1.1",details="CPU#0 [running]",frame={level="0",'
    b'addr="0x8010001c",func="leaf",args=[],arch="mips:isa32r2"},state="stopped"}],'
    b'current-thread-id="1"'
)
FRAMES = (
    b'11^done,stack=[frame={level="0",addr="0x8010001c",func="leaf",arch="mips:isa32r2"},'
    b'frame={level="1",addr="0x80100010",func="loop",arch="mips:isa32r2"}]'
)
MEMORY = (
    b'25^done,memory=[{begin="0x0000000000000010",offset="0x0000000000000000",'
    b'end="0x0000000000000014",contents="00ff10a5"}]'
)
REGISTERS = (
    b'31^done,register-values=[{number="0",value="0x00000000"},{number="37",value="-5"},'
    b'{number="38",value="{f = 0x00000001, d = 0x0}"}]'
)
ERROR = (
    b'27^error,msg="Cannot execute this command while the target is running.\\nUse the '
    b'\\"interrupt\\" command to stop the target\\nand then try again."'
)
REAL = [
    STOPPED,
    INTERRUPTED,
    ATTACHED,
    THREADS,
    FRAMES,
    MEMORY,
    REGISTERS,
    ERROR,
    b"7^done",
    b"(gdb) ",
]


def test_stop_at_a_breakpoint():
    record = parse_record(STOPPED)
    assert (record.kind, record.message) == (Kind.ASYNC, "stopped")
    assert stop_from(record.payload) == Stop("breakpoint-hit", 1, 1, 0x4020001C, None)


def test_stop_by_an_interrupt():
    stop = stop_from(parse_record(INTERRUPTED).payload)
    assert stop == Stop("signal-received", None, 2, 0x80100010, "SIGINT")


def test_stop_of_attaching_has_no_reason():
    assert stop_from(parse_record(ATTACHED).payload).reason == "attached"


def test_answer_with_a_token():
    record = parse_record(THREADS)
    assert (record.kind, record.token, record.message) == (Kind.RESULT, 8, "done")
    assert record.payload["threads"][0]["details"] == "CPU#0 [running]"


def test_list_of_frames():
    frames = parse_record(FRAMES).payload["stack"]
    assert [frame["func"] for frame in frames] == ["leaf", "loop"]


def test_error_is_unescaped():
    message = parse_record(ERROR).payload["msg"]
    assert message.splitlines()[1] == 'Use the "interrupt" command to stop the target'


@pytest.mark.parametrize(
    ("line", "kind", "text"),
    [
        (rb'~"Breakpoint 1, leaf ()\n"', Kind.CONSOLE, "Breakpoint 1, leaf ()\n"),
        (rb'&"say \"no\"\n"', Kind.LOG, 'say "no"\n'),
        (rb'@"from the stub\t\033[2J"', Kind.TARGET, "from the stub\t\x1b[2J"),
        (b"(gdb) ", Kind.PROMPT, ""),
        (b"terminate called after throwing", Kind.OTHER, "terminate called after throwing"),
        (b"", Kind.OTHER, ""),
    ],
)
def test_streams_and_others(line, kind, text):
    record = parse_record(line)
    assert (record.kind, record.text) == (kind, text)


@settings(max_examples=400, deadline=None)
@given(
    st.lists(
        st.sampled_from(
            [r"\n", r"\t", r"\r", r"\"", r"\\", r"\033", "a", "n", "u", "{", "é", "\x01"]
        )
    )
)
def test_a_stream_has_the_text_that_pygdbmi_reads(pieces):
    line = f'~"{"".join(pieces)}"'
    assert parse_record(line.encode()).text == parse_response(line)["payload"]


def test_memory_is_bytes():
    record = parse_record(MEMORY)
    assert (record.kind, record.token, record.message) == (Kind.RESULT, 25, "done")
    assert record.payload == {"memory": [MemoryBlock(0x10, b"\x00\xff\x10\xa5")]}


def test_registers_are_numbers_and_values():
    record = parse_record(REGISTERS)
    assert (record.kind, record.token, record.message) == (Kind.RESULT, 31, "done")
    assert record.payload == {
        "register-values": [
            {"number": "0", "value": "0x00000000"},
            {"number": "37", "value": "-5"},
            {"number": "38", "value": "{f = 0x00000001, d = 0x0}"},
        ]
    }


def test_registers_in_another_form_are_read_all_the_same():
    record = parse_record(REGISTERS.replace(b'"-5"', rb'"\"x\""'))
    assert record.payload["register-values"][1] == {"number": "37", "value": '"x"'}


@pytest.mark.parametrize("damage", [(b'"}]', b'"}'), (b'number="0"', b"number=0")])
def test_damaged_registers_are_no_registers(damage):
    record = parse_record(REGISTERS.replace(*damage, 1))
    assert (record.kind, record.token, record.payload) == (Kind.MALFORMED, 31, {})


def test_memory_with_a_hole():
    first, second = (
        b'{begin="0x%x",offset="0x0",end="0x%x",contents="%s"}' % block
        for block in ((0x10, 0x12, b"aabb"), (0x20, 0x21, b"cc"))
    )
    record = parse_record(b"1^done,memory=[" + first + b"," + second + b"]")
    assert record.payload["memory"] == [MemoryBlock(0x10, b"\xaa\xbb"), MemoryBlock(0x20, b"\xcc")]


@pytest.mark.parametrize(
    "damage",
    [
        (b"00ff10a5", b"00ff10a"),
        (b"00ff10a5", b"00ff10a5b7"),
        (b"00ff10a5", b"00ff10zz"),
        (b'"}]', b'"}'),
        (b'"}]', b""),
        (b'end="0x0000000000000014"', b'end="0x0000000000000000"'),
        (b'end="0x0000000000000014"', b'end="0xfffffffffffffffffff"'),
    ],
)
def test_damaged_memory_is_no_memory(damage):
    record = parse_record(MEMORY.replace(*damage))
    assert (record.kind, record.token, record.payload) == (Kind.MALFORMED, 25, {})


@pytest.mark.parametrize(
    "line",
    [
        b'1^done,threads=[{id="1"',
        b"1^done,threads=[",
        b"1^done,threads=",
        b"1^done,a=b",
        b'1^done,a="b',
        b'1^done,a="b"}',
        b'1^done,a=["b"}]',
        b"1^done," + b"a=[" * 5000,
        b"1^done," + b"a={" * 40 + b"}" * 40,
        rb'1^done,a="\x"',
        b'1^done,{"a"}',
        b'1^done,"a"',
    ],
)
def test_damaged_answer_keeps_its_token(line):
    """pygdbmi alone loops for ever on some of these."""
    record = parse_record(line)
    assert (record.kind, record.token) == (Kind.MALFORMED, 1)
    assert len(record.text) <= 200


@pytest.mark.parametrize("line", [b"~", b'~"', b'~"a', rb'~"a\"', b'~"a"b', b"~a"])
def test_damaged_stream(line):
    assert parse_record(line).kind is Kind.MALFORMED


@settings(max_examples=400, deadline=None)
@given(st.sampled_from(REAL), st.data())
def test_no_damage_raises_or_hangs(line, data):
    position = data.draw(st.integers(0, len(line)))
    end = data.draw(st.integers(position, len(line)))
    middle = data.draw(st.binary(max_size=4) | st.sampled_from([b"[", b"{", b'"', b"\\", b"="]))
    parse_record(line[:position] + middle + line[end:])


@settings(max_examples=200, deadline=None)
@given(st.binary(max_size=60))
def test_no_line_raises(line):
    parse_record(line)
    parse_record(b"1^done,a=" + line)
    parse_record(b"1^done,memory=[" + line)


@pytest.mark.parametrize("line", [MEMORY, REGISTERS, FRAMES, STOPPED])
def test_a_token_of_more_digits_than_any_number_has(line):
    assert parse_record(b"9" * 5000 + line).token is None
