# SPDX-License-Identifier: MIT
"""trace_options: words in, words out."""

import pytest

from harness.errors import UsageError
from harness.trace import GraphOptions
from harness.tracer.options import TraceOptions


def test_the_first_values_are_the_kernels():
    assert set(TraceOptions().words) == {
        "nostacktrace",
        "nofunc_stack_trace",
        "nofunc-args",
        "nofuncgraph-retval",
        "funcgraph-irqs",
        "funcgraph-cpu",
        "funcgraph-overhead",
        "funcgraph-duration",
        "nofuncgraph-proc",
        "nofuncgraph-abstime",
        "nofuncgraph-tail",
        "nofuncgraph-overrun",
    }


def test_words_are_read_one_after_the_other():
    options = TraceOptions().with_words(["stacktrace", "funcgraph-proc", "nostacktrace"])
    assert not options["stacktrace"]
    assert options.graph == GraphOptions(proc=True)
    assert options.with_words(["nofuncgraph-proc"]) == TraceOptions()
    assert not TraceOptions().with_words(["nofuncgraph-irqs"]).graph.irqs


@pytest.mark.parametrize("wrong", ["", "no", "stack", "nonostacktrace", "funcgraph-", "func graph"])
def test_other_words_are_refused(wrong):
    with pytest.raises(UsageError, match="is not an option"):
        TraceOptions().with_words([wrong])
