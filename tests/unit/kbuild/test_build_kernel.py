# SPDX-License-Identifier: MIT
"""What guests have in common is made once; test_build_cache.py has what makes another one."""

from pathlib import Path
from typing import Any

import pytest

from harness.config import MachineConfig
from harness.errors import HostError, UsageError
from harness.kbuild import GuestSpec, build_guest, plan_build


@pytest.fixture
def kernels(cache: Path) -> Path:
    return cache.parent / "kernels"


def test_modules_are_not_the_kernels(sources: Any, config: MachineConfig) -> None:
    build_guest(GuestSpec.of(config))
    build_guest(GuestSpec.of(config, modules=["one"]))
    assert (sources.builds, sources.kernels) == (2, 1)


def test_what_a_port_s_header_includes_matters(sources: Any, config: MachineConfig) -> None:
    sources.write("ports/plain/include/asm/ftrace.h", '#include "../../more.h"\n')
    sources.write("ports/plain/more.h", "one\n")
    build_guest(GuestSpec.of(config))
    sources.write("ports/plain/more.h", "two\n")
    build_guest(GuestSpec.of(config))
    assert sources.kernels == 2


def test_flags_and_form_make_other_kernels(sources: Any, config: MachineConfig) -> None:
    build_guest(GuestSpec.of(config))
    build_guest(GuestSpec.of(config, cflags=["-O1"]))
    build = config.build.model_copy(update={"cflags": ("-mabi=64",)})
    build_guest(GuestSpec.of(config.model_copy(update={"build": build})))
    assert sources.kernels == 3


def test_a_damaged_kernel_is_made_again(sources: Any, config: MachineConfig, kernels: Path) -> None:
    build_guest(GuestSpec.of(config))
    [found] = kernels.glob("*/kernel.a")
    content = found.read_bytes()
    found.chmod(0o644)
    found.write_bytes(b"")
    build_guest(GuestSpec.of(config, "sort"))
    assert sources.kernels == 2
    assert found.read_bytes() == content


def test_a_header_of_a_port_that_does_not_compile(
    sources: Any, config: MachineConfig, tmp_path: Path, kernels: Path
) -> None:
    mine = tmp_path / "mine"
    (sources.guests / "ports/plain").rename(mine)
    (mine / "include/asm/ftrace.h").write_text("bad\n")
    with pytest.raises(UsageError, match=f"The port {mine} does not build for fake"):
        build_guest(GuestSpec.of(config, port=mine))
    assert not list(kernels.glob("*/")), "half a kernel is no kernel"
    assert sources.builds == 0


def test_a_kernel_that_is_not_made(sources: Any, config: MachineConfig) -> None:
    makefile = (sources.guests / "Makefile").read_text()
    sources.write("Makefile", makefile.replace(">$@", ">$@.half"))
    with pytest.raises(HostError, match="The guest does not build for fake"):
        build_guest(GuestSpec.of(config))


def test_the_command_says_nothing_of_the_cache(sources: Any, config: MachineConfig) -> None:
    """Whoever repeats it by hand gets all of it built, from the sources."""
    assert "KERNEL=" not in plan_build(GuestSpec.of(config)).command_line
