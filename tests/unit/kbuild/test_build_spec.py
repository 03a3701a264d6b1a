# SPDX-License-Identifier: MIT
"""A guest that is meant: what it is made from, and what differs when it differs."""

import pickle
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from harness.config import MachineConfig, load_port
from harness.errors import UsageError
from harness.kbuild import GuestSpec, build_guest, plan_build
from harness.kbuild.failure import failure


def test_names_and_paths_make_the_same_guest(sources: Any, config: MachineConfig) -> None:
    by_name = GuestSpec.of("fake", "sort", port="plain", modules=["one"])
    files = sources.guests / "workloads/sort.c", sources.guests / "modules/one.c"
    port = load_port(sources.guests / "ports/plain")
    assert GuestSpec.of(config, files[0], port=port, modules=files[1:]) == by_name
    assert pickle.loads(pickle.dumps(by_name)) == by_name
    assert hash(by_name) == hash(GuestSpec.of(config, "sort", modules=["one"]))


def test_the_port_is_read_once(sources: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[object] = []
    monkeypatch.setattr(
        "harness.kbuild.spec.load_port", lambda name: read.append(name) or load_port(name)
    )
    build_guest(GuestSpec.of("fake"))
    assert read == ["plain"]


def test_another_compiler(sources: Any) -> None:
    sources.install("fake-gcc-13", "echo version 13")
    spec = GuestSpec.of("fake", compiler="gcc-13")
    assert spec.compiler == "gcc-13"
    assert spec == replace(GuestSpec.of("fake"), config=spec.config)
    build = plan_build(spec)
    assert build.key != plan_build(GuestSpec.of("fake")).key
    assert build.variables["COMPILER"] == "gcc-13"


def test_a_finished_module_is_not_built(sources: Any, tmp_path: Path) -> None:
    spec = GuestSpec.of("fake", modules=["two", tmp_path / "mine.ko", "one"])
    assert [path.name for path in spec.modules] == ["two.c", "mine.ko", "one.c"]
    modules = plan_build(spec).variables["MODULES"]
    assert [Path(word).name for word in modules.split()] == ["two.c", "one.c"]


def test_clauses_see_all_flags(sources: Any) -> None:
    spec = GuestSpec.of("fake", cflags=["-O1"])
    assert spec.effective_config.build.cflags == ("-mabi=32", "-O1")
    assert spec.config.build.cflags == ("-mabi=32",)


def test_what_make_is_told_is_the_guest(sources: Any, tmp_path: Path) -> None:
    build = plan_build(GuestSpec.of("fake", "sort", cflags=["-O1", "-DX"], modules=["one"]))
    words = build.command(tmp_path / "out", "all", KERNEL="/kernel.a")
    assert words[-2:] == (f"O={tmp_path}/out", "all")
    assert {"ARCH=mips", "CFLAGS_EXTRA=-O1 -DX", "KERNEL=/kernel.a"} <= set(words)
    assert not any("kernel.a" in word for word in build.command(tmp_path))
    of_kernel = build.kernel_command(tmp_path)
    assert of_kernel[-1] == "kernel"
    assert not [word for word in of_kernel if word.startswith(("WORKLOAD=", "MODULES="))]


@pytest.mark.parametrize(
    ("feature", "lacking"), [("DYNAMIC_FTRACE", "ftrace_make_nop"), ("FUNCTION_TRACER", "_mcount")]
)
def test_a_port_that_does_not_define_what_it_claims(
    sources: Any, feature: str, lacking: str
) -> None:
    text = f"start.c:1: undefined reference to `{lacking}'"
    spec = GuestSpec.of("fake")
    assert "does not build" in failure(spec, text, "make").message
    claims = spec.port.model_copy(update={"features": (feature,)})
    error = failure(replace(spec, port=claims), text, "make")
    assert isinstance(error, UsageError)
    assert error.message.endswith(f"claims {feature} and does not define {lacking}")
