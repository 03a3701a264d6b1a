# SPDX-License-Identifier: MIT
"""Linux kernels to trace: small ones, built from Debian's sources and kept in the cache.

With FTRACE_LINUX_KERNELS those of a directory instead, with a config ``linux.toml`` in each
subdirectory.
"""

import os
from pathlib import Path

import pytest

VARIABLE = "FTRACE_LINUX_KERNELS"
USUAL = ["linux-arm64"]
"""Each takes minutes to build; the others are for ``--all-configs``."""


def given() -> list[Path]:
    directory = os.environ.get(VARIABLE, "")
    return sorted(Path(directory).glob("*/linux.toml")) if directory else []


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "linux_config" not in metafunc.fixturenames:
        return
    found = given()
    if found:
        names = [one.parent.name for one in found]
        metafunc.parametrize("linux_config", found, ids=names, indirect=True)
        return
    from harness.kernels.catalogue import list_kernels

    everywhere = metafunc.config.getoption("--all-configs")
    metafunc.parametrize(
        "linux_config", list_kernels("build") if everywhere else USUAL, indirect=True
    )


@pytest.fixture
def linux_config(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    """The machine config of a kernel; the first test of it waits for its build."""
    if isinstance(request.param, Path):
        return request.param
    from harness.kernels.build import build_kernel
    from harness.kernels.catalogue import load_kernel
    from harness.kernels.files import write_config
    from harness.kernels.source import find_source

    kernel = load_kernel(request.param, "build")
    source = find_source(None, print)
    path = tmp_path / f"{request.param}.toml"
    write_config(path, kernel, build_kernel(request.param, kernel, source, print), source.origin)
    return path
