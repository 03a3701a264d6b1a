# SPDX-License-Identifier: MIT
"""Reports of runs: for people, for programs, for CI systems, and as pages."""
