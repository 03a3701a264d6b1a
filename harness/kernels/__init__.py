# SPDX-License-Identifier: MIT
"""Linux kernels to trace: built from sources, or fetched from Debian."""
