# SPDX-License-Identifier: MIT
"""Where the files lie that are not Python: the guests' sources, the machine configs, the cache.

In a source tree the first two lie next to the package; a wheel carries a copy inside it.
"""

import os
from pathlib import Path

from harness.errors import HostError

PACKAGE = Path(__file__).resolve().parents[1]


def root() -> Path:
    """The directory that holds ``guests`` and ``qemu-configs``."""
    source = PACKAGE.parent
    # Site-packages may hold somebody else's "guests"; only a source tree has a pyproject.toml too.
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
    """Where what was built is kept, ``$XDG_CACHE_HOME/ftrace-harness``; perhaps not there yet."""
    return _base_directory("XDG_CACHE_HOME", "~/.cache", "a cache")


def state_directory() -> Path:
    """Where histories and last reports are kept, ``$XDG_STATE_HOME/ftrace-harness``; perhaps not
    there yet.
    """
    return _base_directory("XDG_STATE_HOME", "~/.local/state", "a history")


def _base_directory(variable: str, default: str, what: str) -> Path:
    """Our own in one of the XDG base directory specification, which has relative paths ignored."""
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
    """The architectures that both the guests and the harness know, sorted."""
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
