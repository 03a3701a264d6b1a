# SPDX-License-Identifier: MIT
"""The harness's own version."""

__version__ = "0.1.0"
