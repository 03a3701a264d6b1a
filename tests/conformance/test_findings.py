# SPDX-License-Identifier: MIT
"""Findings on live guests: each fault is one finding, with its place in the port."""

import pytest


@pytest.mark.parametrize(
    ("config", "mutant", "clauses", "clause", "function", "line"),
    [
        # The maintenance that is too short is named, and the store in front of what has none.
        ("mips-malta", "flush-too-short", ["C9k"], "C9k", "ftrace_make_call", "flush_icache_range"),
        ("mips-malta", "no-flush-of-slots", ["C9k"], "C9k", "ftrace_update_ftrace_func", "="),
        # One of two words is missing; and a word is written that is none of the slot's.
        (
            "mips-malta",
            "delay-slot-not-restored",
            ["M4c"],
            "M4c",
            "ftrace_make_call",
            "code[i] =",
        ),
        (
            "mips-malta",
            "slot-takes-its-delay-slot",
            ["C10b"],
            "C10b",
            "ftrace_update_ftrace_func",
            "[1] = INSN_NOP",
        ),
        # The guest never boots, in any combination: make_nop is stepped on its way there, whatever
        # other checks are done in parallel.
        (
            "mips-malta",
            "delay-slot-left-alive",
            ["C4m", "C9", "M4b"],
            "M4b",
            "ftrace_make_nop",
            "code[i] =",
        ),
        (
            "mips-malta",
            "only-the-opcode-checked",
            ["C9e"],
            "C9e",
            "ftrace_make_nop",
            "if ((code[i]",
        ),
        # The stub does not go to the graph tracer, and this is where it did not.
        ("mips-malta", "graph-entry-ignored", ["C4a"], "C4a", "_mcount", "branch_if_graph"),
        # A wrong answer, a wrong argument, and an answer of the kernel's that was taken wrongly.
        ("aarch64-virt", "next-system-call", ["C13f"], "C13f", "arch_syscall_addr", "[nr ^ 1]"),
        (
            "mips-malta",
            "entry-without-its-number",
            ["C13d"],
            "C13d",
            "syscall_trace_enter",
            "trace_sys_enter",
        ),
        (
            "mips-malta",
            "accepted-calls-left-alone",
            ["C4d"],
            "C4d",
            "prepare_ftrace_return",
            "if (likely(function_graph_enter",
        ),
        ("aarch64-virt", "bytes-swapped", ["C9b"], "C9b", "ftrace_make_call", "if ("),
        # What asm/ftrace.h makes is judged before ftrace_make_nop, which refuses it.
        ("mips-malta", "mcount-addr-shifted", ["C8a", "C9a"], "C8a", "MCOUNT_ADDR", "+ 4"),
        (
            "mips-malta",
            "call-adjust-shifted",
            ["C8b", "C9a"],
            "C8b",
            "ftrace_call_adjust",
            "return address + 4",
        ),
        # While the guest boots, and while it loads a module.
        (
            "mips-malta",
            "arch-init-past-the-end-of-an-array",
            ["C8h"],
            "C8h",
            "ftrace_dyn_arch_init",
            "history[next]",
        ),
        ("aarch64-virt", "no-trampoline", ["C7f"], "C7f", "encode_call", "if (error <= 0)"),
        ("mips-malta", "waits-for-another-cpu", ["C9b"], "C9b", "ftrace_make_call", "while ("),
        # Two frame pointers differ: the caller's registers have the one on the way out.
        (
            "aarch64-virt",
            "frame-pointer-of-the-record",
            ["C6b"],
            "C6b",
            "ftrace_graph_caller",
            "graph_arguments",
        ),
        # The stack pointer is a frame pointer where it is copied, and not where it was made.
        (
            "mips-malta",
            "frame-pointer-differs",
            ["C6b"],
            "C6b",
            "return_to_handler",
            "move\t$a0, $sp",
        ),
        # The first instruction behind which an interrupt overwrites what is needed, and the first
        # one that stores.
        (
            "aarch64-virt",
            "frame-given-up-too-early",
            ["C1j"],
            "C1j",
            "return_to_handler",
            "add\tsp, sp, #FRAME_SIZE",
        ),
        (
            "mips-malta",
            "long-way-without-a-tracer",
            ["C3d"],
            "C3d",
            "_mcount",
            "save_all",
        ),
        # A wrong stack pointer on the way out.
        (
            "aarch64-virt",
            "return-frame-not-aligned",
            ["C5e"],
            "C5e",
            "return_to_handler",
            "FRAME_SIZE",
        ),
        # The stub calls what is no function: the line that made this address is wrong.
        (
            "mips-malta",
            "pointer-compared-with-its-address",
            ["C3c"],
            "C3c",
            "_mcount",
            "la\t$t9, ftrace_trace_function",
        ),
        # The graph tracer is told the same wrong call site, and does not hijack.
        (
            "mips-malta",
            "insn-size-without-the-delay-slot",
            ["C2a", "C4d"],
            "C2a",
            "_mcount",
            "find_site",
        ),
        # The same of modules alone, whose calls have another length.
        (
            "mips-malta",
            "one-distance-for-every-site",
            ["C4g", "M2c"],
            "M2c",
            "_mcount",
            "find_site",
        ),
        # The graph tracer alone is told a wrong site, or knows nothing of a module's functions.
        (
            "mips-malta",
            "one-distance-for-every-hijacked-site",
            ["C4g"],
            "C4g",
            "ftrace_graph_caller",
            "-MCOUNT_INSN_SIZE",
        ),
        (
            "mips-malta",
            "prologues-of-modules-not-read",
            ["C4g"],
            "C4g",
            "ftrace_graph_module_init",
            "for (megabyte",
        ),
        # A right request is refused: what the site was compared with is wrong, or the branch is.
        ("mips-malta", "wrong-old-words", ["C9c"], "C9c", "ftrace_make_nop", "return opcode |"),
        (
            "mips-malta",
            "form-by-a-bit-of-the-address",
            ["C7f"],
            "C7f",
            "ftrace_make_nop",
            "& 0x40000000",
        ),
        ("aarch64-virt", "range-backwards", ["C9g"], "C9g", "ftrace_make_call", "if (-offset"),
        # A wrong one is accepted, where others are refused.
        ("mips-malta", "region-not-checked", ["C9g"], "C9g", "ftrace_make_call", "target & 3"),
        # What the compiler knows: the range of a target is never checked, and by this it knows
        # another condition too; the words of a site; the condition of a store that does not come;
        # the answer of a function; and where the return address is kept.
        ("aarch64-virt", "range-not-checked", ["C9g"], "C9g", "encode_branch", "if (0)"),
        ("mips-malta", "old-words-not-checked", ["C9e"], "C9e", "modify_code", "if (0)"),
        ("mips-malta", "gate-never-closes", ["C10b"], "C10b", "close_gate", "if (0)"),
        (
            "mips-malta",
            "every-site-is-a-long-call",
            ["C9a"],
            "C9a",
            "has_long_call",
            "return true",
        ),
        ("mips-malta", "always-a-leaf", ["C4d"], "C4d", "hijack_with_prologue", "if (0)"),
        # The module's other trampoline leads to the stub.
        (
            "aarch64-virt",
            "one-trampoline-for-both-targets",
            ["C7f"],
            "C7f",
            "encode_call",
            "mod->arch.mcount_trampoline",
        ),
        # The instruction is in a delay slot, and has the line of what it joins.
        (
            "mips-malta",
            "long-call-branch-too-short",
            ["M1b"],
            "M1b",
            "modify_long_call",
            "BRANCH | (length",
        ),
        # The flag was taken for 0 where it was read, and not where that decides.
        ("aarch64-virt", "trace-stop-one-byte", ["C16a"], "C16a", "_mcount", "ldrb"),
        # What is missing is missed beside its like.
        ("aarch64-virt", "only-x0-saved", ["C5a"], "C5a", "return_to_handler", "ldr\tx0"),
        ("mips-malta", "trace-stop-ignored", ["C16a"], "C16a", "_mcount", "function_trace_stop"),
        # Left out of some builds, it is in no image.
        (
            "aarch64-virt",
            "guarded-by-the-wrong-word",
            ["C4m"],
            "C4m",
            "return_to_handler",
            "#ifdef CONFIG_FUNCTION_GRAPH_FP_TEST",
        ),
        # The wrong one of two words, and the wrong half of one.
        ("mips-malta", "target-ignored", ["C9b"], "C9b", "ftrace_make_call", "opcode |"),
        (
            "mips-malta",
            "upper-half-without-its-carry",
            ["C7f"],
            "C7f",
            "long_call_load",
            "return address >> 16",
        ),
        # What is put back is not what was saved: C code has written there.
        (
            "mips-malta",
            "the-copy-is-hijacked",
            ["C4c"],
            "C4c",
            "prepare_ftrace_return",
            "*(place + 1) =",
        ),
        # The guest dies of a misaligned stack pointer, and later.
        (
            "mips-malta",
            "return-frame-not-aligned",
            ["C4d"],
            "C4d",
            "return_to_handler",
            "-RETURN_FRAME_SIZE",
        ),
        # What the stub does not ask for, it does not ask for behind the tracer.
        (
            "mips-malta",
            "graph-forgotten-behind-the-tracer",
            ["C4a"],
            "C4a",
            "_mcount",
            "ftrace_stub",
        ),
        # A slot's right code is known: the store went to another place, or changed nothing.
        (
            "aarch64-virt",
            "graph-in-the-slot-of-the-tracer",
            ["C11c"],
            "C11c",
            "ftrace_enable_ftrace_graph_caller",
            "= (u32 *)ftrace_call",
        ),
        (
            "aarch64-virt",
            "slot-not-cleared",
            ["C10b"],
            "C10b",
            "ftrace_update_ftrace_func",
            "old = READ_ONCE(*insn)",
        ),
        # Nothing was written, and no other decision would have switched the site.
        (
            "aarch64-virt",
            "nop-not-written",
            ["C8g"],
            "C8g",
            "ftrace_make_nop",
            "-EINVAL : 0",
        ),
        # The frame pointer is the function's in front of the call; and a table is of this frame.
        (
            "aarch64-virt",
            "stub-without-a-frame-record",
            ["C14b"],
            "C14b",
            "ftrace_caller",
            "trace_arguments",
        ),
        (
            "aarch64-virt",
            "unwind-table-of-another-frame",
            ["C14b"],
            "C14b",
            "ftrace_caller",
            "save_state",
        ),
        # Four ways out of the stub die of what a callee has written above the stack pointer.
        (
            "mips-malta",
            "no-home-area",
            ["C1a", "C4c"],
            "C1a",
            "_mcount",
            "LONG_L\t$t9, SAVED_RA($sp)",
        ),
        # What decides about events of system calls.
        (
            "mips-malta",
            "flag-inverted",
            ["C13c", "C13d"],
            "C13d",
            "syscall_trace_enter",
            "_TIF_SYSCALL_TRACEPOINT",
        ),
        (
            "mips-malta",
            "other-numbers-are-write",
            ["C13f"],
            "C13f",
            "arch_syscall_addr",
            "sys_call_table[nr",
        ),
    ],
)
def test_a_fault_has_its_line(config, mutant, clauses, clause, function, line, has_line):
    has_line(config, [mutant], clauses, clause, function, line)


@pytest.mark.parametrize(
    ("file", "old", "new", "clause", "function", "line"),
    [
        # An unaligned target is noticed, and no error returned.
        (
            "ftrace.c",
            "return -EINVAL;\n\tif (offset",
            "return 0;\n\tif (offset",
            "C9f",
            "ftrace_make_call",
            "if (target & (AARCH64_INSN_SIZE - 1))",
        ),
        # Two floating-point results are not put back, and those beside them are.
        (
            "return_to_handler.S",
            "\tldp\tq0, q1, [sp, #FRAME_Q0]\n",
            "",
            "C5b",
            "return_to_handler",
            "q2, q3",
        ),
        # A guest that hangs at boot, and one that dies of an exception.
        (
            "ftrace.c",
            "\tWRITE_ONCE(*insn, word);\n",
            "\tdo\n\t\tWRITE_ONCE(*insn, word);\n\twhile (READ_ONCE(*insn));\n",
            "C9a",
            "ftrace_make_nop",
            "while (READ_ONCE(*insn))",
        ),
        (
            "ftrace.c",
            "\tWRITE_ONCE(*insn, word);\n",
            "\tWRITE_ONCE(*(u32 *)8, word);\n",
            "C9a",
            "ftrace_make_nop",
            "WRITE_ONCE(*(u32 *)8, word)",
        ),
    ],
)
def test_a_small_fault_has_its_line(file, old, new, clause, function, line, has_line):
    has_line("aarch64-virt", [], [clause], clause, function, line, {file: (old, new)})


def test_two_faults_are_two_findings(judged):
    """One is in the C code of the port, the other one in its stubs."""
    _, findings = judged("mips-malta", ["flush-too-short", "thread-pointer-lost"], ["C9k", "C1g"])
    assert {one.clause for one in findings} == {"C9k", "C1g"}
    assert {one.place.file for one in findings} == {"ftrace.c", "mcount.S"}


@pytest.mark.parametrize(
    ("mutant", "clauses", "clause"),
    [
        # prepare_ftrace_return was called, so ftrace_graph_caller is right.
        ("prologue-of-one-word", ["C4d", "C11b"], "C4d"),
        # The kernel panics because of the frame pointer.
        ("frame-pointer-of-the-frame", ["C5c", "C6b"], "C6b"),
        # The guest goes where it was told that the function returns to.
        ("kept-address-is-wrong", ["C4d", "C5g"], "C4d"),
        # Every function that the port calls comes back to the port.
        ("hijacking-is-traced", ["C4c", "C4n"], "C4n"),
    ],
)
def test_a_guest_that_dies_has_the_clause_that_it_dies_of(mutant, clauses, clause, judged):
    _, findings = judged("mips-malta", [mutant], clauses)
    assert findings[0].clause == clause, findings
