# SPDX-License-Identifier: MIT
"""Ports with one planted fault each, and which check of the suite finds which of them."""
