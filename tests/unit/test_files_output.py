# SPDX-License-Identifier: MIT
"""An output file is complete under its name, or not there."""

import pytest

from harness.errors import UsageError
from harness.files import whole_file


def names(directory):
    return sorted(entry.name for entry in directory.iterdir())


def test_the_file_appears_when_the_block_ends_well(tmp_path):
    with whole_file(tmp_path / "x.dat") as stream:
        stream.write(b"new")
        assert not (tmp_path / "x.dat").exists()
    assert (tmp_path / "x.dat").read_bytes() == b"new"
    assert names(tmp_path) == ["x.dat"]


def test_what_was_there_stays_when_the_block_fails(tmp_path):
    (tmp_path / "x.dat").write_bytes(b"old")
    with pytest.raises(TypeError), whole_file(tmp_path / "x.dat") as stream:
        stream.write("not bytes")
    assert (tmp_path / "x.dat").read_bytes() == b"old"
    assert names(tmp_path) == ["x.dat"]


@pytest.mark.parametrize("there", [True, False])
def test_a_link_stays_a_link(tmp_path, there):
    if there:
        (tmp_path / "real.dat").write_bytes(b"old")
    (tmp_path / "link.dat").symlink_to("real.dat")
    with whole_file(tmp_path / "link.dat") as stream:
        stream.write(b"new")
    assert (tmp_path / "link.dat").is_symlink()
    assert (tmp_path / "real.dat").read_bytes() == b"new"


@pytest.mark.parametrize("name", ["x" * 252, "x" * 5000, "loop", "directory", "fifo", "no/where"])
def test_a_path_that_no_file_can_have_is_a_mistake_of_the_user(tmp_path, name):
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "directory").mkdir()
    (tmp_path / "fifo").symlink_to("/dev/null")
    before = names(tmp_path)
    with pytest.raises(UsageError, match="-o"), whole_file(tmp_path / name):
        raise AssertionError("the file was opened")
    assert names(tmp_path) == before
