# SPDX-License-Identifier: MIT
"""A QEMU-backed live tracing harness for ports of the Linux function tracer."""

__version__ = "0.1.0"
