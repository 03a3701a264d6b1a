# SPDX-License-Identifier: MIT
"""Findings that need riscv64: it reads text by an inline function; one stub has no macros."""

import pytest


def test_a_word_that_is_written_again_is_where_the_inline_function_was_called(has_line):
    """Reading the old word is right, and writing it again is not."""
    mutants, function = ["slot-not-cleared"], "ftrace_update_ftrace_func"
    has_line("riscv64-virt", mutants, ["C10b"], "C10b", function, "u32 old =")


@pytest.mark.parametrize(
    ("lost", "clause", "line"),
    [
        # Nothing stores what is loaded back: the store beside it is there.
        ("\tsd\ta3, FREGS_A0 + 24(sp)\n", "C1a", "FREGS_A0 + 16(sp)"),
        # The tracer is called with what the function had in the register.
        ("\taddi\ta0, ra, -MCOUNT_INSN_SIZE\n", "C2a", "mv\ta1, t0"),
    ],
)
def test_a_missing_instruction_is_beside_what_stands_there(lost, clause, line, has_line):
    edits = {"mcount.S": (lost, "")}
    has_line("riscv64-virt-args", [], [clause], clause, "ftrace_caller", line, edits)
