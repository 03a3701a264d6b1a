# SPDX-License-Identifier: MIT
"""Linux kernels to trace: in each directory of FTRACE_LINUX_KERNELS a config ``linux.toml``."""

import os
from pathlib import Path

import pytest

VARIABLE = "FTRACE_LINUX_KERNELS"


def kernels() -> list[Path]:
    directory = os.environ.get(VARIABLE, "")
    return sorted(Path(directory).glob("*/linux.toml")) if directory else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "linux_config" in metafunc.fixturenames:
        found = kernels()
        skip = pytest.mark.skip(f"{VARIABLE} names no directory with kernels")
        values = found or [pytest.param(Path(), marks=skip)]
        metafunc.parametrize("linux_config", values, ids=[one.parent.name for one in found] or None)
