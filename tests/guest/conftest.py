# SPDX-License-Identifier: MIT
"""Live tests run once for each machine config, unless they name one."""

from harness.config import list_configs


def pytest_generate_tests(metafunc):
    """``config`` is each machine config in turn, or each of the module's ``CONFIGS``.  A module may
    have its own hook.
    """
    if "config" in metafunc.fixturenames and not hasattr(metafunc.module, "pytest_generate_tests"):
        metafunc.parametrize("config", getattr(metafunc.module, "CONFIGS", list_configs()))
