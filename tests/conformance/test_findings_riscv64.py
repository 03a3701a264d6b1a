# SPDX-License-Identifier: MIT
"""Findings that need riscv64: words of text are read by an inline function."""


def test_a_word_that_is_written_again_is_where_the_inline_function_was_called(has_line):
    """Reading the old word is right, and writing it again is not."""
    mutants, function = ["slot-not-cleared"], "ftrace_update_ftrace_func"
    has_line("riscv64-virt", mutants, ["C10b"], "C10b", function, "u32 old =")
