# SPDX-License-Identifier: MIT
"""Directories that builds go on in: one user each, and how many are kept."""

import os

import pytest

from harness.build.places import Places
from harness.errors import HostError

PLACES = Places("conformance", 3)
LONG_AGO = 1_000_000_000


@pytest.fixture
def base(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ftrace-harness" / "conformance"


def use(key):
    lock, directory = PLACES.claim(key)
    os.close(lock)
    return directory


def age(base, name, seconds):
    os.utime(base / f"{name}.lock", (LONG_AGO + seconds, LONG_AGO + seconds))


def kept(base):
    directories = {path.name for path in base.iterdir() if path.is_dir()}
    assert directories == {path.stem for path in base.glob("*.lock")}
    return directories


def test_each_user_has_a_directory_and_leaves_it_to_the_next(base):
    first, one = PLACES.claim("k")
    second, two = PLACES.claim("k")
    assert (one, two) == (base / "k-0", base / "k-1")
    (one / "made").touch()
    os.close(first)
    assert (use("k") / "made").exists()
    os.close(second)


def test_the_least_recently_used_goes_and_what_is_used_stays(base):
    for number, key in enumerate("abc"):
        use(key)
        age(base, f"{key}-0", number)
    held, _ = PLACES.claim("a")
    age(base, "a-0", 0)
    use("d")
    # It is held, so it stays, whatever its age.
    assert kept(base) == {"a-0", "b-0", "c-0", "d-0"}
    os.close(held)
    use("b")
    use("e")
    assert kept(base) == {"b-0", "d-0", "e-0"}


def test_what_was_used_lately_stays_however_many_there_are(base):
    for key in "abcdef":
        use(key)
    assert len(kept(base)) == 6


def test_a_place_that_cannot_be_made_is_the_hosts_fault(base):
    base.parent.mkdir(parents=True)
    base.write_text("a file")
    with pytest.raises(HostError, match="conformance"):
        use("k")
