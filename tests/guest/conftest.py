# SPDX-License-Identifier: MIT
"""Live tests run once for each machine config unless they name one."""

from harness.config import list_configs


def pytest_generate_tests(metafunc):
    """``config`` takes the name of every machine config in turn, or of the module's ``CONFIGS``."""
    if "config" in metafunc.fixturenames:
        metafunc.parametrize("config", getattr(metafunc.module, "CONFIGS", list_configs()))
