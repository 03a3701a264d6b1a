# SPDX-License-Identifier: MIT
"""Machine configs and ports: TOML files, read and checked.

The models need pydantic, whose import takes longer than most commands; it is imported only when a
file is read, so that names are listed quickly.
"""

from pathlib import Path
from typing import TYPE_CHECKING

from harness.config.names import list_configs, list_modules, list_ports, list_workloads

if TYPE_CHECKING:
    from harness.config.models import (
        BuildConfig,
        KernelFile,
        LinuxConfig,
        MachineConfig,
        Port,
        QemuConfig,
    )

__all__ = [
    "BuildConfig",
    "KernelFile",
    "LinuxConfig",
    "MachineConfig",
    "Port",
    "QemuConfig",
    "list_configs",
    "list_modules",
    "list_ports",
    "list_workloads",
    "load_any_config",
    "load_config",
    "load_port",
]


def load_config(name_or_path: str | Path) -> "MachineConfig":
    """The machine config of a name in ``qemu-configs/``, or of a path.

    A text that ends in ``.toml`` or has a slash is a path.  Raises UsageError with the file, the
    key, the value found and the values allowed; also for the config of a Linux kernel, which has no
    guest to build.
    """
    from harness.config.loading import load_config as load

    return load(name_or_path)


def load_any_config(name_or_path: str | Path) -> "MachineConfig | LinuxConfig":
    """As `load_config`; a file with a table ``[linux]`` gives a LinuxConfig.

    Its paths are relative to the directory of the config; UsageError if a file does not exist.
    """
    from harness.config.loading import load_any_config as load

    return load(name_or_path)


def load_port(name_or_directory: str | Path) -> "Port":
    """The port of a name in ``guests/ports/``, or of a directory (a text with a slash).

    Raises UsageError if a required file is missing or ``port.toml`` is wrong.
    """
    from harness.config.loading import load_port as load

    return load(name_or_directory)


def __getattr__(name: str) -> object:
    if name in __all__:
        from harness.config import models

        return getattr(models, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
