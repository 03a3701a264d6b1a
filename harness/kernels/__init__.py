# SPDX-License-Identifier: MIT
"""Linux kernels to trace: built out of sources, or fetched from Debian."""
