# SPDX-License-Identifier: MIT
"""A guest under test, the calls that checks make on it, and how far they are watched."""
