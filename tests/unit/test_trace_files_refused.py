# SPDX-License-Identifier: MIT
"""``harness report`` and ``harness stat`` on what is no trace: a sentence, at once."""

import os
import socket

import pytest
from click.testing import CliRunner

from graph_files import NESTED, graph_trace
from harness.cli.report import report
from harness.cli.stat import stat
from harness.errors import UsageError

WHOLE = graph_trace(("big", 4), NESTED)


@pytest.fixture
def place(tmp_path):
    """A directory with everything that a name can lead to."""
    os.mkfifo(tmp_path / "fifo")
    (tmp_path / "directory").mkdir()
    (tmp_path / "empty").touch()
    (tmp_path / "text").write_text("not a trace\n" * 1000)
    (tmp_path / "link").symlink_to(tmp_path / "link")
    (tmp_path / "secret").touch(mode=0o000)
    for share in range(1, 10):
        (tmp_path / f"cut{share}").write_bytes(WHOLE[: len(WHOLE) * share // 10])
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(tmp_path / "socket"))
    return tmp_path


@pytest.mark.parametrize("command", [report, stat], ids=["report", "stat"])
@pytest.mark.parametrize(
    "name",
    [
        *("fifo", "directory", "empty", "text", "link", "socket", "nosuch", "x" * 5000, "nosuch/x"),
        *("/dev/zero", "/dev/tty", "/proc/self/mem", *(f"cut{share}" for share in range(1, 10))),
    ],
)
def test_it_is_refused_by_its_name(place, command, name):
    done = CliRunner().invoke(command, [str(place / name)])
    assert isinstance(done.exception, UsageError)
    assert "\n" not in done.exception.message
    assert str(place / name) in done.exception.message
