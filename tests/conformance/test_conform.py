# SPDX-License-Identifier: MIT
"""The suite on live guests: correct ports pass, faulty ones fail, invalid ones are refused.

A slice of it.  The full tables are commands: ``harness conform --mutant all`` (docs/mutants.rst).
"""

import dataclasses
import re
import shutil

import pytest

from harness.config import load_port
from harness.conformance.registry import STATIC_STOP, VARIANTS
from harness.conformance.reports.report import lines
from harness.conformance.run import conform, do, jobs_for
from harness.conformance.variants import suite_spec
from harness.conformance.verdict import Verdict
from harness.mutation.kill_table import kill_table
from page_checks import check_pages
from support.command import harness
from support.rewriting import rewritten
from tests.support.configs import others

CONFIGS = ["mips-malta", "aarch64-virt-bti-pac-patchable"]


@pytest.mark.parametrize("config", [*CONFIGS, *others()])
def test_the_reference_port_passes_every_clause(config):
    [report] = conform([suite_spec(config)])
    assert not report.failed, "\n".join(lines(report, ["harness", "conform"]))
    assert report.count(Verdict.PASS) > 50
    unseen = [one for one in report.results if one.verdict is Verdict.NOT_OBSERVABLE]
    assert all(one.reason for one in unseen)


@pytest.mark.parametrize("config", CONFIGS)
def test_a_port_whose_stubs_are_written_otherwise_passes_too(config):
    """Clauses are about the effect of stubs, not about their instructions."""
    for job in jobs_for(suite_spec(config), ()):
        if job.variant in VARIANTS:
            edits = rewritten(job.spec)
            found = do(dataclasses.replace(job, edits=edits))
            # They have become too long for the clause that advises short ones.
            required = {clause.id for clause in job.clauses if not clause.advised}
            assert not found.failures.keys() & required, (job.variant, found.failures)


@pytest.mark.parametrize(
    ("config", "ids"),
    [
        ("mips-malta", ["delay-slot-left-alive", "flush-shifted", "dynamic/ftrace_caller/5/drop"]),
        ("aarch64-virt", ["range-one-too-far", "only-x0-saved", "two-halfword-stores"]),
    ],
)
def test_mutants_are_caught_for_the_right_clause(config, ids):
    outcomes = kill_table([suite_spec(config)], ids)
    assert len(outcomes) == len(ids)
    for outcome in outcomes:
        assert outcome.killed, outcome
        assert outcome.right, outcome


SAVE = "\t.macro\tsave_all\n"


@pytest.mark.parametrize(
    ("what", "says"),
    [
        ("1:	b	1b\n	 nop\n", "did not come to"),
        ("	move	$sp, $0\n", "panicked"),
        ("	li	$v1, 0x12345678\n	jr	$v1\n	 nop\n", "panicked"),
        (
            "	la	$v1, ring_buffer\n	addiu	$t8, $v1, 512\n2:	sw	$v1, 0($v1)\n"
            "	bne	$v1, $t8, 2b\n	 addiu	$v1, $v1, 4\n",
            "ring buffer is damaged",
        ),
    ],
    ids=["hangs", "loses its stack", "jumps to nowhere", "destroys the ring buffer"],
)
def test_the_suite_goes_on_behind_a_port_that_does_not(what, says):
    spec = suite_spec("mips-malta")
    source = (spec.port.directory / "mcount.S").read_text()
    job = jobs_for(spec, ["C2a", "C8e", "C9h", "C7a", "C10a"])[0]
    broken = {"mcount.S": source.replace(SAVE, SAVE + what)}
    findings = do(dataclasses.replace(job, edits=broken))
    assert set(findings.failures) & {"C2a", "C8e"}
    messages = [one.message for failures in findings.failures.values() for one in failures]
    assert any(says in message for message in messages), messages
    dumps = [
        str(one.evidence.get("guest", "")) for some in findings.failures.values() for one in some
    ]
    assert any(re.search(r"^ +\w+\.[cSh]:\d+  \S", dump, re.MULTILINE) for dump in dumps), dumps
    # What the stub does not touch is still judged, and well.
    assert {"C7a", "C10a"} <= set(findings.judged) - set(findings.failures)


def test_a_guest_that_dies_at_boot_fails_only_what_its_build_is_about():
    spec = suite_spec("mips-malta")
    source = (spec.port.directory / "mcount.S").read_text()
    begin = "#ifdef CONFIG_FUNCTION_TRACE_MCOUNT_TEST\n\tlw"
    assert source.count(begin) == 1
    jump = "\tli\t$v1, 0x12345678\n\tjr\t$v1\n\t nop\n"
    broken = {"mcount.S": source.replace(begin, jump + begin)}
    job = next(one for one in jobs_for(spec, ()) if one.variant == STATIC_STOP)
    found = do(dataclasses.replace(job, edits=broken))
    assert {"C3c", "C16a", "C16b"} <= set(found.failures)
    # What dynamic builds are for is judged there.
    assert not {"C8d", "C8f", "C9a", "M5d"} & (set(found.failures) | set(found.unfinished))


def no_features(port):
    file = port / "port.toml"
    head, _, tail = file.read_text().partition("features = [")
    file.write_text(f"{head}features = []{tail.partition(']')[2]}")


def replace(name, old, new):
    def change(port):
        text = (port / name).read_text()
        assert old in text
        (port / name).write_text(text.replace(old, new))

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (no_features, "claims nothing: port.toml lists no features"),
        (replace("port.toml", '"FUNCTION_TRACER"', '"FUNCTION_TRACR"'), 'found "FUNCTION_TRACR"'),
        (replace("port.toml", "features", "faetures"), "there is no such key"),
        (replace("mcount.S", "\tjr\t$ra\n", "\tjrr\t$ra\n"), "unrecognized opcode"),
        (
            replace("ftrace.c", "int ftrace_make_nop(", "static __attribute__((unused)) int nop("),
            "claims DYNAMIC_FTRACE and does not define ftrace_make_nop",
        ),
        (lambda port: (port / "ftrace.c").unlink(), "not a port directory: ftrace.c is missing"),
    ],
    ids=["no features", "bad feature", "bad key", "bad assembly", "no function", "no file"],
)
def test_a_bad_port_gets_a_sentence_and_status_2(change, says, tmp_path):
    port = tmp_path / "port"
    shutil.copytree(load_port("mips").directory, port)
    change(port)
    done = harness("conform", "-c", "mips-malta", "--port", port, "--clause", "C9a")
    assert done.returncode == 2, done.stdout
    assert says in done.stderr
    assert "Traceback" not in done.stderr


def test_a_faulty_port_gets_status_1_and_evidence(tmp_path):
    port = tmp_path / "port"
    shutil.copytree(load_port("aarch64").directory, port)
    replace("return_to_handler.S", "\tldp\tx0, x1, [sp, #FRAME_X0]", "\tldr\tx0, [sp, #FRAME_X0]")(
        port
    )
    pages = tmp_path / "pages"
    options = ("--port", port, "--clause", "C5a", "--html", pages)
    done = harness("conform", "-c", "aarch64-virt", *options)
    assert done.returncode == 1, done.stdout
    assert "1 finding\n1. C5a " in done.stdout
    assert "a hijacked call of leaf: results changed: x1" in done.stdout
    assert "return_to_handler.S:" in done.stdout
    assert f"repeat: harness conform --port {port} -c aarch64-virt --clause C5a" in done.stdout
    assert done.stdout.endswith(f"pages: {pages}/index.html\n")
    page = check_pages(pages)["index.html"].text
    assert "1 a hijacked call of leaf: results changed: x1" in page
    source = (port / "return_to_handler.S").read_text().splitlines()
    load = next(line for line in source if "\tldr\tx0, [sp, #FRAME_X0]" in line)
    marked = rf"=> \d+ {re.escape(' '.join(load.split()))}"
    assert re.search(marked, page), "the line is marked"
    assert re.search(r"=> \d+ 0x[0-9a-f]+ ldr x0, \[sp, #0x10\]", page), "and the instruction"
