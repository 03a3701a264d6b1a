# SPDX-License-Identifier: MIT
"""Directories: the guests' sources, the machine configs, the cache.

In a source tree the first two lie next to the package; a wheel has a copy in the package.
"""

import os
from pathlib import Path

from harness.errors import HostError

PACKAGE = Path(__file__).resolve().parents[1]


def root() -> Path:
    """The directory with ``guests`` and ``qemu-configs``."""
    source = PACKAGE.parent
    # site-packages may have another project's "guests"; only a source tree has a pyproject.toml.
    if (source / "pyproject.toml").is_file() and (source / "guests").is_dir():
        return source
    return PACKAGE / "data"


def guests_directory() -> Path:
    """The C and assembly sources of the guest kernels."""
    return _existing(root() / "guests")


def configs_directory() -> Path:
    """One TOML file for each machine config."""
    return _existing(root() / "qemu-configs")


def cache_directory() -> Path:
    """The directory of built files, ``$XDG_CACHE_HOME/ftrace-harness``; it may not exist yet."""
    return _base_directory("XDG_CACHE_HOME", "~/.cache", "a cache")


def state_directory() -> Path:
    """The directory of histories and reports, ``$XDG_STATE_HOME/ftrace-harness``; it may be
    missing.
    """
    return _base_directory("XDG_STATE_HOME", "~/.local/state", "a history")


def _base_directory(variable: str, default: str, what: str) -> Path:
    """Our directory below an XDG base directory; relative base directories are ignored."""
    base = os.environ.get(variable, "")
    try:
        root = Path(base) if Path(base).is_absolute() else Path(default).expanduser()
    except RuntimeError as error:
        raise HostError(
            f"This user has no home directory to keep {what} in.",
            f"Set HOME, or {variable} to an absolute path.",
        ) from error
    return root / "ftrace-harness"


def architectures() -> list[str]:
    """The architectures that both the guests and the harness support, sorted."""
    return sorted(
        directory.name
        for directory in (guests_directory() / "arch").glob("*/")
        if (PACKAGE / "isa" / directory.name / "__init__.py").is_file()
    )


def _existing(directory: Path) -> Path:
    if not directory.is_dir():
        raise HostError(
            f"The installation is incomplete: {directory} is missing.",
            "Install ftrace-harness again.",
        )
    return directory
