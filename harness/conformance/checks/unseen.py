# SPDX-License-Identifier: MIT
"""Clauses that no check judges, and what would be needed to see them."""

_KERNEL = "a property of the kernel that a port goes into, which is the harness's own here"

UNSEEN: dict[str, str] = {
    "C4k": "the guests' kernel has no table of exceptions for the port to enter itself in",
    "C6c": _KERNEL,
    "C9o": "the guests map their text in pages too large to make a site's own read-only",
    "C13b": _KERNEL,
    "C14a": _KERNEL,
    "C15a": _KERNEL,
    "C15b": _KERNEL,
    "C17a": _KERNEL,
}
