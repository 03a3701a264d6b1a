# SPDX-License-Identifier: MIT
"""Findings that need arm: an ABI without frame records, and T32 code in halfwords."""

import pytest


def test_the_frame_pointer_that_the_caller_does_not_have_is_wrong(has_line):
    """The kernel is given it on the way in, and the one of the caller on the way out."""
    mutants = ["frame-pointer-of-the-function"]
    has_line("arm-virt", mutants, ["C6b"], "C6b", "ftrace_graph_caller", "graph_arguments")


def test_wrong_stack_traces_follow_from_the_wrong_address_that_is_kept(has_line):
    """Both are seen with the graph tracer on, whatever the search for the place switches."""
    mutants, clauses = ["kept-address-is-wrong"], ["C4d", "C12b"]
    has_line("arm-virt", mutants, clauses, "C4d", "prepare_ftrace_return", "*parent + 4")


def test_a_replaced_word_by_which_nothing_returns_is_where_its_address_was_made(has_line):
    mutants = ["parent-in-the-pushed-word"]
    has_line("arm-virt", mutants, ["C4d"], "C4d", "ftrace_graph_caller", "graph_arguments")


@pytest.mark.parametrize(
    ("mutant", "clauses", "clause", "function", "line"),
    [
        # The word that the site was compared with calls by a wrong distance.
        ("pc-not-ahead", ["C9a"], "C9a", "encode_branch", "- BRANCH_AHEAD"),
        # The slot is refused for what the call before has left there.  In a register the first
        # halfword of an instruction is the lower one.
        ("slot-jumps", ["C10a"], "C10a", "encode_branch", "*insn = opcode | T32("),
        # The stack pointer is wrong behind the site, and so is all that follows.
        (
            "pushed-word-left",
            ["C1c", "C5e", "C8f", "C12a"],
            "C8f",
            "ftrace_caller",
            "restore_state_and_return",
        ),
        # The guest dies on the way home, and its registers were wrong before.
        (
            "lr-not-restored",
            ["C1b", "C4c", "C8f"],
            "C8f",
            "ftrace_caller",
            "restore_state_and_return",
        ),
        # Compilers push in front of a site: only some functions' stacks are misaligned.
        ("stack-off-by-a-word", ["C1e"], "C1e", "ftrace_caller", "save_state"),
    ],
)
def test_a_fault_of_t32_code_has_its_line(mutant, clauses, clause, function, line, has_line):
    has_line("arm-virt-thumb", [mutant], clauses, clause, function, line)


def test_a_fault_in_the_workload_is_the_instruction_that_raised_it(has_line):
    """The call under test survives a second hijack, and not every call does."""
    call = "\tunwind_frame fp\n\tgraph_arguments\n\tbl\tprepare_ftrace_return\n"
    edits = {"mcount.S": (call, call + "\tbl\tprepare_ftrace_return\n")}
    function, line = "prepare_ftrace_return", "function_graph_enter(*frame.lr_addr"
    has_line("arm-virt-thumb", [], ["C4d", "C4g"], "C4d", function, line, edits)


def test_what_spoils_sites_is_told_and_not_that_the_port_refuses_them_then(has_line):
    """Without its arguments the hijack takes the call site for the place of the return address."""
    arguments, call = "\tgraph_arguments\n", "\tbl\tprepare_ftrace_return\n"
    edits = {"mcount.S": (f"fp\n{arguments}{call}", f"fp\n{call}{arguments}")}
    function, line = "ftrace_graph_caller", "prepare_ftrace_return"
    has_line("arm-virt", [], ["C4e", "C5g"], "C4e", function, line, edits)
