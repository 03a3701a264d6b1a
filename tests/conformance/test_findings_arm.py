# SPDX-License-Identifier: MIT
"""Findings that need arm: its ABI knows no frame record."""


def test_the_frame_pointer_that_the_caller_does_not_have_is_wrong(judged):
    """The kernel is given it on the way in, and the one of the caller on the way out."""
    port, findings = judged("arm-virt", ["frame-pointer-of-the-function"], ["C6b"])
    [finding] = findings
    assert (finding.clause, finding.place.function) == ("C6b", "ftrace_graph_caller")
    source = (port / finding.place.file).read_text().splitlines()
    assert "graph_arguments" in source[finding.place.line - 1]
