# SPDX-License-Identifier: MIT
"""A guest's ELF file: what it is built for, its symbols, functions, text and call sites."""
