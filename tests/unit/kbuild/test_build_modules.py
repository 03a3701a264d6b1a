# SPDX-License-Identifier: MIT
"""Modules of a guest: which are meant, what they depend on, and where they are found."""

from pathlib import Path
from typing import Any

import pytest

from harness.config import MachineConfig, list_modules
from harness.errors import HostError, UsageError
from harness.kbuild import GuestSpec, build_guest, module_beside, plan_build


def test_modules_lie_beside_the_guest(sources: Any, config: MachineConfig, tmp_path: Path) -> None:
    (tmp_path / "mine.c").write_text("mine\n")
    modules = ["one", str(tmp_path / "mine.c")]
    assert list_modules() == ["one", "two"]
    image = build_guest(GuestSpec.of(config, modules=modules))
    assert module_beside(image, "one").read_text() == '#include "one.h"\n'
    assert module_beside(image, "mine").read_text() == "mine\n"
    assert not module_beside(image, "two").exists()
    assert build_guest(GuestSpec.of(config, modules=modules)) == image
    assert sources.builds == 1


def test_what_matters_makes_another(sources: Any, config: MachineConfig) -> None:
    seen = {build_guest(GuestSpec.of(config)), build_guest(GuestSpec.of(config, modules=["one"]))}
    seen.add(build_guest(GuestSpec.of(config, modules=["one", "two"])))
    seen.add(build_guest(GuestSpec.of(config, modules=["two", "one"])))
    sources.write("modules/one.h", "other\n")
    seen.add(build_guest(GuestSpec.of(config, modules=["one"])))
    sources.write("modules/Makefile", "# other\n")
    seen.add(build_guest(GuestSpec.of(config, modules=["one"])))
    assert len(seen) == sources.builds == 6


def test_a_module_does_not_matter_to_a_guest_without_it(
    sources: Any, config: MachineConfig
) -> None:
    image = build_guest(GuestSpec.of(config))
    sources.write("modules/one.c", "other\n")
    sources.write("modules/new.c", "new\n")
    assert build_guest(GuestSpec.of(config)) == image


def test_a_damaged_module_is_built_again(sources: Any, config: MachineConfig) -> None:
    image = build_guest(GuestSpec.of(config, modules=["two"]))
    module = module_beside(image, "two")
    module.chmod(0o644)
    module.write_text("damaged")
    assert build_guest(GuestSpec.of(config, modules=["two"])) == image
    assert module.read_text() == "two\n"
    module.unlink()
    assert build_guest(GuestSpec.of(config, modules=["two"])) == image
    assert module.exists()
    assert sources.builds == 3


@pytest.mark.parametrize(
    ("modules", "said"),
    [
        (["ones"], "There is no module 'ones'.\nDid you mean 'one'? The modules are: one, two."),
        (["x.c"], "x.c does not exist"),
        (["a/b"], "does not end in .c.\nA module is one C file"),
        (["one", "one"], "There are two modules of the name one"),
    ],
)
def test_wrong_names(config: MachineConfig, modules: list[str], said: str) -> None:
    with pytest.raises(UsageError) as caught:
        plan_build(GuestSpec.of(config, modules=modules))
    assert said in str(caught.value)


def test_a_name_that_is_no_word_of_c(config: MachineConfig, tmp_path: Path) -> None:
    (tmp_path / "my-module.c").write_text("")
    with pytest.raises(UsageError, match="cannot be called 'my-module'"):
        plan_build(GuestSpec.of(config, modules=[tmp_path / "my-module.c"]))


def test_too_many(config: MachineConfig, tmp_path: Path) -> None:
    files = [tmp_path / f"m{number}.c" for number in range(9)]
    for file in files:
        file.write_text("")
    with pytest.raises(UsageError, match="room for 8 modules, not for 9"):
        plan_build(GuestSpec.of(config, modules=files))


def test_a_module_that_does_not_compile_is_the_users(
    sources: Any, config: MachineConfig, tmp_path: Path
) -> None:
    (tmp_path / "mine.c").write_text("bad\n")
    with pytest.raises(UsageError, match=rf"The module {tmp_path}/mine.c does not build for fake"):
        build_guest(GuestSpec.of(config, modules=[tmp_path / "mine.c"]))


def test_a_module_that_is_not_made(sources: Any, config: MachineConfig) -> None:
    sources.write("modules/two.c", "nothing\n")
    with pytest.raises(HostError, match="The guest does not build"):
        build_guest(GuestSpec.of(config, modules=["two"]))
