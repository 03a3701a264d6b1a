# SPDX-License-Identifier: MIT
"""Texts of trace_printk(), as trace-cmd prints them."""

import io
import shutil
import subprocess

import pytest

from harness.trace import TraceDatReader
from printk_files import printk_trace
from trace_files import address

pytestmark = pytest.mark.skipif(
    shutil.which("trace-cmd") is None, reason="trace-cmd is not installed (package trace-cmd)"
)

TEXTS = [
    ("plain 100%%\n", ()),
    ("%d %u %x\n", ((-1, 4), (-1, 4), (0xBEEF, 4))),
    ("%#x|%08x|%6d|\n", ((16, 4), (16, 4), (5, 4))),
    ("%lld %d %llx\n", ((-(1 << 40), 8), (3, 4), (1 << 40, 8))),
    ("%s and %s %d\n", ("one", "three", (3, 4))),
    ("%6s|%8s|\n", ("ab", "abcdef")),
    ("%*d|\n", ((5, 4), (42, 4))),
    ("puts it\n", None),
]


@pytest.mark.parametrize("long_size", [4, 8])
def test_the_same_texts(long_size, tmp_path):
    """Of the host's byte order: libtraceevent does not turn the addresses of others around."""
    form = "little", long_size
    leaf = address("leaf", long_size)
    texts = [*TEXTS, ("%lu %pS %ps\n", ((5, long_size), (leaf, long_size), (leaf, long_size)))]
    data = printk_trace(form, texts)
    (tmp_path / "trace.dat").write_bytes(data)
    command = ["trace-cmd", "report", "-i", str(tmp_path / "trace.dat")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    lines = [line for line in done.stdout.splitlines() if ": " in line]
    shown = [line.split(": ", 2)[2].strip() for line in lines]
    ours = [one.message for one in TraceDatReader(io.BytesIO(data)).events()]
    assert len(ours) == len(texts)
    assert shown == [text.strip() for text in ours]
