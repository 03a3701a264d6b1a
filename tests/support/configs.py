# SPDX-License-Identifier: MIT
"""Configs for tests that take a few of each architecture and not all."""

from harness.config import list_configs, load_config

EXAMPLES = {"aarch64", "mips"}
"""The architectures whose configs tests may name."""


def others() -> list[str]:
    """The configs of all other architectures, so that a new one changes no list of a test."""
    return [name for name in list_configs() if load_config(name).architecture not in EXAMPLES]


def one_per_architecture() -> list[str]:
    """The simplest config of each architecture."""
    found: dict[str, str] = {}
    for name in sorted(list_configs(), key=lambda name: (len(name), name)):
        found.setdefault(load_config(name).architecture, name)
    return sorted(found.values())
