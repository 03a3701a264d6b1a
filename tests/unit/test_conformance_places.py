# SPDX-License-Identifier: MIT
"""The calls in which an instruction is executed, and definitions in a port's sources."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest

from harness.conformance.places import (
    at_return,
    condition_of,
    definition_of,
    merged_statement,
    open_calls,
    where_named,
    with_macro,
)
from harness.conformance.verdict import Place, PortLine
from harness.image import Function

UPDATE, FILL, WRITE = (
    Function(name, address, 0x100)
    for name, address in (("update", 0x1000), ("fill", 0x1100), ("write", 0x2000))
)


class Image:
    """Three functions of four-byte instructions."""

    isa = SimpleNamespace(longest=4)

    def function_at(self, address):
        inside = (f for f in (UPDATE, FILL, WRITE) if f.address <= address < f.address + f.size)
        return next(inside, None)


def test_calls_are_open_until_they_return():
    executed = [0x1000, 0x1004, 0x1100, 0x1104, 0x2000, 0x2004]
    assert open_calls(Image(), executed) == [0x1104, 0x1004]
    # Behind the delay slot of the call.
    assert open_calls(Image(), [*executed, 0x110C]) == [0x1004]
    assert open_calls(Image(), [*executed, 0x110C, 0x100C]) == []


def test_a_function_that_is_jumped_to_returns_for_its_caller():
    assert open_calls(Image(), [0x1004, 0x1100, 0x1104, 0x2000]) == [0x1104, 0x1004]
    assert open_calls(Image(), [0x1004, 0x1100, 0x1104, 0x2000, 0x2004, 0x100C]) == []


def test_what_is_fallen_into_was_not_called():
    assert open_calls(Image(), [0x10F8, 0x10FC, 0x1100]) == []


HEADER = """\
#define MCOUNT_ADDR	((unsigned long)_mcount)
#define CALLS		MCOUNT_ADDR
int ftrace_dyn_arch_init(void);
static inline unsigned long ftrace_call_adjust(unsigned long addr)
{
	return addr;
}

static inline unsigned long
ftrace_regs_get_instruction_pointer(const struct ftrace_regs *fregs)
{
	return fregs->pc;
}

static inline unsigned long ftrace_regs_get_argument(const struct ftrace_regs *fregs,
						unsigned int n)
{
	return fregs->regs[n];
}

static inline void ftrace_regs_set_return_value(struct ftrace_regs *fregs, unsigned long value)
{
	fregs->regs[0] = value;
}
"""
STUB = """\
SYM_FUNC_START(ftrace_caller)
SYM_INNER_LABEL(ftrace_call)
	bl	ftrace_call
SYM_FUNC_END(ftrace_caller)
NESTED(_mcount, PT_SIZE, ra)
END(_mcount)
"""
C_FILE = """\
int ftrace_dyn_arch_init(void)
{
	return ftrace_call_adjust(0);
}
#ifdef A
void twice(void)
#else
int twice(void)
#endif
"""


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("MCOUNT_ADDR", "include/asm/ftrace.h:1"),
        ("ftrace_call_adjust", "include/asm/ftrace.h:6"),
        # The type may have a line of its own, and so may a parameter.
        ("ftrace_regs_get_instruction_pointer", "include/asm/ftrace.h:12"),
        ("ftrace_regs_get_argument", "include/asm/ftrace.h:18"),
        # The only line of a function that returns nothing.
        ("ftrace_regs_set_return_value", "include/asm/ftrace.h:23"),
        ("ftrace_caller", "mcount.S:1"),
        ("ftrace_call", "mcount.S:2"),
        ("_mcount", "mcount.S:5"),
        ("ftrace_dyn_arch_init", "ftrace.c:3"),
        ("twice", None),
        ("addr", None),
        ("ftrace_", None),
    ],
)
def test_a_definition_is_found_by_its_text(tmp_path: Path, name, place):
    (tmp_path / "include/asm").mkdir(parents=True)
    (tmp_path / "include/asm/ftrace.h").write_text(HEADER)
    (tmp_path / "mcount.S").write_text(STUB)
    (tmp_path / "ftrace.c").write_text(C_FILE)
    found = definition_of(tmp_path, "elsewhere", name)
    assert (found and f"{found.file}:{found.line}") == place
    if found is not None:
        assert found.is_hint
        assert found.sentence == f"{name} is defined here"


GUARDED = """\
#ifndef _ASM_FTRACE_H
#ifdef CONFIG_DYNAMIC_FTRACE
#if BITS == 64
#endif
#ifdef CONFIG_FUNCTION_GRAPH_FP_TEST
SYM_FUNC_START(return_to_handler)
#endif
#endif
SYM_FUNC_START(ftrace_stub)
#endif
unsigned long ftrace_call_adjust(unsigned long addr)
{
#ifdef CONFIG_DYNAMIC_FTRACE
	return addr + 4;
#endif
}
"""


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("return_to_handler", 5),
        ("ftrace_stub", None),
        ("ftrace_call_adjust", None),
        ("elsewhere", None),
    ],
)
def test_a_definition_that_is_left_out_has_its_condition(tmp_path: Path, name, line):
    (tmp_path / "mcount.S").write_text(GUARDED)
    found = condition_of(tmp_path, name)
    assert (found and found.line) == line
    if found is not None:
        assert found.sentence == f"{name} is left out by this condition"


SLOTS = """\
static int encode(unsigned long pc)
{
	return pc;
}

static int modify(bool on)
{
	u32 *insn = (u32 *)ftrace_call;

	return on ? encode(insn) : 0;
}

int enable(void)
{
	return modify(true) ? modify(ftrace_call) : (int)ftrace_call;
}
"""


@pytest.mark.parametrize(
    ("line", "callers", "found", "left"),
    [
        # In its own function, above the line that the compiler gives.
        (10, (14,), 8, (14,)),
        # In the function that calls it.
        (3, (10, 14), 8, (14,)),
        # In no other function, also if it is named there.
        (3, (), 3, ()),
    ],
)
def test_an_address_is_made_where_its_name_is(tmp_path: Path, line, callers, found, left):
    (tmp_path / "ftrace.c").write_text(SLOTS)
    calls = tuple(PortLine("ftrace.c", number) for number in callers)
    place = Place("enable", "ftrace.c", line, 0x1000, "li", "made it", calls)
    moved = where_named(tmp_path, place, ["ftrace_call"])
    assert (moved.line, tuple(call.line for call in moved.callers)) == (found, left)
    assert where_named(tmp_path, place, []) == place


TRAMPOLINES = """\
	if (address == ftrace_caller)
		address = first;
	else if (address == mcount)
		address = first;
	else
		address = second;
"""


@pytest.mark.parametrize(
    ("line", "asked", "found"),
    [
        # Compilers give both statements the line of one: it is that under the last decision.
        (4, 1, 2),
        (2, 3, 4),
        (4, 3, 4),
        # Another statement, and no line at all.
        (6, 3, 6),
        (6, 6, 6),
    ],
)
def test_of_equal_statements_it_is_the_one_under_the_decision(tmp_path: Path, line, asked, found):
    (tmp_path / "ftrace.c").write_text(TRAMPOLINES)
    place = Place("encode_call", "ftrace.c", line, 0x1000, "ldr", "made it")
    assert merged_statement(tmp_path, place, asked).line == found


@pytest.mark.parametrize(("line", "found"), [(6, 10), (7, 10), (11, 10), (8, 8), (4, 4)])
def test_an_answer_is_made_where_its_function_returns(tmp_path: Path, line, found):
    """Compilers may give it the function's first line, or that of the closing bracket."""
    (tmp_path / "ftrace.c").write_text(SLOTS)
    place = Place("modify", "ftrace.c", line, 0x1000, "mov", "made the answer")
    assert at_return(tmp_path, place).line == found


def test_an_address_that_one_file_names_is_made_there(tmp_path):
    (tmp_path / "ftrace.c").write_text("static int f(void)\n{\n\treturn set(ops());\n}\n")
    (tmp_path / "ops.c").write_text("void *ops(void)\n{\n\treturn &list_ops;\n}\n")
    place = Place("f", "ftrace.c", 3, 0, "add x2, x2, 8", "made the word")
    moved = where_named(tmp_path, place, ["list_ops"])
    assert (moved.file, moved.line, moved.callers) == ("ops.c", 3, (PortLine("ftrace.c", 3),))
    (tmp_path / "again.c").write_text("void *again = &list_ops;\n")
    assert where_named(tmp_path, place, ["list_ops"]) == place


def test_a_line_of_assembly_is_a_macro_without_arguments(tmp_path):
    lines = [
        "\t.macro\tsave",
        "\t.endm",
        "\t.macro load reg",
        "\tsave\t/* all */",
        "\tload\ta0",
        "\tnop",
    ]
    (tmp_path / "mcount.S").write_text("\n".join(lines))
    place = Place("_mcount", "mcount.S", 0, 0x1000, "sd a0, 0(sp)", "was last")
    found = [with_macro(tmp_path, replace(place, line=line)).macro for line in (0, 4, 5, 6, 7)]
    assert found == ["", "save", "", "", ""]
