# SPDX-License-Identifier: MIT
"""`harness conform --replay`: the session at the instruction from which a failure comes."""

import re
import shutil

import pytest

from harness.config import list_configs, load_config, load_port
from support.command import harness

CONFIGS = [load_config(name) for name in list_configs()]
ONE_CPU = [one.name for one in CONFIGS if one.qemu.smp == 1 and one.saves_clock]
SEVERAL = next(one.name for one in CONFIGS if one.qemu.smp > 1)
WITHOUT_CLOCK = next(one.name for one in CONFIGS if one.qemu.smp == 1 and not one.saves_clock)

LOST_RESULT = {
    "aarch64": (
        "return_to_handler.S",
        "ldp	x0, x1, [sp, #FRAME_X0]",
        "ldp	x0, x1, [sp, #FRAME_X0 + 16]",
        r"ldp x0, x1, \[sp, #0x20\]",
    ),
    "mips": (
        "mcount.S",
        "LONG_L	$v0, RETURN_SAVED(0)($sp)",
        "LONG_L	$v0, RETURN_SAVED(1)($sp)",
        r"l[wd] \$v0, .*\(\$sp\)",
    ),
}
"""By port: a file, what is replaced in it and by what, and the instruction that is wrong then."""


def planted(port, directory, file, right, wrong):
    """A copy of a port with a fault in it."""
    copy = directory / "port"
    shutil.copytree(port.directory, copy)
    text = (copy / file).read_text()
    assert text.count(right) == 1
    (copy / file).write_text(text.replace(right, wrong))
    return copy


def enter(config, port, clause, *lines):
    return harness(
        *("conform", "-c", config, "--port", port, "--clause", clause, "--replay"),
        input="\n".join(lines) + "\n",
    )


def pytest_generate_tests(metafunc):
    """Every config with one CPU and a fault here, also those that other tests leave out."""
    if "config" in metafunc.fixturenames:
        known = [name for name in ONE_CPU if load_config(name).port in LOST_RESULT]
        metafunc.parametrize("config", known)


def test_a_lost_result_is_where_it_is_loaded(config, tmp_path):
    own = load_config(config).port
    *fault, instruction = LOST_RESULT[own]
    port = planted(load_port(own), tmp_path, *fault)
    done = enter(config, port, "C5a", "x/i $pc", "back 1", "info symbol $pc")
    assert done.returncode == 1, done.stderr
    entered = done.stdout.partition("C5a: return_to_handler: ")[2]
    assert re.match(rf"`{instruction}` wrote \S+ last\n", entered), done.stdout
    assert re.search(r"=> 0x\w+ <return_to_handler\+\d+>", entered)
    assert re.search(r"instruction @\d+ of \d+\n(.*\n)*return_to_handler \+ \d+", entered)


def test_a_guest_that_died_is_entered_where_it_did(tmp_path):
    """The check goes on with another guest, which lives; the recording is of the dead one."""
    port = planted(load_port("mips"), tmp_path, "mcount.S", "move	$ra, $v0", "la	$ra, panic")
    done = enter("mips-malta", port, "C5c", "when", "stepi", "p/x $pc == $ra")
    assert (
        "C5c: return_to_handler: `addiu $sp, $sp, 0x30` was the last of the port's" in done.stdout
    )
    assert done.stdout.rstrip().endswith("= 0x1"), done.stdout
    assert done.returncode == 1


def test_a_panic_of_the_kernel_is_entered_at_its_exception(tmp_path):
    port = planted(load_port("mips"), tmp_path, *LOST_RESULT["mips"][:3])
    done = enter("mips-malta", port, "C6b", "info symbol $pc", "continue", "bt 1")
    found = re.search(r"\nC6b: (?:load from|store to) 0x\w+ in (\w+)\+0x", done.stdout)
    assert found, done.stdout
    assert f"\n{found[1]} + " in done.stdout
    assert re.search(r"\n#0  panic_stop ", done.stdout)


def test_without_a_failure_there_is_no_session():
    done = harness(*("conform", "-c", "mips-malta", "--clause", "C5a", "--replay"), input="when\n")
    assert done.returncode == 0, done.stderr
    assert "1 pass" in done.stdout
    assert "instruction @" not in done.stdout


@pytest.mark.parametrize(
    ("options", "message"),
    [
        (("-c", SEVERAL), "replays machines with one"),
        (("-c", WITHOUT_CLOCK), "cannot restore the clock"),
        ((), "--replay goes into one guest"),
        (("-c", "mips-malta", "--next"), "--replay goes with"),
        (("-c", "mips-malta", "--json", "-"), "--replay goes with"),
        (("-c", "mips-malta", "--mutant", "all"), "--replay goes with"),
    ],
)
def test_refusals(options, message):
    done = harness("conform", *options, "--replay")
    assert done.returncode == 2
    assert message in done.stderr
    assert not done.stdout
