# SPDX-License-Identifier: MIT
"""A directory of pages is complete or as it was."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.errors import HostError, UsageError
from harness.pages import environment, page_name, pages_directory
from harness.pages.directory import MARK

OWN = f"<!DOCTYPE html>\n{MARK.decode()}\n"


def files(directory):
    return {
        str(path.relative_to(directory)): path.read_text()
        for path in directory.rglob("*")
        if path.is_file()
    }


def write(directory, **pages):
    with pages_directory(directory) as page:
        for name, text in pages.items():
            page(f"{name.replace('_', '/')}.html", text)


def test_pages_appear_at_the_end(tmp_path):
    target = tmp_path / "new" / "pages"
    with pages_directory(target) as page:
        page("index.html", "a")
        page("cells/b.html", "b\ud800")
        assert not (target / "index.html").exists()
    assert files(tmp_path / "new") == {"pages/index.html": "a", "pages/cells/b.html": "b?"}


def test_nothing_appears_where_the_work_fails(tmp_path):
    with pytest.raises(ZeroDivisionError), pages_directory(tmp_path / "a" / "b") as page:
        page("index.html", str(1 / 0))
    assert list(tmp_path.iterdir()) == []
    write(tmp_path / "c", index="old")
    with pytest.raises(ZeroDivisionError), pages_directory(tmp_path / "c") as page:
        page("index.html", f"new {page('a.html', '') or 1 / 0}")
    assert files(tmp_path) == {"c/index.html": "old"}


def test_pages_of_before_go_and_files_of_others_stay(tmp_path):
    write(tmp_path, index="a", configs_a=OWN, configs_b=OWN, cells_c=OWN)
    (tmp_path / "note").write_text("mine")
    (tmp_path / "configs" / "mine.html").write_text("mine")
    (tmp_path / "elsewhere.html").write_text(OWN)
    (tmp_path / "configs" / "link.html").symlink_to(tmp_path / "elsewhere.html")
    write(tmp_path, index="b", configs_a="new")
    assert files(tmp_path) == {
        "index.html": "b",
        "configs/a.html": "new",
        "configs/mine.html": "mine",
        "configs/link.html": OWN,
        "elsewhere.html": OWN,
        "note": "mine",
    }
    assert not (tmp_path / "cells").exists()


def test_a_directory_with_the_name_of_a_page_is_refused_before_anything_is_replaced(tmp_path):
    write(tmp_path, index="old")
    (tmp_path / "configs" / "a.html").mkdir(parents=True)
    with pytest.raises(UsageError, match="is a directory"):
        write(tmp_path, configs_a="new", index="new")
    assert files(tmp_path) == {"index.html": "old"}


def test_a_place_that_is_none(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UsageError, match="is not a directory"):
        write(tmp_path / "file", index="")
    with pytest.raises(UsageError, match="cannot be used for pages: Not a directory"):
        write(tmp_path / "file" / "below", index="")
    with pytest.raises(UsageError, match="cannot be used for pages"):
        write(tmp_path / ("n" * 300), index="")
    assert files(tmp_path) == {"file": ""}


def test_a_full_disk_leaves_what_was_there(tmp_path, monkeypatch):
    write(tmp_path, index="old")

    def full(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("harness.pages.directory.os.fsync", full)
    with pytest.raises(HostError, match="No space left on device"):
        write(tmp_path, index="new")
    assert files(tmp_path) == {"index.html": "old"}


@given(st.text(max_size=400))
def test_any_name_has_a_page(name):
    file = page_name(name)
    assert file.isascii()
    assert file.isprintable()
    assert "/" not in file
    assert len(file) <= 255


def test_long_names_that_differ_at_their_end_have_two_pages():
    assert page_name("n" * 300) != page_name("n" * 301)


def test_what_a_template_is_given_is_escaped():
    made = environment().from_string("{{ text }}")
    assert made.render(text="<b>\x1b[2J&\x9b") == "&lt;b&gt;\\x1b[2J&amp;\\x9b"
    assert len(made.render(text="x" * 1_000_000)) < 100_000
