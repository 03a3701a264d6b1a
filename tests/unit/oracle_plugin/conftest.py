# SPDX-License-Identifier: MIT
"""The plugin in a fake QEMU of each version of its interface, and machines in it."""

import ctypes
import shutil
import subprocess
from pathlib import Path

import pytest

import harness.oracle
from harness.oracle import Oracle
from harness.oracle.compile import SOURCES
from support.oracle_plugin import CODES, SHORT, Cpu, image, install

PLUGIN = Path(harness.oracle.__file__).parent


@pytest.fixture(scope="session", params=[1, 2, 3, 7], ids="interface-{}".format)
def library(tmp_path_factory, request):
    """The plugin and a fake QEMU of each version of the interface in one shared object."""
    output = tmp_path_factory.mktemp("oracle") / "fake.so"
    sources = [Path(__file__).parents[1] / "fake_qemu.c", *(PLUGIN / name for name in SOURCES)]
    flags = ["-shared", "-fPIC", "-Wall", "-Werror", f"-I{PLUGIN}", f"-DINTERFACE={request.param}"]
    subprocess.run(["cc", *flags, "-o", output, *sources], check=True)
    return output


@pytest.fixture
def machine(library, tmp_path):
    """A function: (CPUs, oracle) of a fake machine."""
    oracles = []

    def start(name="mips", cpus=1, capacity=1000, image=image):
        code = SHORT if name == "short" else CODES[name]
        oracle = Oracle(image(code), tmp_path, capacity=capacity)
        oracles.append(oracle)
        # The same file would be the same library, with the state of the test before.
        own = tmp_path / "own.so"
        shutil.copy(library, own)
        loaded = ctypes.CDLL(str(own))
        ctypes.c_size_t.in_dll(loaded, "fake_size").value = code.size
        assert install(loaded, f"control={tmp_path / 'oracle'}", cpus=cpus) == 0
        oracle.window(True)
        return [Cpu(loaded, code, number) for number in range(cpus)], oracle

    yield start
    for oracle in oracles:
        oracle.close()
