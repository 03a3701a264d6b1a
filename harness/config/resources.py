# SPDX-License-Identifier: MIT
"""Where the files lie that are not Python: the guests' sources and the machine configs.

In a source tree they lie next to the package; a wheel carries a copy inside it.
"""

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


def architectures() -> list[str]:
    """The architectures that both the guests and the harness know, sorted."""
    return sorted(
        directory.name
        for directory in (guests_directory() / "arch").glob("*/")
        if (PACKAGE / "isa" / f"{directory.name}.py").is_file()
    )


def _existing(directory: Path) -> Path:
    if not directory.is_dir():
        raise HostError(
            f"The installation is incomplete: {directory} is missing.",
            "Install ftrace-harness again.",
        )
    return directory
