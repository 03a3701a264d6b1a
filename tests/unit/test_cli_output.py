# SPDX-License-Identifier: MIT
"""The command with an output that nobody takes, and with words that it cannot take."""

import json
import subprocess

import pytest

from harness.cli.build import build
from support.command import HARNESS, harness
from trace_files import function_trace


def shell(script):
    return subprocess.run(
        ["bash", "-c", script, "bash", HARNESS],
        capture_output=True,
        text=True,
        errors="replace",
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


@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-", "<&- >&-", "<&- >&- 2>&-"])
@pytest.mark.parametrize("command", ["report", "stat", "report -f perfetto", "report -o x.json"])
def test_a_report_with_closed_streams(tmp_path, command, closed):
    """What is closed is nobody's: no file gets its number, and nothing is printed into one."""
    trace = function_trace(("big", 4), 5)
    (tmp_path / "trace.dat").write_bytes(trace)
    done = shell(f'cd {tmp_path} && "$1" {command} {closed}')
    assert (done.returncode, done.stderr) == (0, "")
    assert (tmp_path / "trace.dat").read_bytes() == trace


@pytest.mark.parametrize("name", ["--config ./~x.toml", "--workload ./~x.c", "--port ./~x"])
def test_a_file_whose_name_begins_with_a_tilde(name):
    config = "" if "config" in name else "-c mips-malta"
    done = shell(f'"$1" record {config} {name}')
    assert done.returncode == 2
    assert "~x" in done.stderr
    assert "bug of the harness" not in done.stderr


def test_flags_and_features_that_are_given_twice_are_joined():
    flags = ["--cflags", "-DONE", "--cflags", "-DTWO '-DTHREE'"]
    context = build.make_context("build", ["x", *flags, "--features", "A,B", "--features", "C"])
    assert context.params["cflags"] == ("-DONE", "-DTWO", "-DTHREE")
    assert context.params["features"] == ("A", "B", "C")


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
    assert "bug of the harness" not in done.stderr


def test_a_file_that_is_no_trace_is_named(tmp_path):
    (tmp_path / "x.dat").write_bytes(b"not a trace")
    done = harness("report", tmp_path / "x.dat")
    assert done.returncode == 2
    assert done.stderr.startswith(f"harness: {tmp_path}/x.dat: ")
