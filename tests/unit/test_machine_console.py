# SPDX-License-Identifier: MIT
"""The console: bounds, the log, death strings and waits, with the test as the guest."""

import socket
import threading

import pytest

from harness.errors import DeadlineMissed, GuestDied
from harness.machine import console as console_module
from harness.machine.console import DRAIN_LIMIT, WINDOW, Console


@pytest.fixture
def pair(tmp_path):
    ours, guest = socket.socketpair()
    guest.settimeout(10)
    console = Console(ours, tmp_path / "console.log")
    yield console, guest
    guest.close()
    console.close()


def flood(guest, data, times):
    """Print without end in view, as a thread of its own: the socket holds little."""
    thread = threading.Thread(target=lambda: [guest.sendall(data) for _ in range(times)])
    thread.start()
    return thread


def test_drain_takes_what_is_there_and_does_not_wait(pair):
    console, guest = pair
    assert console.drain()
    guest.sendall(b"one\r\ntwo\r\n")
    assert console.drain()
    assert console.tail() == "one\ntwo"
    assert console.received == 10


def test_tail_is_the_last_lines_and_harmless(pair):
    console, guest = pair
    guest.sendall(b"first\n\x1b[2J\x07\xff\x00 bell\nlast\n\n")
    console.drain()
    assert console.tail(2) == "\\x1b[2J\\x07�\\x00 bell\nlast"


def test_log_is_complete_and_raw(pair):
    console, guest = pair
    data = bytes(range(256)) * 1000
    thread = flood(guest, data, 2)
    while console.received < 2 * len(data):
        console.drain()
    thread.join()
    console.close()
    assert console.log.read_bytes() == data * 2


def test_what_is_kept_in_memory_is_bounded(pair):
    console, guest = pair
    line = b"x" * 1023 + b"\n"
    thread = flood(guest, line * 1024, 8)
    with pytest.raises(DeadlineMissed):
        console.expect("never", 1.0)
    while console.received < 8 * 1024 * 1024:
        console.drain()
    thread.join()
    assert len(console._window) <= 2 * WINDOW
    assert len(console._unmatched) <= 2 * WINDOW
    assert console._expecter._before.tell() <= 4 * WINDOW
    assert len(console.tail(10_000_000)) <= 2 * WINDOW


class Endless:
    """A socket that always has more."""

    def __init__(self):
        self.given = 0

    def setblocking(self, blocking):
        assert not blocking

    def fileno(self):
        return 0

    def recv(self, size):
        self.given += size
        assert self.given < 10 * DRAIN_LIMIT
        return b"y" * size

    def close(self):
        pass


def test_a_drain_ends_although_the_guest_never_stops_printing(tmp_path):
    endless = Endless()
    console = Console(endless, tmp_path / "console.log")
    assert console.drain()
    assert DRAIN_LIMIT <= endless.given < 2 * DRAIN_LIMIT
    console.close()


def test_log_ends_before_it_fills_the_disk(pair, monkeypatch):
    console, guest = pair
    monkeypatch.setattr(console_module, "LOG_LIMIT", 1000)
    for _ in range(20):
        guest.sendall(b"z" * 100)
        console.drain()
    assert console.log.read_bytes() == (
        b"z" * 1000 + b"\n[the log ends here: the guest prints too much]\n"
    )
    assert console.received == 2000


@pytest.mark.parametrize(
    ("pieces", "death"),
    [
        ([b"all is well, no panic\n"], None),
        ([b"Kernel panic - not syncing: x\n"], "Kernel panic - not syncing"),
        ([b"...Kernel pan", b"ic - not", b" syncing: x\n"], "Kernel panic - not syncing"),
        ([b"Unhandled exception: 4\nKernel panic - not syncing"], "Unhandled exception"),
        ([b"x" * 200_000, b"Unhandled exceptio", b"n"], "Unhandled exception"),
    ],
)
def test_death_is_noticed(pair, pieces, death):
    console, guest = pair
    for piece in pieces:
        guest.sendall(piece)
        console.drain()
    assert console.died == death


def test_expect_finds_what_was_drained_before(pair):
    console, guest = pair
    guest.sendall(b"workload: returned 42\n")
    console.drain()
    assert console.expect(r"returned (\d+)", 1).group(1) == b"42"


def test_expect_waits_and_goes_on_behind_the_match(pair):
    console, guest = pair
    timer = threading.Timer(0.05, lambda: [guest.sendall(b"ab"), guest.sendall(b"c abd\n")])
    timer.start()
    assert console.expect("abc", 10).group() == b"abc"
    assert console.expect(b"ab(.)$", 10).group(1) == b"d"
    timer.join()
    with pytest.raises(DeadlineMissed, match=r"did not print 'ab' within 0.01 s"):
        console.expect("ab", 0.01)


def test_expect_tells_of_death_with_the_whole_dump(pair):
    console, guest = pair
    guest.sendall(b"Unhandled exception: 4\n")
    console.drain()
    timer = threading.Timer(0.02, lambda: guest.sendall(b"pc 80100000\n"))
    timer.start()
    with pytest.raises(GuestDied, match="Unhandled exception") as caught:
        console.expect("never", 10)
    timer.join()
    assert "pc 80100000" in caught.value.evidence


def test_expect_finds_the_death_string_itself(pair):
    console, guest = pair
    guest.sendall(b"Kernel panic - not syncing: found\n")
    assert console.expect("not syncing: (.*)", 10).group(1) == b"found"


def test_end_of_the_console(pair):
    console, guest = pair
    guest.sendall(b"bye\n")
    guest.close()
    with pytest.raises(GuestDied, match="ended before it printed 'never'") as caught:
        console.expect("never", 10)
    assert "bye" in caught.value.evidence
    assert console.hung_up
    assert not console.drain()


def test_send(pair):
    console, guest = pair
    console.send(b"ls\n")
    assert guest.recv(100) == b"ls\n"
    with pytest.raises(DeadlineMissed):
        console.send(b"x" * 10_000_000, deadline=0.05)
    guest.close()
    with pytest.raises(GuestDied):
        console.send(b"x")


def test_close_takes_in_the_rest(pair):
    console, guest = pair
    guest.sendall(b"last words")
    console.close()
    console.close()
    assert console.log.read_bytes() == b"last words"
    assert not console.drain()


def test_full_disk_ends_the_log_only(tmp_path):
    ours, guest = socket.socketpair()
    (tmp_path / "full").symlink_to("/dev/full")
    console = Console(ours, tmp_path / "full")
    guest.sendall(b"hello\n")
    assert console.drain()
    guest.sendall(b"there\n")
    assert console.drain()
    assert console.tail() == "hello\nthere"
    guest.close()
    console.close()
