# SPDX-License-Identifier: MIT
"""An output file is complete under its name, or not there."""

import os
import signal
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from harness.errors import UsageError
from harness.files import atomic_file


def names(directory):
    return sorted(entry.name for entry in directory.iterdir())


def test_the_file_appears_when_the_block_ends_well(tmp_path):
    with atomic_file(tmp_path / "x.dat") as stream:
        stream.write(b"new")
        assert not (tmp_path / "x.dat").exists()
    assert (tmp_path / "x.dat").read_bytes() == b"new"
    assert names(tmp_path) == ["x.dat"]


def test_what_was_there_stays_when_the_block_fails(tmp_path):
    (tmp_path / "x.dat").write_bytes(b"old")
    with pytest.raises(TypeError), atomic_file(tmp_path / "x.dat") as stream:
        stream.write("not bytes")
    assert (tmp_path / "x.dat").read_bytes() == b"old"
    assert names(tmp_path) == ["x.dat"]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link(tmp_path, there):
    if there:
        (tmp_path / "real.dat").write_bytes(b"old")
    (tmp_path / "link.dat").symlink_to("real.dat")
    with atomic_file(tmp_path / "link.dat") as stream:
        stream.write(b"new")
    assert (tmp_path / "link.dat").is_symlink()
    assert (tmp_path / "real.dat").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["x" * 256, "x" * 5000, "loop", "directory", "fifo", "no/where"])
def test_a_path_that_no_file_can_have_is_a_mistake_of_the_user(tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "directory").mkdir()
    (tmp_path / "fifo").symlink_to("/dev/null")
    before = names(tmp_path)
    with pytest.raises(UsageError, match="-o"), atomic_file(tmp_path / name):
        raise AssertionError("the file was opened")
    assert names(tmp_path) == before


@pytest.mark.parametrize("name", ["x" * 255, "\N{SNOWMAN}" * 85])
def test_any_name_that_a_file_can_have_will_do(tmp_path, name):
    with atomic_file(tmp_path / name) as stream:
        stream.write(b"new")
    assert names(tmp_path) == [name]


@pytest.mark.parametrize("mode", [0o600, 0o640, 0o664, 0o400])
def test_the_mode_of_the_file_that_is_replaced_is_kept(tmp_path, mode):
    (tmp_path / "x.dat").write_bytes(b"old")
    (tmp_path / "x.dat").chmod(mode)
    with atomic_file(tmp_path / "x.dat") as stream:
        assert {stat.S_IMODE(entry.stat().st_mode) for entry in tmp_path.iterdir()} == {mode}
        stream.write(b"new")
    assert stat.S_IMODE((tmp_path / "x.dat").stat().st_mode) == mode
    assert (tmp_path / "x.dat").read_bytes() == b"new"


def test_a_new_file_has_the_mode_that_the_umask_leaves(tmp_path):
    before = os.umask(0o027)
    try:
        with atomic_file(tmp_path / "x.dat"):
            pass
    finally:
        os.umask(before)
    assert stat.S_IMODE((tmp_path / "x.dat").stat().st_mode) == 0o640


def test_a_link_that_is_planted_beside_it_is_not_written_through(tmp_path):
    """Under the name that the part had when its name could be foreseen."""
    (tmp_path / "precious").write_bytes(b"old")
    (tmp_path / f".x.dat.{os.getpid()}").symlink_to("precious")
    with atomic_file(tmp_path / "x.dat") as stream:
        stream.write(b"new")
    assert (tmp_path / "precious").read_bytes() == b"old"


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives a link to another user")
def test_a_link_that_a_stranger_has_planted_where_all_may_is_not_followed(tmp_path):
    shared = tmp_path / "shared"
    shared.mkdir()
    shared.chmod(0o1777)
    (tmp_path / "precious").write_bytes(b"old")
    (shared / "x.dat").symlink_to(tmp_path / "precious")
    os.lchown(shared / "x.dat", 65534, 65534)
    with pytest.raises(UsageError, match="another user's link"), atomic_file(shared / "x.dat"):
        raise AssertionError("the file was opened")
    assert (tmp_path / "precious").read_bytes() == b"old"
    assert names(shared) == ["x.dat"]


WRITER = """\
import sys
from pathlib import Path
from harness.files import atomic_file
with atomic_file(Path(sys.argv[1])) as stream:
    stream.write(b"half")
    stream.flush()
    print("on", flush=True)
    input()
"""


def test_what_a_killed_writer_has_left_goes_with_the_next_and_what_is_written_stays(tmp_path):
    command = [sys.executable, "-c", WRITER]
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    with (
        subprocess.Popen([*command, str(tmp_path / "one.dat")], **pipes) as one,
        subprocess.Popen([*command, str(tmp_path / "two.dat")], **pipes) as two,
    ):
        assert (one.stdout.readline(), two.stdout.readline()) == ("on\n", "on\n")
        one.send_signal(signal.SIGKILL)
        one.wait()
        assert len(names(tmp_path)) == 2
        with atomic_file(tmp_path / "x.dat") as stream:
            stream.write(b"new")
        assert len(names(tmp_path)) == 2
        two.communicate("\n")
    assert names(tmp_path) == ["two.dat", "x.dat"]
    assert Path(tmp_path / "two.dat").read_bytes() == b"half"
