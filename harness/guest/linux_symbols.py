# SPDX-License-Identifier: MIT
"""The symbols of a Linux kernel: gdb reads hundreds of megabytes only once."""

from contextlib import suppress
from pathlib import Path

from harness.config import resources
from harness.debugger import Debugger

MAX_INDEXES = 8
"""Kernels whose indexes are kept; each may have 40 MB."""


def load_symbols(debugger: Debugger, vmlinux: Path) -> None:
    """Load the symbols of ``vmlinux``, with an index of them in the cache."""
    directory = resources.cache_directory() / "gdb-index"
    debugger.symbols.load(vmlinux, index=directory)
    # A cache that cannot be written costs time only.
    with suppress(OSError):
        files = sorted(directory.iterdir(), key=lambda file: file.stat().st_mtime)
        for file in files[:-MAX_INDEXES]:
            file.unlink()
