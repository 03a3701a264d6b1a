# SPDX-License-Identifier: MIT
"""Unit tests run no guest: none is left out for its machine config."""


def pytest_itemcollected(item):
    item.add_marker("unsliced")
