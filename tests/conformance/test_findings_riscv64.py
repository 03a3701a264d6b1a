# SPDX-License-Identifier: MIT
"""Findings that need riscv64: it reads text by an inline function; one stub has no macros."""

import pytest

REGS = "riscv64-virt-regs"


def test_a_word_that_is_written_again_is_where_the_inline_function_was_called(has_line):
    """Reading the old word is right, and writing it again is not."""
    mutants, function = ["slot-not-cleared"], "ftrace_update_ftrace_func"
    has_line("riscv64-virt", mutants, ["C10b"], "C10b", function, "u32 old =")


def test_half_of_a_distance_is_wrong_where_it_was_made(has_line):
    """The branch behind it refuses other targets, and is right."""
    mutants = ["range-of-the-lower-half"]
    has_line("riscv64-virt", mutants, ["C9f"], "C9f", "encode_jal", "int offset =")


@pytest.mark.parametrize(
    ("file", "old", "new", "clause", "function", "line"),
    [
        # What the way home loads has been stored by the stub, or by nothing.
        ("return_to_handler.S", "\tsd\ta1, ", "\t#\t", "C5a", "return_to_handler", "sd\ta0,"),
        # The frame is left, and the stub returns; or it does not return.
        (
            "mcount.S",
            "\taddi\tsp, sp, FRAME_SIZE\n\t.cfi_def_cfa_offset 0\n\tret\n",
            "\tret\n",
            "C8f",
            "ftrace_caller",
            "restore_state_and_return",
        ),
        (
            "mcount.S",
            "\taddi\tsp, sp, FRAME_SIZE\n\t.cfi_def_cfa_offset 0\n\tret\n",
            "\taddi\tsp, sp, FRAME_SIZE\n",
            "C8f",
            "ftrace_caller",
            "restore_state_and_return",
        ),
    ],
)
def test_a_small_fault_has_its_line(file, old, new, clause, function, line, has_line):
    has_line("riscv64-virt", [], [clause], clause, function, line, edits={file: (old, new)})


@pytest.mark.parametrize(
    ("file", "old", "new", "clauses", "function", "line"),
    [
        # The pointer is too high at the end: what was overwritten below it is the caller's.
        (
            "return_to_handler.S",
            "\taddi\tsp, sp, FRAME_SIZE\n",
            "\taddi\tsp, sp, 2 * FRAME_SIZE\n",
            ["C5d", "C1j"],
            "return_to_handler",
            "2 * FRAME_SIZE",
        ),
        # A register still has the result where it is an argument.
        (
            "return_to_handler.S",
            "\tmv\ta0, s0\n\tcall\tftrace_return_to_handler\n",
            "\tcall\tftrace_return_to_handler\n\tmv\ta0, s0\n",
            ["C6b"],
            "return_to_handler",
            "call\tftrace_return_to_handler",
        ),
        # A macro, in which the guest dies in each build in another function.
        (
            "mcount.S",
            "\tld\ta1, FRAME_FP(sp)\n\tld\ta1, RECORD_PC(a1)\n",
            "\tld\ta1, RECORD_PC(a1)\n\tld\ta1, FRAME_FP(sp)\n",
            ["C8f", "C1a"],
            "ftrace_caller",
            "trace_arguments",
        ),
    ],
)
def test_a_small_fault_is_one_finding(file, old, new, clauses, function, line, has_line):
    edits = {file: (old, new)}
    has_line("riscv64-virt", [], clauses, clauses[0], function, line, edits)


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


@pytest.mark.parametrize(
    ("old", "new", "clause", "function", "line"),
    [
        # The right word is written, and the answer is an error.
        (
            "old)\n\t\treturn -EINVAL;\n\twrite_insn(insn, new);\n\treturn 0;",
            "old)\n\t\treturn -EINVAL;\n\twrite_insn(insn, new);\n\treturn -1;",
            "C9a",
            "ftrace_init_nop",
            "return -1",
        ),
        # No decision is wrong, but what it is about.
        ("target - pc", "target + pc", "C10a", "encode_jal", "target + pc"),
        # A register held this small number by chance.
        ("0x00000013u", "0", "C9a", "ftrace_init_nop", "INSN_NOP"),
    ],
)
def test_a_small_fault_of_patching_has_its_line(old, new, clause, function, line, has_line):
    edits = {"ftrace.c": (old, new)}
    has_line("riscv64-virt-regs", [], [clause], clause, function, line, edits)


def test_a_frame_record_is_wrong_where_its_return_address_was_stored(has_line):
    """The stub's is there for the function's; a macro saves both."""
    mutants, place = ["caller-left-out-of-the-records"], ("C14b", "ftrace_caller")
    has_line(REGS, mutants, ["C14b"], *place, "save_arguments")


def test_a_wrong_return_address_is_wrong_where_it_was_stored(judged):
    """Whoever reads it: the stub, the graph tracer, or a tracer that returns for the function."""
    clauses = ["C8f", "C4d", "C18c", "C19c"]
    _, [finding] = judged(REGS, ["return-address-of-the-stub"], clauses)
    assert (finding.clause, finding.blocks) == ("C8f", ["C4d", "C18c", "C19c"])
    assert finding.place.function == "ftrace_caller"
    assert finding.place.how == "saves ra as the site has left it"


def test_a_register_that_is_not_loaded_back_is_beside_the_next_word(has_line):
    """The stub stores from it again."""
    mutants, clauses = ["static-chain-not-saved"], ["C1d", "C8f"]
    has_line("riscv64-virt-args", mutants, clauses, "C8f", "ftrace_caller", "ld\ta7")


@pytest.mark.parametrize(
    ("mutant", "clause", "line"),
    [
        # The jump to what nothing has stored clears the lowest bit.
        ("the-last-trampoline", "C8f", "FREGS_RECORD(sp)"),
        ("literal-read-twice", "C22f", "LITERAL_OFFSET(ra)"),
    ],
)
def test_what_the_stub_takes_from_memory_too_late_has_its_line(mutant, clause, line, has_line):
    config, stub = "riscv64-virt-call-ops", "ftrace_caller"
    has_line(config, [mutant], [clause], clause, stub, line)


def test_the_panic_about_a_frame_pointer_follows_from_the_calls_that_change_it(has_line):
    """The kernel expects the frame pointer that is right, and receives what calls make of it."""
    edits = {"mcount.S": ("\tld\ts0, FREGS_S0(sp)\n", "")}
    config, clauses, function = "riscv64-virt-call-ops", ["C6b", "C8f"], "ftrace_caller"
    has_line(config, [], clauses, "C8f", function, "ld\tra, FREGS_RA(sp)", edits)
