# SPDX-License-Identifier: MIT
"""The command with an output that nobody takes, and with words that it cannot take."""

import json
import subprocess

import pytest

from command import HARNESS, harness


def shell(script):
    return subprocess.run(
        ["bash", "-c", script, "bash", HARNESS],
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


def test_a_reader_that_has_had_enough_is_no_error():
    done = shell('"$1" list workloads | true; echo "${PIPESTATUS[0]}"')
    assert (done.stdout, done.stderr) == ("0\n", "")


def test_a_full_output_is_the_hosts_fault_and_not_the_harnesss():
    done = shell('"$1" list configs >/dev/full')
    assert done.returncode == 3
    assert done.stderr.startswith("harness: the output cannot be written: No space left on device")
    assert len(done.stderr.splitlines()) == 2


@pytest.mark.parametrize("closed", [">&-", "2>&-", "<&- >&- 2>&-"])
def test_closed_streams_are_no_error(closed):
    assert shell(f'"$1" list configs {closed}').returncode == 0


@pytest.mark.parametrize("what", ["configs", "tracers", "events", "workloads"])
def test_json_says_what_the_table_says(what):
    table = harness("list", what).stdout.splitlines()
    objects = json.loads(harness("list", what, "--json").stdout)
    assert list(objects[0]) == table[0].split()
    assert len(objects) == len(table) - 1
    for entry, line in zip(objects, table[1:], strict=True):
        assert " ".join(entry.values()).split() == line.split()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["build", "mips-malta", "--cflags", "'"], "No closing quotation"),
        (["record", "-c", "mips-malta", "--cflags", '"'], "No closing quotation"),
        (["record", "-c", "mips-malta", "--events", 10**30], "--events"),
        (["record", "-c", "mips-malta", "--duration", "nan"], "nan is not a finite number"),
        (["record", "-c", "mips-malta", "--duration", "inf"], "inf is not a finite number"),
        (["record", "-c", "mips-malta", "--timeout", "Infinity"], "inf is not a finite number"),
        (
            ["list", "sites", "-c", "mips-malta", "--port", ""],
            "There is no port ''.\nThe ports are",
        ),
    ],
)
def test_wrong_words_are_the_users_mistake(arguments, said):
    done = harness(*arguments)
    assert done.returncode == 2
    assert said in done.stderr
    assert "fault of the harness" not in done.stderr


def test_a_file_that_is_no_trace_is_named(tmp_path):
    (tmp_path / "x.dat").write_bytes(b"not a trace")
    done = harness("report", tmp_path / "x.dat")
    assert done.returncode == 2
    assert done.stderr.startswith(f"harness: {tmp_path}/x.dat: ")
