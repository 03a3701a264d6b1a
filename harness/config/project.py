# SPDX-License-Identifier: MIT
"""The defaults of a project: ``harness.toml``, or ``[tool.harness]`` of a ``pyproject.toml``.

    config = "mips-malta"
    port = "arch/mips/ftrace"

The nearest one counts, from the current directory upwards.  A file of another user does not: it may
lie in a directory such as /tmp, and a config names programs to run.
"""

import os
from pathlib import Path
from typing import Literal

from pydantic import BaseModel, ConfigDict

from harness.config.loading import FILE_LIMIT, read_toml, validated
from harness.config.names import is_path
from harness.errors import UsageError
from harness.units import escape

ADVICE = "docs/harness.rst describes both keys."
LIMIT = 16 * FILE_LIMIT  # a pyproject.toml is of the whole project

Key = Literal["config", "port"]


class ProjectFile(BaseModel):
    """The table."""

    model_config = ConfigDict(extra="forbid", strict=True)

    config: str | None = None
    port: str | None = None


def project_default(key: Key) -> str | None:
    """The values of the nearest file, with absolute paths; None without a file.

    Raises:
        UsageError: the file is invalid.
    """
    found = _nearest(Path.cwd())
    if found is None:
        return None
    file, table = found
    if not isinstance(table, dict):
        raise UsageError(f"{escape(str(file), 500)}: tool.harness is not a table.", ADVICE)
    value: str | None = getattr(validated(ProjectFile, table, file, ADVICE), key)
    # As on the command line: the path of a port has a slash.
    named = value is None or not (is_path(value) if key == "config" else "/" in value)
    return value if named else str(file.parent / str(value))


def _nearest(directory: Path) -> tuple[Path, object] | None:
    for place in (directory, *directory.parents):
        own = place / "harness.toml"
        if _is_trusted(own):
            return own, read_toml(own, LIMIT)
        project = place / "pyproject.toml"
        if _is_trusted(project):
            tools = read_toml(project, LIMIT).get("tool", {})
            if isinstance(tools, dict) and "harness" in tools:
                return project, tools["harness"]
    return None


def _is_trusted(file: Path) -> bool:
    """Whether it is there, and is this user's or root's."""
    try:
        return file.stat().st_uid in (os.geteuid(), 0)
    except OSError:
        return False
