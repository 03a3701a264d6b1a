# SPDX-License-Identifier: MIT
"""Findings about tracers that get registers and an ops, and about direct trampolines."""

import pytest

ARGS, REGS, OPS = (f"aarch64-virt-{form}" for form in ("args", "regs", "call-ops"))
STUB, UPDATE = "ftrace_caller", "ftrace_update_ftrace_func"


@pytest.mark.parametrize(
    ("config", "mutant", "clause", "function", "line"),
    [
        # The stub saves the wrong register, or the accessor does not return what it has saved.
        (ARGS, "arguments-in-another-order", "C18b", STUB, "stp\tx5, x4"),
        (ARGS, "stack-pointer-of-the-stub", "C18c", STUB, "mov\tx10, sp"),
        (ARGS, "one-argument-too-few", "C18b", "ftrace_regs_get_argument", "FTRACE_REGS_ARGUMENTS"),
        (
            ARGS,
            "instruction-pointer-at-the-call",
            "C18d",
            "ftrace_regs_get_instruction_pointer",
            "fregs->pc - ",
        ),
        # What a tracer sets is not what the stub takes, or is not set there.
        (ARGS, "instruction-pointer-ignored", "C19a", STUB, "ldr\tx9, [sp, #FRAME_PC]"),
        (ARGS, "arguments-cannot-be-changed", "C19b", STUB, "ldp\tx6, x7"),
        (
            ARGS,
            "result-set-in-another-register",
            "C19c",
            "ftrace_regs_set_return_value",
            "regs[1] = value",
        ),
        # The slot is asked for the graph tracer and for the list of tracers.
        (ARGS, "no-graph-tracer-in-the-slot", "C10a", UPDATE, "!= ftrace_graph_func"),
        # A site that was prepared wrongly is refused later, or the guest dies of it at boot.
        (ARGS, "return-address-not-kept", "C9b", "ftrace_init_nop", "-EINVAL"),
        (ARGS, "record-at-the-first-word", "C8b", "ftrace_call_adjust", "return addr;"),
        (ARGS, "return-address-not-replaced", "C4d", "ftrace_graph_func", "function_graph_enter"),
        # A word that is not written is not asked about: what remains is whether this is a site.
        (ARGS, "first-word-not-checked", "C9e", "ftrace_make_call", "(u32 *)rec->ip"),
        (OPS, "first-word-not-checked", "C9e", "ftrace_make_call", "(const u32 *)rec->ip"),
        # Words of struct pt_regs that nothing has saved, or that were saved over others.
        (REGS, "two-registers-missing", "C21a", "ftrace_regs_caller", "stp\tx19, x20"),
        (REGS, "two-registers-over-another", "C21a", "ftrace_regs_caller", "#S_X(7)"),
        (REGS, "registers-not-told", "C21a", "ftrace_regs_caller", "str\txzr, [sp, #S_PSTATE]"),
        (REGS, "registers-told-of-that-were-not-saved", "C21f", "arch_ftrace_get_regs", "return"),
        (REGS, "not-modified", "C21c", "ftrace_modify_call", "READ_ONCE(*insn) != old"),
        (REGS, "one-trampoline-for-both-stubs", "C21e", "encode_call", "ftrace_trampoline"),
        # Literals that are not written, or too late.
        (OPS, "modify-keeps-the-ops", "C22c", "ftrace_modify_call", "old == new ? 0"),
        (OPS, "no-barrier-behind-the-literal", "C22b", "ftrace_make_call", "ops);"),
        (OPS, "another-ops-through-a-nop", "C22c", "change_site", "WRITE_ONCE"),
        # Trampolines that the stub comes to in another way, or not at all.
        (OPS, "no-early-way", "C23d", STUB, "sub\tsp, sp"),
        (OPS, "early-way-with-the-late-exchange", "C23a", STUB, "cbnz\tx17"),
        (OPS, "no-late-way", "C23b", STUB, "ret\tx9"),
        (
            OPS,
            "trampoline-in-place-of-the-tracers",
            "C23b",
            "arch_ftrace_set_direct_caller",
            "fregs->pc = addr",
        ),
        # The stub's frame is there again, behind all that it is used for.
        (OPS, "late-way-with-the-frame", "C23b", STUB, "sub\tsp, sp"),
        # gcc gives the address the line of the inline function that stores it.
        (OPS, "always-the-list-ops", "C22c", "ftrace_modify_call", "&ftrace_list_ops"),
        (OPS, "half-of-the-result", "C24a", "return_to_handler", "stp\tx9, x1"),
        # Nothing is saved beside the word that is missing.
        (OPS, "no-frame-pointer-with-the-result", "C6b", "return_to_handler", "add\tx0, sp"),
    ],
)
def test_a_fault_has_its_line(config, mutant, clause, function, line, has_line):
    has_line(config, [mutant], [clause], clause, function, line)


def test_calls_of_trampolines_follow_from_what_spoils_one(judged):
    """The stub takes the trampoline of an earlier call, whatever the order of the tracers."""
    _, [finding] = judged(OPS, ["no-late-way"], ["C23b", "C23e"])
    assert (finding.clause, finding.blocks) == ("C23b", ["C23e"])


@pytest.mark.parametrize(
    ("mutant", "clauses", "clause"),
    [
        ("frame-pointer-of-the-stub", ["C6b", "C18c"], "C18c"),
        ("ip-of-the-first-word", ["C2a", "C23b"], "C2a"),
        ("op-is-the-literals-address", ["C18a", "C22f"], "C18a"),
        ("unaligned-functions-have-a-record", ["C7b", "C9d"], "C7b"),
    ],
)
def test_what_another_clause_presupposes_is_the_finding(mutant, clauses, clause, judged):
    _, [finding] = judged(OPS, [mutant], clauses)
    assert finding.clause == clause


def test_a_trampoline_that_no_call_reaches_follows_from_the_calls_that_are_written(has_line):
    """By the debugger the site gets the ops of the trampoline, as from the kernel."""
    define = "#define INSN_BL\t\t\t"
    edits = {"ftrace.c": (f"{define}0x94000000u", f"{define}0x94000001u")}
    clauses, function = ["C9b", "C23a", "C23d"], "ftrace_make_call"
    has_line(OPS, [], clauses, "C9b", function, "INSN_BL | ((u32)(offset", edits)
