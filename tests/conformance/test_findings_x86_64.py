# SPDX-License-Identifier: MIT
"""Findings that need x86-64: its code is written byte by byte, behind a breakpoint."""

import pytest


@pytest.mark.parametrize(
    ("mutant", "clause", "function", "line"),
    [
        # No register holds the instruction that is compared with a site, or written.
        ("bytes-swapped", "C9a", "ftrace_make_nop", "byte[MCOUNT_INSN_SIZE - i]"),
        ("slot-jumps", "C10a", "ftrace_update_ftrace_func", "byte[0] = opcode"),
        # What is compared last is a number, and not the site.
        ("range-from-the-beginning", "C9g", "ftrace_make_call", "distance + MCOUNT_INSN_SIZE !="),
        # A valid request is refused, for one module's sites only.
        ("modules-refused", "C7f", "modify", "__module_text_address"),
        # The handler of the breakpoint lets a CPU go on at the wrong place, or kills it.
        ("slot-passed-over", "C10c", "ftrace_int3_handler", "if (0)"),
        ("breakpoints-of-others-handled", "C9j", "ftrace_int3_handler", "regs->pc ="),
        # It answers that it has handled the breakpoint, and has changed nothing.
        ("breakpoint-goes-on-behind-itself", "C9j", "ftrace_int3_handler", "return 1;"),
        # Of many stores, one is neither the breakpoint nor the last.
        ("nop-between-two-tracers", "C10c", "ftrace_update_ftrace_func", "text[0] = insn"),
        # A wrong byte was copied from a constant.
        ("five-nops", "C9a", "nop", "{ { 0x90, 0x1f"),
        # The static stub never comes to the tracer, so it is not what it restores.
        ("address-of-the-pointer-called", "C3b", "ftrace_trace_caller", "ftrace_trace_function"),
        # The first instruction of the function is the kernel's, and long.
        ("flag-of-the-entry-ignored", "C13c", "syscall_trace_enter", "if (current->flags)"),
    ],
)
def test_a_fault_of_code_in_bytes_has_its_line(mutant, clause, function, line, has_line):
    has_line("x86_64-q35", [mutant], [clause], clause, function, line)


@pytest.mark.parametrize("mutant", ["return-address-of-the-stub", "place-one-word-too-high"])
def test_another_word_than_the_return_address_is_one_finding(mutant, has_line):
    """The call has left it on the stack: its address is known, and so is who made another one."""
    clauses = ["C1j", "C4c", "C4d", "C12a"]
    has_line("x86_64-q35", [mutant], clauses, "C4d", "ftrace_graph_caller", "graph_arguments")


def test_what_a_handler_makes_of_a_breakpoint_is_shown_with_the_store_of_it(judged):
    """The handler is right to refuse a breakpoint that nobody has announced."""
    port, [finding] = judged("x86_64-q35", ["breakpoint-not-known"], ["C9j"])
    source = (port / "ftrace.c").read_text().splitlines()
    assert "READ_ONCE(patched)" in source[finding.place.line - 1]
    assert any("text[0] = BREAKPOINT" in source[call.line - 1] for call in finding.place.callers)
