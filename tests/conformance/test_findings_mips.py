# SPDX-License-Identifier: MIT
"""Findings about words that a port stores at boot: prologues, by which it hijacks calls later."""

import pytest


@pytest.mark.parametrize(
    ("old", "new", "clauses", "clause", "line"),
    [
        # A call is left alone, and the workload has no events of a function with a large frame.
        ("frame_size % 8 ", "frame_size % 7 ", ["C4d"], "C4d", "frame_size % 7"),
        (
            "if (target && target == rest->reg)",
            "if (!(target && target == rest->reg))",
            ["C4d"],
            "C4d",
            "if (!known || (source && source != target))",
        ),
        # The kernel panics of a frame pointer when the function returns that had begun last.
        ("<< 2 | (u32)(frame_size / 8)", "<< 2 | (u32)(frame_size / 7)", ["C6b"], "C6b", "/ 7"),
    ],
)
def test_what_was_decided_at_boot_has_its_line(old, new, clauses, clause, line, has_line):
    edits = {"prologue.c": (old, new)}
    has_line("mips-malta", [], clauses, clause, "decode_prologue", line, edits)
