# SPDX-License-Identifier: MIT
"""Mutants: ports with one planted fault each, and the checks that kill them."""
