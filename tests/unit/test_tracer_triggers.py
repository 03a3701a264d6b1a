# SPDX-License-Identifier: MIT
"""Function triggers: how they are written, and what takes them away."""

from types import SimpleNamespace

import pytest

from harness.errors import UsageError
from harness.tracer.filters import matching
from harness.tracer.triggers import change_triggers, is_trigger

SITES = {"leaf": 0x30, "do_work": 0x10, "do_more": 0x20}


def sites_of(glob):
    return [SimpleNamespace(ip=SITES[name], function=name) for name in matching(glob, list(SITES))]


def after(*texts):
    triggers = ()
    for text in texts:
        triggers = change_triggers(triggers, text, sites_of)
    return [str(trigger) for trigger in triggers]


def test_what_is_a_trigger():
    assert is_trigger("leaf:traceoff")
    assert is_trigger("!leaf:traceoff:3")
    assert not is_trigger("leaf*")


def test_one_for_each_function_by_address():
    assert after("leaf:traceoff:3", "do_*:stacktrace") == [
        "do_work:stacktrace:unlimited",
        "do_more:stacktrace:unlimited",
        "leaf:traceoff:3",
    ]


def test_a_second_one_takes_the_place_of_the_first():
    assert after("leaf:traceoff:3", "leaf:traceoff:5") == ["leaf:traceoff:5"]
    assert after("leaf:traceoff:3", "leaf:traceon") == [
        "leaf:traceoff:3",
        "leaf:traceon:unlimited",
    ]


def test_removal():
    assert after("leaf:traceoff:3", "leaf:traceon", "!leaf:traceoff") == ["leaf:traceon:unlimited"]
    assert after("leaf:traceoff:3", "!leaf:traceoff:0") == []
    assert after("do_*:traceoff", "!do_work:traceoff") == ["do_more:traceoff:unlimited"]


def test_a_trigger_that_is_armed_again_is_a_new_one():
    first = change_triggers((), "leaf:traceoff:3", sites_of)
    second = change_triggers(first, "leaf:traceoff:3", sites_of)
    assert first[0] != second[0]


@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("leaf:", "no known command"),
        ("leaf:snapshot", "no known command"),
        ("leaf:traceoff:", "not a count"),
        ("leaf:traceoff:-1", "not a count"),
        ("leaf:traceoff:²", "not a count"),
        ("leaf:traceoff:4294967295", "not a count"),
        ("nix:traceoff", "no traceable function"),
    ],
)
def test_what_is_refused(wrong, why):
    with pytest.raises(UsageError, match=why):
        change_triggers((), wrong, sites_of)
