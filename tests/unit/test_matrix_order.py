# SPDX-License-Identifier: MIT
"""Revisions come in git's order, whatever the clocks of the machines say."""

import subprocess
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.matrix.compare import compare
from harness.matrix.history import History
from harness.matrix.order import timeline
from harness.matrix.report import choose, lines, markdown
from harness.matrix.rundir import Run
from matrix_drafts import RESULT, failed


def git(tree, *arguments):
    who = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    done = subprocess.run(
        ["git", "-C", tree, *who, *arguments], check=True, capture_output=True, text=True
    )
    return done.stdout.strip()


def commit(tree, message, *parents):
    """A commit on these; its full name."""
    empty = git(tree, "hash-object", "-w", "-t", "tree", "/dev/null")
    on = [word for parent in parents for word in ("-p", parent)]
    return git(tree, "commit-tree", *on, "-m", message, empty)


@pytest.fixture(scope="module")
def tree(tmp_path_factory):
    directory = tmp_path_factory.mktemp("tree")
    git(directory, "init", "-q")
    return directory


@pytest.fixture(scope="module")
def commits(tree):
    """Three in a row, and one on the first that no other is on."""
    first = commit(tree, "first")
    second = commit(tree, "second", first)
    return first, second, commit(tree, "third", second), commit(tree, "side", first)


def runs(*revisions):
    """A run for each, one second after the other by the clocks."""
    return [Run(f"r{at}", revision, 1000.0 + at) for at, revision in enumerate(revisions)]


def order(tree, *revisions):
    return timeline(runs(*revisions), tree).revisions


def test_a_revision_comes_behind_those_that_it_descends_from(tree, commits):
    first, second, third, side = commits
    assert order(tree, third, second, first) == [first, second, third]
    assert order(tree, third, first) == [first, third]
    assert order(tree, second, third, first) == [first, second, third]
    # Where git has no order, nor knows the revision, it is that of the clocks.
    assert order(tree, third, side, first) == [first, third, side]
    assert order(tree, side, third, first) == [first, side, third]
    assert order(tree, "port-1234", third, "v1", first) == ["port-1234", "v1", first, third]
    assert order(None, third, first) == [third, first]


def test_what_was_not_committed_lies_behind_its_commit_by_the_clocks(tree, commits):
    first, second, *_ = commits
    changed = f"{first}+0123abcd"
    assert order(tree, second, changed, first) == [changed, first, second]
    assert order(tree, first, second, changed) == [first, changed, second]
    assert order(tree, second[:12], first[:12]) == [first[:12], second[:12]]


def test_runs_are_in_the_order_of_their_revisions(tree, commits):
    first, second, *_ = commits
    past = timeline(runs(second, first, second, first), tree)
    assert [one.id for one in past.runs] == ["r1", "r3", "r0", "r2"]


def test_clocks_that_disagree_are_told(tree, commits):
    first, second, _, side = commits
    assert timeline(runs(first, second), tree).note == ""
    assert timeline(runs(side, second), tree).note == ""
    # To run an old revision again is no disagreement.
    assert timeline(runs(first, second, first), tree).note == ""
    assert timeline(runs(second, first), tree).note == (
        f"by the clocks {second[:12]} was run before {first[:12]}, from which it descends: "
        "revisions are in the order of git"
    )


def test_where_git_cannot_be_asked_the_clocks_count_and_it_is_said(tmp_path, commits):
    first, second, *_ = commits
    past = timeline(runs(second, first), tmp_path)
    assert past.revisions == [second, first]
    assert past.note.startswith("revisions are in the order of clocks: git cat-file fails in")


def test_names_that_are_none_of_a_commit_are_not_asked_for(tree, commits):
    first, second, *_ = commits
    no_commit = git(tree, "rev-parse", f"{first}^{{tree}}")
    names = ["HEAD", "--all", f"^{first}", f"{first}~1", "0" * 40, no_commit]
    assert order(tree, *names, second, first) == [*names, first, second]


def test_a_machine_with_its_clock_ahead_hides_no_break(tree, commits, tmp_path):
    """And its run, which passed, does not stay the last one."""
    first, second, *_ = commits
    ahead = replace(RESULT, revision=first, started=9000.0)
    broken = failed(replace(RESULT, id="a2", run="r2", revision=second, started=2000.0))
    with History(tmp_path / "h.sqlite") as base:
        base.add([ahead, broken])
        past = timeline(base.runs(), tree)
        (before, old), (now, new) = choose(base, past=past)
    assert (before, now) == (first, second)
    found = compare(old, new, names=(before, now), note=past.note)
    assert [one.name for one in found.broke] == ["answer"]
    assert not found.mended
    assert found.worse
    assert f"order: {past.note}" in list(lines(found))
    assert "Order: by the clocks" in markdown(found)


@given(st.permutations(range(4)))
def test_any_order_of_the_clocks_gives_one_that_git_allows(tree, commits, permutation):
    first, second, third, side = commits
    found = order(tree, *(commits[at] for at in permutation))
    assert sorted(found) == sorted(commits)
    places = [found.index(one) for one in (first, second, third)]
    assert places == sorted(places)
    assert found.index(first) < found.index(side)
