# SPDX-License-Identifier: MIT
"""What tests of several kinds use: the command, terminals, models of what a tracer must say."""
