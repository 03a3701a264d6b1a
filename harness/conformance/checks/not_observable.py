# SPDX-License-Identifier: MIT
"""Clauses that no check judges, and what would be needed to see them."""

_KERNEL = (
    "a property of the kernel that a port goes into, which is the harness's own here, and which "
    "its own tests look at"
)

NOT_OBSERVABLE: dict[str, str] = {
    "C4k": "a fault in prepare_ftrace_return ends in the panic of the guests' kernel, whatever the "
    "port does: there is no exception table (__ex_table) in which a port could name its accesses",
    "C6c": _KERNEL,
    "C9o": "the guests map all their memory writable, in blocks of 1 GiB, and a store that faulted "
    "would end in their kernel's panic: it has no exception table (__ex_table)",
    "C13b": _KERNEL,
    "C14a": _KERNEL,
    "C15a": _KERNEL,
    "C15b": _KERNEL,
    "C17a": _KERNEL,
}
