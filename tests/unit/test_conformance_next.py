# SPDX-License-Identifier: MIT
"""In which order a port is judged that is being written, and what is said of it.

tests/conformance/test_porting.py has a live port that grows.
"""

import pytest

from harness.config import list_configs, load_port
from harness.conformance.engine import select
from harness.conformance.next import Next, next_lines, plan_steps
from harness.conformance.steps import load_steps
from harness.conformance.variants import suite_spec
from harness.conformance.verdict import ClauseResult, Failure, Verdict

COMMAND = ["harness", "conform", "--port", "my port"]
STEPS = load_steps()
ORDER = [step.name for step in STEPS.step]


def where(config, clause, build, features=None):
    """The steps in which a clause is looked at in a build."""
    port = load_port("mips" if config.startswith("mips") else "aarch64")
    if features is not None:
        port = port.model_copy(update={"features": features})
    spec = suite_spec(config, port)
    plan = plan_steps(spec, select(spec.effective_config))
    return [step.name for step, builds in plan if clause in {c.id for c in builds.get(build, ())}]


@pytest.mark.parametrize(
    ("clause", "build", "expected"),
    [
        ("C7a", "static", ["sites"]),
        ("C7a", "dynamic", ["sites"]),
        ("C1a", "static", ["tracer"]),
        ("C1a", "dynamic", ["slot"]),
        ("C9a", "dynamic", ["make_nop", "make_call"]),
        ("C4d", "static", ["graph", "return_to_handler"]),
        ("C2a", "modules", ["modules"]),
        ("C2a", "static-modules", ["modules"]),
        ("C16a", "static-stop", ["function_trace_stop"]),
        ("C4m", "builds", ["combinations"]),
        ("C9a", "static", []),
        ("C3b", "dynamic", []),
    ],
)
def test_where_a_clause_is_looked_at(clause, build, expected):
    assert where("mips-malta", clause, build) == expected


def test_a_port_that_is_not_dynamic_yet():
    features = ("FUNCTION_TRACER", "FTRACE_MCOUNT_RECORD")
    assert where("mips-malta", "C1a", "static", features) == ["tracer"]
    assert where("mips-malta", "C1a", "dynamic", features) == []


def test_a_form_without_static_builds():
    assert where("aarch64-virt-patchable", "C1a", "dynamic") == ["slot"]
    assert where("aarch64-virt-patchable", "C1a", "static") == []


@pytest.mark.parametrize("config", list_configs())
def test_nothing_is_left_out_and_the_order_is_that_of_the_steps(config):
    spec = suite_spec(config)
    clauses = select(spec.effective_config)
    plan = list(plan_steps(spec, clauses))
    names = [step.name for step, _ in plan]
    assert names == [name for name in ORDER if name in names]
    assert {c.id for step, _ in plan for c in clauses if c.id in step.clauses} == {
        clause.id for clause in clauses
    }


def failing(clause, *failures):
    return ClauseResult(clause, "a title", Verdict.FAIL, failures=list(failures))


def test_what_is_to_be_mended():
    spec = suite_spec("mips-malta")
    first = failing(
        "C9a",
        Failure("text-after-boot", "dynamic", "known", expected="for years"),
        Failure("text-after-boot", "dynamic", "leaf is on\x1b[2J"),
        Failure("text-after-boot", "dynamic", "next is on"),
    )
    found = Next(spec, list(STEPS.step[:3]), STEPS["make_nop"], [first, failing("C8g")])
    text = "\n".join(next_lines(found, COMMAND))
    assert text.startswith(
        "mips-malta, port mips: sites, return, tracer done\nnext: C9a ftrace_make_nop "
    )
    assert "found: text-after-boot (dynamic): leaf is on\\x1b[2J, and 1 more\n" in text
    assert "  of this step too: C8g\n" in text
    assert "  alone: harness conform --port 'my port' -c mips-malta --clause C9a\n" in text
    assert text.endswith("  behind it:\n    make_call: a site is switched on and off")
    assert all(len(line) <= 100 for line in text.splitlines())


def test_what_is_to_be_claimed():
    spec = suite_spec("mips-malta")
    optional = [(STEPS["function_trace_stop"], ["FUNCTION_TRACE_MCOUNT_TEST"])]
    found = Next(spec, [], STEPS["graph_slot"], [], ["FUNCTION_GRAPH_TRACER"], optional)
    text = "\n".join(next_lines(found, COMMAND))
    assert "nothing done\nnext: FUNCTION_GRAPH_TRACER, which port.toml does not list\n" in text
    assert "    C11c  ftrace_enable_ftrace_graph_caller writes" in text
    assert text.endswith(
        "could be claimed too: FUNCTION_TRACE_MCOUNT_TEST (a variable stops all tracing)"
    )


def test_nothing_is_left():
    text = "\n".join(next_lines(Next(suite_spec("mips-malta"), list(STEPS.step)), COMMAND))
    assert text.endswith("next: nothing; every clause that the port claims is kept")
