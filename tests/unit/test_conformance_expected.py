# SPDX-License-Identifier: MIT
"""Failures that a port is known to have: what a report says of them, and their file."""

import json
import tomllib
from pathlib import Path
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.config import load_port
from harness.conformance.expect_writer import ALIKE, NO_REASON, patterns, written
from harness.conformance.expected import (
    ExpectedFailure,
    ExpectFile,
    apply_expected,
    load_expected,
    message_of,
)
from harness.conformance.reports.report import as_json, as_junit, lines
from harness.conformance.verdict import ClauseResult, Failure, Report, Verdict, summary
from harness.errors import UsageError
from harness.matrix.work import clause_verdict

COMMAND = ["harness", "conform"]
PORT = load_port("mips")
CHECK = "targets-everywhere"
ONE = {
    "clause": "C9f",
    "check": CHECK,
    "build": "dynamic",
    "message": "0x1000 was not refused",
    "reason": "known since 2010",
}


def failing(*messages, clause="C9f", check=CHECK, build="dynamic"):
    failures = [Failure(check, build, message) for message in messages]
    verdict = Verdict.FAIL if failures else Verdict.PASS
    return ClauseResult(
        clause, "a title", verdict, checks=[f"{check} ({build})"], failures=failures
    )


def report(*results, config="mips-malta"):
    return Report(config, "mips", list(results))


def expecting(*changes):
    return ExpectFile.model_validate(
        {"port": "mips", "failure": [{**ONE, **change} for change in changes]}
    )


def applied(found, *changes):
    apply_expected(found, expecting(*changes))
    return found


def test_exactly_the_expected_failures_leave_nothing_that_failed():
    found = applied(report(failing("0x1000 was not refused")), {})
    assert found.failed == []
    assert found.results[0].expected
    assert found.fails_no_more == []
    assert summary([found]).startswith("0 pass, 0 fail, ")
    assert summary([found]).endswith(", 1 fail as expected")


def test_a_second_failure_of_the_same_clause_counts():
    found = applied(report(failing("0x1000 was not refused", "0x2000 was not refused")), {})
    assert [result.clause for result in found.failed] == ["C9f"]
    text = "\n".join(lines(found, COMMAND))
    assert "FAIL C9f" in text
    assert "0x1000 was not refused: expected: known since 2010" in text
    assert "repeat: harness conform" in text


@pytest.mark.parametrize(
    "change",
    [
        {"clause": "C9g"},
        {"check": "targets-from-the-edge-of-a-region"},
        {"build": "modules"},
        {"message": "0x1000"},
        {"message": "0x1000 was not refuse?d"},
        {"configs": ["mips64*"]},
    ],
    ids=lambda change: next(iter(change)),
)
def test_another_failure_is_not_expected(change):
    found = applied(report(failing("0x1000 was not refused")), change)
    assert [result.clause for result in found.failed] == ["C9f"]


@pytest.mark.parametrize(
    "change",
    [
        {"message": "0x* was not refused"},
        {"message": "0x[12]000 was not refused"},
        {"configs": ["mips-malta"]},
        {"configs": ["aarch64*", "mips*"]},
    ],
)
def test_globs_match_it(change):
    assert applied(report(failing("0x1000 was not refused")), change).failed == []


def test_one_that_fails_no_more_is_told_where_it_was_judged():
    found = applied(report(failing()), {}, {"clause": "C9g"}, {"configs": ["mips64*"]})
    assert found.fails_no_more == [f"C9f {CHECK} (dynamic): 0x1000 was not refused"]
    assert f"  fails no more: {found.fails_no_more[0]}" in list(lines(found, COMMAND))
    assert found.failed == []


def test_a_check_that_has_said_nothing_does_not_say_that_it_fails_no_more():
    found = applied(report(failing(check="switching-every-site")), {})
    assert found.fails_no_more == []


def test_the_combinations_of_features_speak_of_one_build_each():
    name = "every-combination-of-features"
    change = {"clause": "C4m", "check": name, "build": "static", "message": "*"}
    result = failing("static without X: it died", clause="C4m", check=name, build="static")
    result.checks = [f"{name} (builds)"]
    assert applied(report(result), change).failed == []
    result = failing(clause="C4m", check=name, build="builds")
    assert len(applied(report(result), change).fails_no_more) == 1


def test_json_and_junit_have_the_reason():
    found = applied(report(failing("0x1000 was not refused"), failing(clause="C9g")), {})
    said = json.loads(as_json([found], COMMAND))["reports"][0]
    assert said["clauses"][0]["failures"][0]["expected"] == "known since 2010"
    assert said["fails_no_more"] == []
    suite = ElementTree.fromstring(as_junit([found], COMMAND))[0]
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "1")
    assert suite[0].find("skipped").get("message") == "fail: expected: known since 2010"


def test_the_matrix_keeps_what_is_not_expected():
    result = failing("0x1000 was not refused", "b", "b")
    [_] = applied(report(result), {}).failed
    told = clause_verdict(result)
    assert (told.verdict, told.message) == ("fail", "b")
    assert told.failures == (f"{CHECK} (dynamic): b",)
    result = failing("0x1000 was not refused")
    applied(report(result), {})
    told = clause_verdict(result)
    assert (told.verdict, told.message, told.failures) == ("expected", ONE["reason"], ())


# The file


def wrong(tmp_path, text, port=PORT):
    file = tmp_path / "expect.toml"
    file.write_text(text)
    with pytest.raises(UsageError) as caught:
        load_expected(file, port)
    return caught.value.message


def table(**changes):
    values = {**ONE, **changes}
    keys = "".join(
        f"{key} = {json.dumps(value)}\n" for key, value in values.items() if value is not None
    )
    return f'port = "mips"\n[[failure]]\n{keys}'


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("port = mips", "is not TOML"),
        ("", "port: the key is missing"),
        ('port = "aarch64"', "is about the port aarch64, and this is mips"),
        (table(clause="C99z"), 'failure[0].clause: found "C99z"; allowed: an id that harness list'),
        (table(check="no-such"), 'failure[0].check: found "no-such"; allowed: the name of a check'),
        (table(build="both"), 'failure[0].build: found "both"; allowed: dynamic, static'),
        (table(clause="C1a"), "failure[0]: the check targets-everywhere says nothing of C1a"),
        (table(build="static"), "failure[0]: the check targets-everywhere does not look at the"),
        (table(reason=None), "failure[0].reason: the key is missing; allowed: one line"),
        (table(reason="  "), "failure[0].reason: found"),
        (table(reason="a\nb"), "failure[0].reason: found"),
        (table(config="x"), 'failure[0].config: there is no such key, did you mean "configs"?'),
        (table(configs=[]), "failure[0].configs: found []; allowed: globs of configs"),
    ],
)
def test_a_file_that_is_none(tmp_path, text, says):
    assert says in wrong(tmp_path, text)


def test_no_file(tmp_path):
    with pytest.raises(UsageError, match=r"cannot be read: No such file"):
        load_expected(tmp_path / "none.toml", PORT)


def reread(text, tmp_path):
    file = tmp_path / "expect.toml"
    file.write_text(text)
    return load_expected(file, PORT)


def test_what_is_written_expects_what_failed(tmp_path):
    found = report(failing('x[1] "*" was not refused\x1b', "a?"), failing("b", clause="C9g"))
    text = written("mips", [found], None)
    expected = reread(text, tmp_path)
    assert {one.reason for one in expected.failure} == {NO_REASON}
    assert {one.configs for one in expected.failure} == {("mips-malta",)}
    apply_expected(found, expected)
    assert (found.failed, found.fails_no_more) == ([], [])
    other = report(failing('x1 "anything" was not refused'))
    apply_expected(other, expected)
    assert len(other.failed) == 1


def test_what_is_advised_is_not_written():
    result = failing("slow")
    result.advised = True
    assert tomllib.loads(written("mips", [report(result)], None)) == {"port": "mips"}


def test_configs_with_the_same_failure_are_one_entry(tmp_path):
    every = [report(failing("a"), config=name) for name in ("mips-malta", "mips64-malta")]
    [one] = reread(written("mips", every, None), tmp_path).failure
    assert one.configs == ("mips-malta", "mips64-malta")


def test_entries_are_in_the_order_of_the_catalogue():
    """Also where the first config has not all the clauses, and with those that are not judged."""
    old = expecting({"clause": "C10a"})
    first = report(failing("a", clause="C11b"))
    second = report(failing("a", clause="C9e"), failing("a", clause="C11b"), config="mips64-malta")
    found = tomllib.loads(written("mips", [first, second], old))["failure"]
    assert [one["clause"] for one in found] == ["C9e", "C10a", "C11b"]


def test_entries_that_are_there_stay(tmp_path):
    old = expecting(
        {"message": "0x*", "reason": "a glob of mine"},
        {"clause": "C9g", "reason": "not judged now"},
        {"message": "gone", "reason": "it works now"},
        {"message": "gone", "configs": ["mips-malta", "mipsel-malta"], "reason": "half"},
        {"message": "gone", "configs": ["mips*"], "reason": "it works now"},
    )
    found = report(failing("0x1000 was not refused", "new"))
    new = reread(written("mips", [found], old), tmp_path).failure
    assert [(one.reason, one.configs) for one in new] == [
        ("a glob of mine", ("*",)),
        ("half", ("mipsel-malta",)),
        (NO_REASON, ("mips-malta",)),
        ("not judged now", ("*",)),
    ]


def test_many_messages_that_differ_in_a_word_are_one_pattern():
    many = [f"f{number}: no nop [x]" for number in range(ALIKE + 1)]
    assert patterns([*many, "another thing"]) == ["*: no nop [[]x]", "another thing"]
    assert patterns(many[:ALIKE]) == [f"f{number}: no nop [[]x]" for number in range(ALIKE)]


def test_an_address_may_move():
    """Every change of a port's code moves the addresses behind it."""
    said = "the site at 0x8011150c was not switched on: error -14, 0x40 bytes"
    assert patterns([said]) == ["the site at 0x* was not switched on: error -14, 0x40 bytes"]


@given(st.lists(st.text(max_size=20), max_size=30))
def test_patterns_match_their_messages(messages):
    said = [message_of(Failure(CHECK, "dynamic", text)) for text in messages]
    found = patterns(said)
    for message in said:
        assert any(
            ExpectedFailure.model_construct(
                **{**ONE, "message": pattern, "configs": ("*",)}
            ).matches("mips-malta", "C9f", Failure(CHECK, "dynamic", message))
            for pattern in found
        )


def test_the_reference_ports_expect_nothing():
    for port in ("mips", "aarch64"):
        assert not Path(load_port(port).directory, "expect.toml").exists()
