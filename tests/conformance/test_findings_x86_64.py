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
        # The first store is left out, and CPUs are made to see nothing.
        ("no-breakpoint", "C9j", "modify", "kick_all_cpus_sync"),
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


def test_a_range_that_nobody_asks_about_is_where_the_distance_was_made(has_line):
    """No register holds the call, and what is asked last is about something else."""
    edits = {"ftrace.c": ("\tif (distance != (s32)distance)\n\t\treturn -ERANGE;\n", "")}
    function, line = "ftrace_make_call", "(long)(target - pc)"
    has_line("x86_64-q35", [], ["C9f", "C9g"], "C9g", function, line, edits)


def test_what_a_handler_makes_of_a_breakpoint_is_shown_with_the_store_of_it(judged):
    """The handler is right to refuse a breakpoint that nobody has announced."""
    port, [finding] = judged("x86_64-q35", ["breakpoint-not-known"], ["C9j"])
    source = (port / "ftrace.c").read_text().splitlines()
    assert "READ_ONCE(patched)" in source[finding.place.line - 1]
    assert any("text[0] = BREAKPOINT" in source[call.line - 1] for call in finding.place.callers)


ADD, STORE = "\taddq\t$FRAME_PC, %rsp\n", "\tmovq\t%rax, FRAME_PC(%rsp)\n"
PARENT = "\tleaq\tFRAME_PARENT_PC(%rsp), %rdi\n"
CALL, RET = "\tcall\tprepare_ftrace_return\n", "\tret\n\t.cfi_endproc\n"
END = f"{RET}SYM_FUNC_END(ftrace_graph_caller)\n#endif\n\n#else"
"""That of a dynamic build; one of static builds follows."""


@pytest.mark.parametrize(
    ("clauses", "clause", "function", "line", "file", "old", "new"),
    [
        # The return address is popped: the stack pointer was moved too far, or the word is another.
        (["C4d", "C5"], "C4d", "return_to_handler", "addq", "return_to_handler.S", ADD, ADD + ADD),
        (["C4d", "C5"], "C4d", "return_to_handler", "call", "return_to_handler.S", STORE, ""),
        # The frame is left where it is.
        (
            ["C4c", "C4d"],
            "C4c",
            "ftrace_graph_caller",
            "ret",
            "mcount.S",
            f"{CALL}\trestore_state\n{END}",
            f"{CALL}{END}",
        ),
        # What ftrace_caller has made for its own call is passed on, in the same register or all.
        (
            ["C4", "C12a"],
            "C4d",
            "ftrace_graph_caller",
            "graph_arguments",
            "mcount.S",
            PARENT,
            "",
        ),
        (
            ["C4", "C12a"],
            "C4e",
            "ftrace_graph_caller",
            "call\tprepare",
            "mcount.S",
            f"\tgraph_arguments\n{CALL}\trestore_state\n{END}",
            f"{CALL}\trestore_state\n{END}",
        ),
        # The function of a system call is refused, and a number that is none is taken.
        (
            ["C13f"],
            "C13f",
            "arch_syscall_addr",
            "NR_syscalls",
            "syscall.c",
            "(nr < 0 || nr >= NR_syscalls)",
            "(!(nr < 0 || nr >= NR_syscalls))",
        ),
        # A static stub asks in the wrong order, and does not come to the tracer.
        (
            ["C3b", "C4a"],
            "C3b",
            "__fentry__",
            "jne",
            "mcount.S",
            "\tcmpl\t$0, function_trace_stop\n\tjne\t.Lfentry_return\n#endif\n\tbranch",
            "\tjne\t.Lfentry_return\n\tcmpl\t$0, function_trace_stop\n#endif\n\tbranch",
        ),
    ],
)
def test_a_small_fault_has_its_line(clauses, clause, function, line, file, old, new, has_line):
    has_line("x86_64-q35", [], clauses, clause, function, line, edits={file: (old, new)})
