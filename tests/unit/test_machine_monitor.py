# SPDX-License-Identifier: MIT
"""The monitor, with the test as QEMU."""

import signal
import socket
import threading

import pytest

from harness.machine.console import Console
from harness.machine.monitor import Monitor

VERSION = b'{"qemu": {"major": 7, "minor": 2, "micro": 0}, "package": ""}'
GREETING = b'{"QMP": {"version": %s, "capabilities": []}}\n' % VERSION


@pytest.fixture
def console(tmp_path):
    ours, guest = socket.socketpair()
    console = Console(ours, tmp_path / "console.log")
    yield console
    guest.close()
    console.close()


@pytest.fixture
def interruptible():
    """SIGINT raises, also where it was ignored, as shells do for what runs in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("interruptible")
def test_an_interruption_waits_for_the_answer_and_leaves_the_client_whole(console, capfd, caplog):
    ours, qemu = socket.socketpair()
    qemu.settimeout(10)
    answered = threading.Event()

    def answer():
        qemu.sendall(GREETING)
        assert b"qmp_capabilities" in qemu.recv(65536)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)
        answered.set()
        qemu.sendall(b'{"return": {}}\n')

    monitor = Monitor(ours, console)
    thread = threading.Thread(target=answer)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        monitor.connect(10)
    was_answered = answered.is_set()
    thread.join()
    qemu.close()
    monitor.close()
    assert was_answered
    assert capfd.readouterr() == ("", "")
    assert [record for record in caplog.records if record.levelname == "ERROR"] == []
