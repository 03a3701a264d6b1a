# SPDX-License-Identifier: MIT
"""The configs that ship: which there are, how long they are, and that what they name exists."""

import textwrap
from pathlib import Path
from typing import get_args

import pytest

from harness import config
from harness.config import models, resources
from harness.errors import UsageError

REPOSITORY = Path(__file__).resolve().parents[2]
CONFIGS = REPOSITORY / "qemu-configs"


def test_the_configs_are_listed() -> None:
    listed = config.list_configs()
    assert listed == sorted(file.stem for file in CONFIGS.glob("*.toml"))
    assert {"aarch64-virt", "mips-malta"} <= set(listed)


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.toml")), ids=lambda file: file.stem)
def test_a_config_is_short_and_loads(file: Path) -> None:
    licence, *lines = file.read_text().splitlines()
    assert licence.startswith("# SPDX")
    assert len(lines) <= 20
    loaded = config.load_config(file)
    assert loaded.name == file.stem
    assert loaded.port in config.list_ports()
    assert loaded.qemu.package
    assert loaded.build.package


def test_a_config_says_what_its_file_says() -> None:
    loaded = config.load_config("mips64-malta")
    assert loaded.architecture == "mips"
    assert loaded.qemu.binary == "qemu-system-mips64"
    assert loaded.qemu.cpu == "MIPS64R2-generic"
    assert loaded.qemu.smp == 1
    assert loaded.qemu.arguments == ()
    assert loaded.build.cross_compile == "mips64-linux-gnuabi64-"
    assert loaded.build.cflags == ("-mabi=64", "-march=mips64r2", "-EB")
    assert loaded.build.form == "mcount"


def test_every_port_is_in_order() -> None:
    for name in config.list_ports():
        port = config.load_port(name)
        assert port.name == name
        assert port.directory == resources.guests_directory() / "ports" / name
        assert port.architecture in resources.architectures()
        assert "FUNCTION_TRACER" in port.features


def test_the_document_describes_every_key() -> None:
    document = (REPOSITORY / "docs/configs.rst").read_text()
    configs, ports = document.split(".. _port.toml:")
    for text, prefix, model in (
        (configs, "", models.ConfigFile),
        (configs, "qemu.", models.QemuConfig),
        (configs, "build.", models.BuildConfig),
        (configs, "linux.", models.LinuxTable),
        (ports, "", models.PortFile),
    ):
        for name, field in model.model_fields.items():
            if name in ("qemu", "build"):
                continue
            heading = f"\n``{prefix}{name}`` : "
            assert heading in text
            described = text.split(heading)[1].split("\n")[0]
            assert field.is_required() == ("default" not in described), name
    for choices in (models.Feature, models.ConfigForm):
        for choice in get_args(choices):
            assert f'``"{choice!s}"``' in document
    for name in config.list_configs():
        assert f"\n{name} " in document


def test_the_example_in_the_document_is_the_file() -> None:
    document = (REPOSITORY / "docs/configs.rst").read_text()
    example = document.split(".. code-block:: toml\n\n")[1].split("\nKeys\n")[0]
    assert textwrap.dedent(example).strip() == (CONFIGS / "mips-malta.toml").read_text().strip()


def test_bindep_has_the_packages_of_every_config() -> None:
    lines = (REPOSITORY / "bindep.txt").read_text().splitlines()
    packages = {line.split()[0] for line in lines if line and not line.startswith("#")}
    for name in config.list_configs():
        loaded = config.load_config(name)
        assert {loaded.qemu.package, loaded.build.tools_package} <= packages


def test_a_host_has_its_own_compiler_from_gcc(monkeypatch: pytest.MonkeyPatch) -> None:
    build = config.load_config("aarch64-virt").build
    assert build.tools_package == build.package
    monkeypatch.setattr("platform.machine", lambda: "aarch64")
    assert build.tools_package == "gcc"
    assert build.model_copy(update={"compiler": "gcc-13"}).compiler_package == "gcc-13"


def test_an_unknown_config_suggests_the_near_name() -> None:
    with pytest.raises(UsageError) as caught:
        config.load_config("mips-maltta")
    assert "no config 'mips-maltta'" in caught.value.message
    assert "Did you mean 'mips-malta'" in caught.value.advice
    assert "aarch64-virt-patchable" in caught.value.advice


def test_an_unknown_port_suggests_the_near_name() -> None:
    with pytest.raises(UsageError, match=r"no port 'mipps'") as caught:
        config.load_port("mipps")
    assert "Did you mean 'mips'" in caught.value.advice
