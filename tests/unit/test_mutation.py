# SPDX-License-Identifier: MIT
"""Planted faults: mutants fit their ports, and the generated ones are what they say."""

import re
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.config import list_configs, load_config, load_port
from harness.conformance.variants import suite_spec
from harness.errors import UsageError
from harness.isa import for_elf
from harness.mutation import kill_table
from harness.mutation.assembly import Statement, statements
from harness.mutation.mutants import Collection, Equivalent, Mutant, Stub, load
from harness.mutation.operators import IDEMPOTENT, INDEPENDENT, UNREACHABLE, faults
from tests.support.configs import EXAMPLES

MIPS = for_elf(8, 32, "big").asm_syntax
AARCH64 = for_elf(183, 64, "little").asm_syntax

EVERY = {load_config(name).port: load_config(name).architecture for name in list_configs()}

# In the order of the columns of the document's table: of each architecture the oldest port.
OLDEST = sorted(port for port, architecture in EVERY.items() if port == architecture)
PORTS = ("mips", "aarch64", *(port for port in OLDEST if port not in EXAMPLES))
NEWER = sorted(set(EVERY) - set(PORTS))


@pytest.mark.parametrize("name", [*PORTS, *NEWER])
def test_every_mutant_fits_its_port_and_applies_somewhere(name):
    port = load_port(name)
    configs = [load_config(config) for config in list_configs()]
    mutants = load(name).mutants
    assert len(mutants) > (40 if name in PORTS else 10)
    for mutant in mutants:
        texts = mutant.edits(port)
        assert all((port.directory / file).read_text() != text for file, text in texts.items())
        assert any(mutant.applies_to(c) for c in configs if c.port == name), mutant.id


def bugs_of(port):
    found = {}
    for mutant in load(port).mutants:
        for bug in mutant.bugs:
            found.setdefault(bug, set()).add(mutant.id)
    return found


def test_the_document_lists_every_bug_with_its_mutants():
    text = (Path(__file__).parents[2] / "docs" / "mutants.rst").read_text()
    cells = r"\n     - (.+)" * len(PORTS)
    rows = re.findall(rf"^   \* - (B\d+)\n     - .+{cells}$", text, re.MULTILINE)
    assert len(rows) == len({bug for bug, *_ in rows}) == 71
    for column, port in enumerate(PORTS, 1):
        known = bugs_of(port)
        assert known.keys() <= {row[0] for row in rows}
        for row in rows:
            ids = set(re.findall(r"``([\w.+-]+)``", row[column]))
            assert ids == known.get(row[0], set()), row
            assert ids or len(row[column]) > 10, row


@pytest.mark.parametrize("name", [*PORTS, *NEWER])
def test_every_stub_has_clauses_that_are_for_some_config(name):
    configs = [load_config(config) for config in list_configs()]
    own = [config for config in configs if config.port == name]
    assert load(name).stubs
    for stub in load(name).stubs:
        assert any(stub.clauses_on(config) for config in own), stub


def test_the_first_stub_that_covers_an_instruction_counts():
    mips = load("mips")

    def stub(text, label):
        return mips.stub(Statement(text, label, label))

    assert stub("lhu $3, 0-12($a0)", "ftrace_caller").modules
    plain = stub("lbu $3, -8($ra)", "ftrace_caller")
    assert not plain.modules
    assert plain.clauses != stub("jr $ra", "return_to_handler").clauses
    assert stub("nop", "no_such_label") is None


def test_a_mutant_must_name_clauses_that_exist():
    edit = {"file": "x", "old": "a", "new": "b"}
    with pytest.raises(ValueError, match="names no clauses: C99z"):
        Mutant.model_validate({"id": "x", "about": "x", "clauses": ["C99z"], "edit": [edit]})


def test_an_edit_must_fit_exactly():
    mutant = Mutant.model_validate(
        {
            "id": "x",
            "about": "x",
            "clauses": ["C1a"],
            "edit": [{"file": "ftrace.c", "old": "no such text", "new": ""}],
        }
    )
    with pytest.raises(Exception, match=r"does not fit .*stands there 0 times, not 1"):
        mutant.edits(load_port("mips"))


def test_statements_expand_macros_in_macros():
    source = """
\t.macro each operation
\t\\operation $ra, 4($sp)
\t\\operation $at, 8($sp)
\t.endm
\t.macro save
\taddiu $sp, $sp, -16
\teach sw
\t.endm
f: nop; save
.L1:
\tjr $ra
"""
    found = [(one.text, one.function) for one in statements(source)]
    assert found == [
        ("f:", "f"),
        ("nop", "f"),
        ("addiu $sp, $sp, -16", "f"),
        ("sw $ra, 4($sp)", "f"),
        ("sw $at, 8($sp)", "f"),
        (".L1:", "f"),
        ("jr $ra", "f"),
    ]


def made(source, isa):
    return {fault.name: fault for fault in faults(statements(source), isa)}


def texts(source, isa):
    return {
        name: [line.strip() for line in fault.source.splitlines() if line.startswith("\t")]
        for name, fault in made(source, isa).items()
    }


def test_every_operation_on_mips():
    found = texts("f:\n\tlw $4, 8($sp)\n\tj away\n\tnop\naway:\n", MIPS)
    rest = ["j away", "nop"]
    assert found["f/0/drop"] == ["nop", *rest]
    assert found["f/0/double"] == ["lw $4, 8($sp)", "lw $4, 8($sp)", *rest]
    assert found["f/0/swap"] == ["j away", "lw $4, 8($sp)", "nop"]
    assert found["f/0/register"] == ["lw $5, 8($sp)", *rest]
    assert found["f/0/last"] == ["lw $4, 8($30)", *rest]
    assert found["f/0/offset"] == ["lw $4, 8 + 4($sp)", *rest]
    assert found["f/1/target"] == ["lw $4, 8($sp)", "j f", "nop"]
    assert found["f/2/drop"] == ["lw $4, 8($sp)", "j away"]


def test_every_operation_on_aarch64():
    found = texts(
        "f:\n\tldp x0, x1, [sp, #16]\n\tldr x2, [x3]\n\tsub sp, sp, #32\n\tret\n", AARCH64
    )
    assert found["f/0/register"][0] == "ldp x1, x1, [sp, #16]"
    assert found["f/0/last"][0] == "ldp x0, x1, [x16, #16]"
    assert found["f/0/offset"][0] == "ldp x0, x1, [sp, #8 + 16]"
    assert found["f/1/offset"][1] == "ldr x2, [x3, #8]"
    assert found["f/2/offset"][2] == "sub sp, sp, #8 + 32"


@pytest.mark.parametrize(
    ("isa", "source", "operation", "proof"),
    [
        (MIPS, "sw $4, 0($sp)\n\tsw $5, 4($sp)", "double", IDEMPOTENT),
        (MIPS, "sw $4, 0($sp)\n\tsw $5, 4($sp)", "swap", INDEPENDENT),
        (MIPS, "sw $4, 0($sp)\n\tsw $5, 2($sp)", "swap", ""),
        (MIPS, "sw $4, 0($sp)\n\tsw $5, 8($4)", "swap", ""),
        (MIPS, "sw $4, 0($sp)\n\tlw $4, 8($sp)", "swap", ""),
        (MIPS, "lw $4, 0($sp)\n\tlw $5, 0($sp)", "swap", INDEPENDENT),
        (MIPS, "addiu $sp, $sp, -8\n\tnop", "double", ""),
        (MIPS, "jr $ra\n\tmove $ra, $1", "double", ""),
        (MIPS, "jr $ra\n\tmove $ra, $1", "swap", ""),
        (MIPS, "lbu $3, -8($ra)\n\taddiu $sp, $sp, -8", "double", IDEMPOTENT),
        (MIPS, "lbu $3, -8($ra)\n\taddiu $sp, $sp, -8", "swap", INDEPENDENT),
        (MIPS, "move $4, $2\n\taddiu $a0, $sp, 8", "swap", ""),
        (MIPS, "srl $3, $3, 11\n\tnop", "double", ""),
        (AARCH64, "ret\n\tnop", "double", UNREACHABLE),
        (AARCH64, "ldr x9, [x9, #:lo12:a]\n\tadrp x10, b", "swap", INDEPENDENT),
        (AARCH64, "ldr x9, [x9, #:lo12:a]\n\tadrp x10, b", "double", ""),
        (AARCH64, "mov w9, w1\n\tadd x2, x9, #8", "swap", ""),
        (AARCH64, "stp x0, x1, [sp, #16]\n\tstp q0, q1, [sp, #32]", "swap", INDEPENDENT),
        (AARCH64, "stp x0, x1, [sp, #16]\n\tstp q0, q1, [sp, #24]", "swap", ""),
        (AARCH64, "stp x0, x1, [sp, #-16]!\n\tmov x0, x1", "double", ""),
        (AARCH64, "ldr x0, [x0]\n\tmov x1, x2", "double", ""),
        (AARCH64, "ldr x16, 1f\n\tbr x16", "double", IDEMPOTENT),
        (AARCH64, "ldr x16, 1f\n\tbr x16", "swap", ""),
        (AARCH64, "bl f\n\tmov x1, x2", "swap", ""),
    ],
)
def test_what_is_proved_to_change_nothing(isa, source, operation, proof):
    assert made(f"f:\n\t{source}\n", isa)[f"f/0/{operation}"].equivalent == proof


def test_nothing_is_proved_of_a_slot_that_a_port_writes_to():
    """Nor of what is in its delay slot then, where there is one."""
    for isa, rest in (
        (MIPS, "move $5, $1\n\tlw $25, 0($sp)"),
        (AARCH64, "mov x1, x2\n\tmov x3, x4"),
    ):
        found = made(f"slot:\n\tnop\n\t{rest}\n\tnop\n", isa)
        assert not found["slot/0/swap"].equivalent
        for fault in ("slot/0/double", "slot/1/double", "slot/1/swap"):
            assert bool(found[fault].equivalent) == (isa is AARCH64)
        assert {found[f"slot/{at}/double"].equivalent for at in (2, 3)} == {IDEMPOTENT}


def test_the_copy_of_a_delay_slot_behind_a_jump_is_never_reached():
    found = made("f:\n\tjr $ra\n\tmove $ra, $1\n", MIPS)
    assert found["f/1/double"].equivalent == UNREACHABLE


def test_a_record_of_equivalence_covers_by_name_statement_and_config():
    record = Equivalent.model_validate(
        {"faults": ["*/f/*/double"], "statement": "hint *", "reason": "why"}
    )
    config = load_config("aarch64-virt")
    assert record.covers(config, "dynamic/f/3/double", "hint #34: double")
    assert not record.covers(config, "dynamic/g/3/double", "hint #34: double")
    assert not record.covers(config, "dynamic/f/3/double", "ret: double")


SOURCE = "f:\n\tlw $4, 8($sp)\n.Llong_call:\n\tsw $4, 4($sp)\n\tjr $ra\n\tnop\n"


def planted(monkeypatch, names, equivalents=()):
    """The tasks of a made-up assembly file, without a build."""
    stub = Stub(labels=(".Llong_call",), clauses=("M2",), modules=True)
    collection = Collection((), (stub,), tuple(equivalents))
    monkeypatch.setattr(kill_table, "syntax_of", lambda *_: MIPS)
    assembly = SimpleNamespace(preprocess=lambda: {"mcount.S": SOURCE})
    monkeypatch.setattr(kill_table, "plan_build", lambda _: assembly)
    monkeypatch.setattr(kill_table, "port_faults", lambda _: [])
    return list(kill_table._generated(suite_spec("mips-malta"), names, collection))


def test_what_only_modules_come_to_is_judged_with_modules(monkeypatch):
    tasks = {task.name: task for task in planted(monkeypatch, ["all"])}
    assert tasks["dynamic/f/0/offset"].variants == ("dynamic", "modules")
    assert tasks["dynamic/f/1/offset"].variants == ("modules",)
    assert "M2c" in tasks["dynamic/f/1/offset"].clauses
    # Static builds have the same statements, which have been planted once.
    assert {name.split("/")[0] for name in tasks} == {"dynamic"}


def test_a_record_that_covers_no_fault_is_an_error(monkeypatch):
    used = Equivalent(faults=("dynamic/f/0/offset",), reason="it is used")
    tasks = {task.name: task for task in planted(monkeypatch, ["all"], [used])}
    assert tasks["dynamic/f/0/offset"].equivalent == "it is used"
    stale = Equivalent(faults=("dynamic/g/*",), reason="nothing is there")
    with pytest.raises(UsageError, match="because of: nothing is there"):
        planted(monkeypatch, ["all"], [used, stale])
    # Which faults a part of the table has says nothing of the record.
    assert planted(monkeypatch, ["dynamic/f/1/*"], [used, stale])
    # What is proved needs no record.
    proved = Equivalent(faults=("dynamic/f/1/double",), reason="it is proved")
    with pytest.raises(UsageError, match="because of: it is proved"):
        planted(monkeypatch, ["all"], [proved])


def outcome(name, clause="", equivalent="", built=True, expected=("C1a",)):
    return kill_table.MutantOutcome(
        "mips-malta", name, "about", expected, clause, equivalent=equivalent, built=built
    )


@pytest.mark.parametrize(
    ("one", "right"),
    [
        (outcome("a", "C1a"), True),
        (outcome("a", "C1b"), False),
        (outcome("a"), False),
        (outcome("a", built=False), False),
        (outcome("dynamic/f/0/drop", built=False), True),
        (outcome("dynamic/f/0/drop", equivalent="recorded"), True),
        (outcome("dynamic/f/0/drop", "C1a", equivalent="recorded"), False),
        (outcome("dynamic/f/0/drop", "C1b", expected=()), True),
    ],
)
def test_what_is_right_in_the_table(one, right):
    assert one.right == right
    assert kill_table.line(one).startswith("  " if right else "! ")


def test_the_sum_of_the_table():
    table = [
        outcome("a", "C1a"),
        outcome("b", "C1b"),
        outcome("c"),
        outcome("dynamic/f/0/swap", equivalent=INDEPENDENT),
        outcome("dynamic/f/0/drop", equivalent="recorded"),
        outcome("dynamic/f/0/last", built=False),
    ]
    *lines, total = kill_table.table_lines(table)
    assert len(lines) == 5
    assert total == (
        "mips-malta: 5 mutants: 1 caught, 1 not as expected, 1 equivalent by proof, "
        "1 for a reason that is recorded, 1 alive; 1 more do not build"
    )
