# SPDX-License-Identifier: MIT
"""tracefs globs."""

import pytest

from harness.errors import UsageError
from harness.tracer import matching

FUNCTIONS = ["do_add", "do_call", "leaf", "sha256_block", "sha256_final", "undo_add", "workload"]


@pytest.mark.parametrize(
    ("glob", "matched"),
    [
        ("leaf", {"leaf"}),
        ("do_*", {"do_add", "do_call"}),
        ("*_add", {"do_add", "undo_add"}),
        ("*do_*", {"do_add", "do_call", "undo_add"}),
        ("l?af", {"leaf"}),
        ("s*l", {"sha256_final"}),
        ("[dw]o*", {"do_add", "do_call", "workload"}),
        ("*", set(FUNCTIONS)),
    ],
)
def test_glob(glob, matched):
    assert matching(glob, FUNCTIONS) == matched


@pytest.mark.parametrize(
    ("glob", "near"), [("laef", "leaf"), ("sha512_*", "sha256_"), ("do_ad", "do_add")]
)
def test_a_glob_without_a_match_suggests_near_names(glob, near):
    with pytest.raises(UsageError) as caught:
        matching(glob, FUNCTIONS)
    assert repr(glob) in caught.value.message
    assert near in caught.value.advice


def test_a_glob_like_nothing_says_where_to_look():
    with pytest.raises(UsageError, match="harness list functions"):
        matching("zzzzzz", FUNCTIONS)
