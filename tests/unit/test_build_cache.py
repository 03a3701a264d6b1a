# SPDX-License-Identifier: MIT
"""The cache of built guests: how many are kept, which go, and who is safe from that."""

import fcntl
import os
import threading
import time
from dataclasses import replace

import pytest

from harness.files import busy, hold
from harness.kbuild.cache import MUTANTS, Cache

CACHE = Cache("guests", "vmlinux", 3)
LONG_AGO = 1_000_000_000


@pytest.fixture
def guests(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ftrace-harness" / "guests"


def build(key):
    with CACHE.locked(key, lambda: None) as (work, _):
        image = work / "vmlinux"
        image.write_text(f"the guest {key}")
        return CACHE.publish(key, [image])


def age(guests, key, seconds):
    """As if it had been used so long after a day of long ago."""
    os.utime(guests / key, (LONG_AGO + seconds, LONG_AGO + seconds))


def kept(guests):
    return {path.name for path in guests.iterdir() if path.is_dir()}


def locks(guests):
    return {path.stem for path in guests.glob("*.lock")}


def test_the_least_recently_used_goes_with_its_lock(guests):
    for number, key in enumerate("abc"):
        build(key)
        age(guests, key, number)
    assert CACHE.find("a") is not None
    build("d")
    assert kept(guests) == {"a", "c", "d"} == locks(guests)


def test_what_was_used_lately_stays_however_many_there_are(guests):
    for key in "abcdef":
        build(key)
    assert kept(guests) == set("abcdef")


def test_guests_with_a_mutant_are_kept_for_a_shorter_time(guests):
    brief = replace(CACHE, in_use=MUTANTS.in_use)
    two_hours_ago = time.time() - 7200
    for key in "abcd":
        build(key)
        os.utime(guests / key, (two_hours_ago, two_hours_ago))
    build("e")
    assert kept(guests) == set("abcde"), "those of ordinary guests are kept for a day"
    brief.prune("e")
    assert len(kept(guests)) == 3


def test_what_somebody_builds_stays(guests):
    for number, key in enumerate("abc"):
        build(key)
        age(guests, key, number)
    with CACHE.locked("a", lambda: None):
        build("d")
        assert kept(guests) == {"a", "a.build", "b", "c", "d"}
    build("e")
    assert kept(guests) == {"c", "d", "e"}


def test_what_is_asked_for_in_that_moment_stays(guests):
    build("a")
    age(guests, "a", 1)
    CACHE.remove("a", LONG_AGO)
    assert CACHE.find("a") is not None


def test_a_lock_that_was_removed_while_it_was_waited_for_is_none(guests):
    """Whoever waits for one that goes takes its successor, and nobody builds beside another."""
    guests.mkdir(parents=True)
    path = guests / "a.lock"
    old = os.open(path, os.O_RDWR | os.O_CREAT)
    fcntl.flock(old, fcntl.LOCK_EX)
    waits, inside = threading.Event(), threading.Event()

    def wait_and_hold():
        with CACHE.locked("a", waits.set):
            inside.set()
            assert done.wait(30)

    done = threading.Event()
    thread = threading.Thread(target=wait_and_hold)
    thread.start()
    assert waits.wait(30)
    path.unlink()
    os.close(old)
    assert inside.wait(30)
    with path.open() as successor, pytest.raises(BlockingIOError):
        fcntl.flock(successor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    done.set()
    thread.join(30)


def test_use_is_remembered(guests):
    build("a")
    age(guests, "a", 0)
    before = time.time() - 1
    CACHE.find("a")
    assert (guests / "a").stat().st_mtime >= before


def test_what_killed_builders_left_goes_when_something_is_asked_for(guests):
    for key in "abc":
        build(key)
    (guests / "a.build").mkdir()
    (guests / "d.build").mkdir()
    (guests / "d.build/vmlinux").write_text("half")
    for name in ("d.lock", "e.lock"):
        (guests / name).touch()
    with CACHE.locked("f", lambda: None):
        assert CACHE.obtain("b", lambda: "b", lambda: None, lambda work, lock: []).is_file()
        assert (guests / "f.build").is_dir()
        assert locks(guests) == {"a", "b", "c", "f"}
    assert kept(guests) == {"a", "b", "c"}


def test_who_writes_in_a_work_directory_keeps_it_locked(guests):
    """A compiler that outlives its builder for a moment holds the next one up, not the reverse."""
    with CACHE.locked("a", lambda: None) as (_, lock):
        compiler = os.dup(lock)
    with pytest.raises(BlockingIOError):
        hold(guests / "a.lock", busy)
    os.close(compiler)
    os.close(hold(guests / "a.lock", busy))
