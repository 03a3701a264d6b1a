# SPDX-License-Identifier: MIT
"""Private directories: whose they are, and who removes them."""

import fcntl
import os
import signal
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import nullcontext
from pathlib import Path

import pytest

from harness.errors import HostError
from harness.files import ScratchDirectory, scratch
from harness.files.scratch import LOCK

OWNER = """\
from harness.files import ScratchDirectory
directory = ScratchDirectory()
(directory.path / "gdb").write_text("")
print(directory.path, flush=True)
input()
"""


@pytest.fixture
def base(monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Where they are made; short enough, and not looked through yet."""
    with tempfile.TemporaryDirectory() as directory:
        monkeypatch.setenv("XDG_RUNTIME_DIR", directory)
        scratch.remove_stale.cache_clear()
        yield Path(directory)


@pytest.fixture
def owner(base: Path) -> Iterator[tuple[subprocess.Popen[str], Path]]:
    """Another process, and the directory that it has made."""
    with subprocess.Popen(
        [sys.executable, "-c", OWNER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None
        yield process, Path(process.stdout.readline().strip())
        process.kill()


def test_it_is_private_and_goes_with_its_owner(base: Path) -> None:
    directory = ScratchDirectory()
    assert directory.path.parent == base
    assert stat.S_IMODE(directory.path.stat().st_mode) == 0o700
    (directory.path / "file").write_text("")
    directory.close()
    directory.close()
    assert not directory.path.exists()


def test_what_a_killed_owner_left_is_removed_by_the_next(
    base: Path, owner: tuple[subprocess.Popen[str], Path]
) -> None:
    process, left = owner
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert (left / "gdb").exists()
    ScratchDirectory().close()
    assert list(base.iterdir()) == []


def test_what_has_an_owner_stays(base: Path, owner: tuple[subprocess.Popen[str], Path]) -> None:
    mine = ScratchDirectory()
    scratch.remove_stale.cache_clear()
    ScratchDirectory().close()
    assert {mine.path, owner[1]} == {path for path in base.iterdir() if path.is_dir()}
    mine.close()


def test_what_is_not_ours_stays(base: Path, tmp_path: Path) -> None:
    (base / "harness-12345678").mkdir()  # no lock: somebody else's idea of a name
    (base / "harness-report").mkdir()
    (base / f"harness-report{LOCK}").write_text("")
    (tmp_path / "lock").write_text("")
    (base / "harness-abcdef01").symlink_to(tmp_path)
    (base / f"harness-abcdef01{LOCK}").symlink_to(tmp_path / "lock")
    (base / f"harness-abcdef02{LOCK}").mkdir()
    before = sorted(base.rglob("*"))
    ScratchDirectory().close()
    assert sorted(base.rglob("*")) == before
    assert (tmp_path / "lock").exists()


def test_what_is_another_users_stays(base: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (base / "harness-12345678").mkdir()
    (base / f"harness-12345678{LOCK}").write_text("")
    monkeypatch.setattr("os.geteuid", lambda: 12345)
    ScratchDirectory().close()
    assert (base / "harness-12345678").exists()
    assert (base / f"harness-12345678{LOCK}").exists()


def test_one_that_is_swept_before_it_is_locked_is_made_again(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    made: list[Path] = []

    def flock(descriptor: int, operation: int) -> None:
        if not made:
            made.extend(base.iterdir())
            made[0].unlink()

    monkeypatch.setattr(fcntl, "flock", flock)
    directory = ScratchDirectory()
    assert directory.path.is_dir()
    assert directory.path != made[0].with_suffix("")
    directory.close()


def test_what_vanishes_during_the_sweep_is_no_trouble(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    theirs = base / f"harness-12345678{LOCK}"
    theirs.touch()
    entries = list(os.scandir(base))
    theirs.unlink()
    with monkeypatch.context() as patched:
        patched.setattr("os.scandir", lambda _: nullcontext(entries))
        directory = ScratchDirectory()
    assert directory.path.parent == base
    directory.close()


def test_a_place_that_cannot_be_listed_is_good_enough(
    base: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def scandir(_: str) -> list[os.DirEntry[str]]:
        raise PermissionError

    with monkeypatch.context() as patched:
        patched.setattr("os.scandir", scandir)
        directory = ScratchDirectory()
    assert directory.path.parent == base
    directory.close()


def test_nowhere_to_make_one(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scratch, "hold_new", lambda *_: (_ for _ in ()).throw(OSError()))
    with pytest.raises(HostError, match="no directory for sockets"):
        ScratchDirectory()
