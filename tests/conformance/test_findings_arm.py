# SPDX-License-Identifier: MIT
"""Findings that need arm: its ABI knows no frame record."""


def test_the_frame_pointer_that_the_caller_does_not_have_is_wrong(has_line):
    """The kernel is given it on the way in, and the one of the caller on the way out."""
    mutants = ["frame-pointer-of-the-function"]
    has_line("arm-virt", mutants, ["C6b"], "C6b", "ftrace_graph_caller", "graph_arguments")
