# SPDX-License-Identifier: MIT
"""Names of configs, ports, workloads and modules, and errors for unknown ones."""

import difflib
import os
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path

from harness.config import resources
from harness.errors import UsageError
from harness.units import escape


def list_configs() -> list[str]:
    """Names of the machine configs in ``qemu-configs/``, sorted."""
    return sorted(path.stem for path in resources.configs_directory().glob("*.toml"))


def list_ports() -> list[str]:
    """Names of the ports in ``guests/ports/``, sorted."""
    ports = resources.guests_directory() / "ports"
    return sorted(path.parent.name for path in ports.glob("*/port.toml"))


def list_workloads() -> list[str]:
    """Names of the workloads in ``guests/workloads/``, sorted."""
    return sorted(path.stem for path in (resources.guests_directory() / "workloads").glob("*.c"))


def list_modules() -> list[str]:
    """Names of the modules in ``guests/modules/``, sorted."""
    return sorted(path.stem for path in (resources.guests_directory() / "modules").glob("*.c"))


def is_path(config: str) -> bool:
    """Whether it is the path of a config and not a name in ``qemu-configs/``."""
    return "/" in config or config.endswith(".toml")


def user_path(text: str | Path) -> Path:
    """The path of a user's text, with a tilde at its beginning expanded.

    The tilde of an unknown user stays, as in a shell.
    """
    return Path(os.path.expanduser(text))  # noqa: PTH111 (Path forgets a "./" in front)


def as_path(directory: Path) -> str:
    """A directory as a text with a slash, so that it is not taken for a name."""
    text = str(directory)
    return text if "/" in text else f"./{text}"


def near(word: str, known: Iterable[str]) -> str:
    """``Did you mean 'a' or 'b'? `` with the names similar to the word; empty if none is."""
    names = {name.lower(): name for name in known}
    close = difflib.get_close_matches(word.lower(), names, n=3, cutoff=0.6)
    if not close:
        return ""
    return f"Did you mean {' or '.join(repr(names[name]) for name in close)}? "


def unknown_name(
    kind: str, name: str, known: Sequence[str], *, path_hint: str, here: Path | None = None
) -> UsageError:
    """The error for a name that is not among ``known``.

    ``path_hint`` says how to give a file instead; ``here`` is a file or directory of that name in
    the current directory, which may be meant.
    """
    meant = ""
    # The text may be no valid file name.
    with suppress(OSError):
        if here and here.name and here.exists():
            meant = f"Write ./{here} for the one in this directory. "
    names = ", ".join(known) or "none"
    return UsageError(
        f"There is no {kind} {escape(repr(name), 200)}.",
        f"{meant}{near(name, known)}The {kind}s are: {names}. {path_hint}",
    )
