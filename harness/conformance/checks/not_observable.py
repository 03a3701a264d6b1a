# SPDX-License-Identifier: MIT
"""Clauses that no check judges, and why."""

_KERNEL = (
    "a property of the kernel around the port, which here is the harness's own and has its own "
    "tests"
)

NOT_OBSERVABLE: dict[str, str] = {
    "C4k": "every fault in prepare_ftrace_return ends in a panic of the guests' kernel: it has no "
    "exception table (__ex_table) for the accesses of a port",
    "C6c": _KERNEL,
    "C9o": "the guests map all their memory writable, in blocks of 1 GiB, and a fault would "
    "end in a panic of their kernel: it has no exception table (__ex_table)",
    "C13b": _KERNEL,
    "C14a": _KERNEL,
    "C15a": _KERNEL,
    "C15b": _KERNEL,
    "C17a": _KERNEL,
}
