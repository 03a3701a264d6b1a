# SPDX-License-Identifier: MIT
"""Unit tests run no guest: none is left out for its machine config."""

from hypothesis import settings

# Machines are shared: how long an example takes says nothing about the code.
settings.register_profile("shared machine", deadline=None)
settings.load_profile("shared machine")


def pytest_itemcollected(item):
    item.add_marker("unsliced")
