# SPDX-License-Identifier: MIT
"""The conversation with gdb, against programs that play gdb badly."""

import os
import sys

import pytest

from harness.debugger import Debugger, Stop
from harness.debugger.session import DEADLINE
from harness.errors import DebuggerDied, GdbError, HostError, UsageError

# Answers ^done to everything that no test gives a meaning to.
PLAYER = """\
#!{python}
import os, re, signal, sys, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # whatever it inherits, as gdb does
def say(text):
    os.write(1, text.encode())
for line in sys.stdin:
    token, command = re.match(r"(\\d*)-(.*)", line).groups()
    if command == "gdb-exit":
        break
{script}
    else:
        say(token + "^done\\n(gdb) \\n")
"""

FRAME = (
    'frame={addr=\\"0x1000\\",func=\\"f\\",args=[]},thread-id=\\"1\\",stopped-threads=\\"all\\"\\n'
)
STOPPED = f'*stopped,reason=\\"breakpoint-hit\\",bkptno=\\"7\\",{FRAME}'
CONNECTED = f"""\
    elif command.startswith("target-select"):
        say("*stopped,{FRAME}" + token + "^connected\\n(gdb) \\n")
"""


@pytest.fixture
def play(tmp_path):
    """A debugger on a gdb that follows a script: branches of `command`."""
    debuggers = []

    def start(script=""):
        program = tmp_path / "gdb"
        program.write_text(PLAYER.format(python=sys.executable, script=script))
        program.chmod(0o755)
        debugger = Debugger(str(program))
        debuggers.append(debugger)
        return debugger

    yield start
    for debugger in debuggers:
        debugger.close()


@pytest.fixture
def connected(play):
    def start(script=""):
        debugger = play(CONNECTED + script)
        debugger.connect("localhost:1")
        return debugger

    return start


def test_answer(play):
    debugger = play("""\
    elif command == "hello":
        say(token + '^done,value="there"\\n(gdb) \\n')
""")
    assert debugger.command("-hello") == {"value": "there"}


def test_refusal_in_gdbs_own_words(play):
    debugger = play("""\
    elif command == "hello":
        say(token + '^error,msg="No \\\\"symbol\\\\" table."\\n')
""")
    with pytest.raises(GdbError, match='No "symbol" table'):
        debugger.command("-hello")
    assert debugger.command("-other") == {}


def test_every_piped_command_is_answered_before_the_error_is_raised(play):
    debugger = play("""\
    elif command == "bad":
        say(token + '^error,msg="bad"\\n')
    elif command == "good":
        say(token + '^done,value="good"\\n')
""")
    with pytest.raises(GdbError):
        debugger.session.exchange(["-bad", "-good"], DEADLINE)
    assert debugger.session.exchange(["-good", "-good"], DEADLINE) == [({"value": "good"}, "")] * 2


def test_answer_that_makes_no_sense(play):
    debugger = play("""\
    elif command == "hello":
        say(token + '^done,threads=[{id="1"\\n')
""")
    with pytest.raises(GdbError, match="not valid MI"):
        debugger.command("-hello")


def test_deadline_of_a_command_and_its_late_answer(play):
    debugger = play("""\
    elif command == "late":
        late = token
    elif command == "hello":
        say(late + '^done,value="late"\\n' + token + '^done,value="now"\\n')
""")
    with pytest.raises(DebuggerDied, match="did not answer '-late' in time"):
        debugger.command("-late", deadline=0.05)
    assert debugger.command("-hello") == {"value": "now"}
    assert debugger.session._answers == {}


def test_death_is_told_with_the_last_words(play):
    debugger = play("""\
    elif command == "die":
        print("internal-error: oops\\x1b[2J", file=sys.stderr)
        sys.exit(3)
""")
    with pytest.raises(DebuggerDied, match="exit status 3") as caught:
        debugger.command("-die")
    assert "internal-error: oops\\x1b[2J" in caught.value.evidence
    with pytest.raises(DebuggerDied):
        debugger.command("-hello")


def test_gdb_that_is_not_installed():
    with pytest.raises(HostError, match="gdb-nowhere is not installed") as caught:
        Debugger("gdb-nowhere")
    assert "gdb-multiarch" in caught.value.advice


def test_console_text_goes_to_its_own_command(play):
    debugger = play("""\
    elif command.startswith("interpreter-exec console"):
        said = command.split(" ", 2)[2]
        say('~"you said "\\n&"log\\\\n"\\n~' + said + "\\n" + token + "^done\\n")
""")
    assert debugger.cli(r'print "a\n"') == r'you said print "a\n"'
    assert debugger.cli("") == "you said "


def test_a_command_is_one_line(play):
    debugger = play()
    for text in ("-a\n-b", "-a\r"):
        with pytest.raises(ValueError, match="one line"):
            debugger.command(text)


def test_long_answers_in_pieces(play):
    debugger = play("""\
    elif command == "hello":
        for piece in (token + '^done,value="', *["a" * 1000] * 500, '"', "\\n"):
            say(piece)
""")
    assert debugger.command("-hello") == {"value": "a" * 500_000}


def test_more_commands_than_a_pipe_holds(play):
    debugger = play()
    words = "-" + "x" * 10_000
    assert debugger.session.exchange([words] * 500, DEADLINE) == [({}, "")] * 500


def test_a_stop_that_comes_with_the_answer_counts(connected):
    debugger = connected(f"""\
    elif command == "exec-continue":
        say(token + '^running\\n*running,thread-id="all"\\n(gdb) \\n' + "{STOPPED}")
""")
    debugger.resume()
    assert debugger.wait_stop(5) == Stop("breakpoint-hit", 7, 1, 0x1000, None)
    assert not debugger.running


RUNS = """\
    elif command == "exec-continue":
        say(token + '^running\\n*running,thread-id="all"\\n(gdb) \\n')
"""


def test_wait_ends_at_its_deadline(connected):
    debugger = connected(RUNS)
    debugger.resume()
    assert debugger.running
    assert debugger.wait_stop(0.02) is None
    assert debugger.running


def test_wait_ends_for_another_descriptor(connected):
    debugger = connected(RUNS)
    debugger.resume()
    reader, writer = os.pipe()
    try:
        os.write(writer, b"x")
        assert debugger.wait_stop(60, also=[reader, -1]) is None
    finally:
        os.close(reader)
        os.close(writer)


def test_a_reader_is_called_until_it_has_enough(connected):
    debugger = connected(RUNS)
    debugger.resume()
    reader, writer = os.pipe()
    calls = []
    try:
        os.write(writer, b"xyz")
        debugger.session.add_reader(
            reader, lambda: calls.append(os.read(reader, 1)) or len(calls) < 2
        )
        assert debugger.wait_stop(0.05) is None
    finally:
        os.close(reader)
        os.close(writer)
    assert calls == [b"x", b"y"]


def test_lost_connection(connected):
    debugger = connected("""\
    elif command == "exec-continue":
        say(token + '^running\\n*running,thread-id="all"\\n=thread-group-exited,id="i1"\\n')
""")
    debugger.resume()
    with pytest.raises(DebuggerDied, match="closed the connection"):
        debugger.wait_stop(5)
    with pytest.raises(DebuggerDied, match="no connection"):
        debugger.resume()


def test_what_needs_a_stopped_guest_says_so(connected):
    debugger = connected(RUNS)
    debugger.resume()
    for action in (debugger.resume, debugger.step_instruction):
        with pytest.raises(UsageError, match="while the guest runs"):
            action()
    with pytest.raises(UsageError, match="while the guest runs"):
        debugger.breakpoints.insert(0x1000)


MEMORY = """\
    elif command.startswith("data-read-memory-bytes"):
        _, address, size = command.split()
        begin, size = int(address, 16), int(size)
        reads = globals().get("reads", 0) + 1
        contents = (bytes([reads]) * size).hex()
        say(f'{token}^done,memory=[{{begin="0x{begin:x}",offset="0x0",end="0x{begin + size:x}",'
            f'contents="{contents}"}}]\\n')
"""


def test_memory_is_read_once_a_stop(connected):
    debugger = connected(MEMORY + RUNS)
    assert debugger.read_memory(0x1000, 4) == b"\x01" * 4
    assert debugger.read_memory(0x1010, 8) == b"\x01" * 8
    assert debugger.read_memory(0x13FE, 4) == b"\x01\x01\x02\x02"
    debugger.write_memory(0x9000, b"x")
    assert debugger.read_memory(0x1000, 4) == b"\x03" * 4
    debugger.forget()
    assert debugger.read_memory(0x1000, 4) == b"\x04" * 4


def test_endpoint_that_is_none(play, tmp_path):
    debugger = play()
    (tmp_path / "file").touch()
    for endpoint in ("", "nowhere", tmp_path / "file", "host:port", "-ex:1", "a:1\n"):
        with pytest.raises(UsageError, match="neither a unix socket nor HOST:PORT"):
            debugger.connect(endpoint)


def test_elf_that_is_none(play, tmp_path):
    debugger = play()
    with pytest.raises(UsageError, match="cannot be read"):
        debugger.symbols.load(tmp_path / "missing")
    (tmp_path / "text").write_text("text")
    with pytest.raises(UsageError, match="is not an ELF file"):
        debugger.symbols.load(tmp_path / "text")


@pytest.mark.parametrize("name", ["", "a b", "$pc", 'x"', "x;y"])
def test_names_that_are_none(connected, name):
    debugger = connected()
    with pytest.raises(UsageError):
        debugger.write_register(name, 1)
    if name != "$pc":
        with pytest.raises(UsageError):
            debugger.breakpoints.insert(name)


def test_close_ends_a_gdb_that_does_not_listen(play):
    debugger = play("""\
    elif command == "hang":
        time.sleep(600)
""")
    with pytest.raises(DebuggerDied):
        debugger.command("-hang", deadline=0.01)
    debugger.close()
    debugger.close()


class TestStream:
    """Commands whose output is shown while it comes."""

    def test_everything_that_is_printed_comes_in_order_and_warnings_last(self, play):
        debugger = play("""\
    elif command == 'interpreter-exec console "talk"':
        say('~"one\\\\n"\\n@"two\\\\n"\\n&"careful\\\\n"\\n~"three\\\\n"\\n' + token + '^done\\n')
    elif command == 'interpreter-exec console "fail"':
        say('~"one\\\\n"\\n&"No.\\\\n"\\n' + token + '^error,msg="No."\\n')
""")
        heard = []
        debugger.command_line.listener = heard.append
        reader, _ = pipe = os.pipe()
        debugger.command_line.stream("talk", reader)
        assert heard == ["one\n", "two\n", "three\n", "careful\n"]
        with pytest.raises(GdbError, match=r"No\."):
            debugger.command_line.stream("fail", reader)
        assert heard[4:] == ["one\n"]
        assert debugger.cli("hello") == ""
        for descriptor in pipe:
            os.close(descriptor)

    def test_a_command_is_ended_by_who_has_had_enough(self, play):
        debugger = play("""\
    elif command == 'interpreter-exec console "spin"':
        try:
            say('~"spinning\\\\n"\\n')
            time.sleep(60)
        except KeyboardInterrupt:
            say(token + '^error,msg="Quit"\\n')
""")
        reader, writer = os.pipe()
        debugger.command_line.listener = lambda text: os.write(writer, b"!")
        with pytest.raises(GdbError, match="Quit"):
            debugger.command_line.stream("spin", reader)
        assert debugger.command("-hello") == {}
        os.close(reader)
        os.close(writer)
