# SPDX-License-Identifier: MIT
"""Live tests run once for each machine config unless they name one."""

from harness.config import list_configs


def pytest_generate_tests(metafunc):
    """``config`` takes the name of every machine config in turn, or of the module's ``CONFIGS``.

    A module with a hook of its own has its say.
    """
    if "config" in metafunc.fixturenames and not hasattr(metafunc.module, "pytest_generate_tests"):
        metafunc.parametrize("config", getattr(metafunc.module, "CONFIGS", list_configs()))
