# SPDX-License-Identifier: MIT
"""``harness diff``: two runs of one workload, and of one with a call more."""

import json

from harness.kbuild.sources import find_workload
from support.command import harness
from tests.support.configs import others

CONFIGS = ["mips-malta", "aarch64-virt", *others()]


def record(config, file, workload="calls"):
    arguments = ("-c", config, "-p", "function_graph", "--workload", workload, "--tick", "0")
    done = harness("record", *arguments, "-o", file)
    assert done.returncode == 0, done.stderr
    return file


def test_two_runs_have_the_same_calls(config, tmp_path):
    files = [record(config, tmp_path / name) for name in ("a.dat", "b.dat")]
    done = harness("diff", *files)
    assert (done.returncode, done.stderr) == (0, "")
    assert "The calls are the same, in the same order" in done.stdout


def test_a_call_more_is_found(config, tmp_path):
    source = find_workload("calls").read_text()
    changed = tmp_path / "changed.c"
    changed.write_text(source.replace("if (do_loop(3) != 6)", "if (do_loop(4) != 10)"))
    files = record(config, tmp_path / "a.dat"), record(config, tmp_path / "b.dat", changed)
    done = harness("diff", "--json", *files)
    assert (done.returncode, done.stderr) == (1, "")
    found = json.loads(done.stdout)
    assert [
        one["function"] for one in found["functions"] if one["calls"][0] != one["calls"][1]
    ] == ["leaf"]
    assert found["paths"] == [{"path": ["workload", "do_loop", "leaf"], "calls": [3, 4]}]
    (divergence,) = found["divergences"]
    assert "do_recursion" in divergence["a"][0]
    assert "leaf" in divergence["b"][0]
