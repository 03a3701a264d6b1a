# SPDX-License-Identifier: MIT
"""Findings about how MIPS hijacks calls: by prologues, which it has decoded at boot."""

import pytest

DECODES = "decode_prologue"


@pytest.mark.parametrize(
    ("file", "old", "new", "clause", "function", "line"),
    [
        # A call is left alone, or the workload has no events of a function with a large frame.
        ("prologue.c", "frame_size % 8 ", "frame_size % 7 ", "C4d", DECODES, "frame_size % 7"),
        (
            "prologue.c",
            "if (target && target == rest->reg)",
            "if (!(target && target == rest->reg))",
            "C4d",
            DECODES,
            "if (!known || (source && source != target))",
        ),
        # Of the condition `!stores_ra(insn)` the compiler has left nothing.
        (
            "prologue.c",
            "(word & 0xffff0000) == STORE_RA",
            "true",
            "C4d",
            "stores_ra",
            "return true",
        ),
        # The kernel panics of the frame pointer of the call that had begun last.
        (
            "prologue.c",
            "<< 2 | (u32)(frame_size / 8)",
            "<< 2 | (u32)(frame_size / 7)",
            "C6b",
            DECODES,
            "/ 7",
        ),
        # The stub passes a call site on that it has not saved.
        ("mcount.S", "\tfind_site\n3:", "3:", "C4d", "ftrace_graph_caller", "save_all"),
        # The prologues of a module are not decoded, and it is not loaded.
        (
            "ftrace.c",
            "module_memory(module, module->text_end - ",
            "module_memory(module, module->text_end + ",
            "C7f",
            "ftrace_graph_module_init",
            "if (!prologues)",
        ),
    ],
)
def test_what_is_decided_before_has_its_line(file, old, new, clause, function, line, has_line):
    has_line("mips-malta", [], [clause], clause, function, line, {file: (old, new)})


def test_the_decision_that_led_to_the_last_one_has_its_line(has_line):
    """A second store of ra is refused where `stored` is asked, which the first one has set."""
    mutants, line = ["any-store-is-ra"], "STORE_RA & 0xffe00000"
    has_line("mips-malta", mutants, ["C4d"], "C4d", DECODES, line)


def test_what_is_decided_about_an_unreadable_prologue_has_its_line(has_line):
    """No prologue of the compiler's is decided about so; the fault is behind the call."""
    mutants, line = ["unknown-taken-for-the-start"], "switch (OPCODE(word))"
    has_line("mips-malta", mutants, ["C4i"], "C4i", DECODES, line)


def test_a_choice_between_the_same_two_values_decides_nothing(has_line):
    """The compiler leaves nothing of it: the same code is run for sites that are right."""
    mutants, function = ["long-call-length-without-the-chain"], "long_call_length"
    has_line("mips-malta", mutants, ["M1b"], "M1b", function, "? i + 2 : i + 2")


def test_a_loop_that_is_never_repeated_has_its_line(has_line):
    """The compiler leaves nothing of it; no decision and no value make the word right."""
    mutants, line = ["prologue-of-one-word"], "for (i = 0; i < MAX_WORDS; i++)"
    has_line("mips-malta", mutants, ["C4d", "C4i", "C4g", "C4h"], "C4d", DECODES, line)


def test_a_value_from_a_delay_slot_has_the_line_of_its_store(has_line):
    """Debug information gives it the line of the loop in front of it."""
    mutants, function = ["long-call-branch-too-long"], "modify_long_call"
    has_line("mips-malta", mutants, ["M1b"], "M1b", function, "BRANCH | length")


def test_a_stack_pointer_that_the_site_has_lowered_has_the_line_of_the_return(has_line):
    """Nothing in the stub moves it, and what stands in the return's delay slot is right."""
    mutants = ["o32-adjustment-forgotten"]
    has_line("mips-malta", mutants, ["C8d"], "C8d", "_mcount", "jr\t$ra")
