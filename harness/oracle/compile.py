# SPDX-License-Identifier: MIT
"""Compile the plugin for this host, once for each content of its sources."""

import hashlib
import os
import shutil
import subprocess
import tempfile
from pathlib import Path

from harness.errors import HostError

_HERE = Path(__file__).parent
_SOURCES = ("plugin.c", "qemu_plugin_api.h")
_FLAGS = ("-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-std=gnu11")
_WARNINGS = ("-Wall", "-Wextra", "-Werror")


def build_plugin() -> Path:
    """The compiled plugin, from the cache or made now.

    Errors: HostError when the host has no C compiler, or when it refuses the source.
    """
    compiler = shutil.which(os.environ.get("CC", "cc"))
    if compiler is None:
        raise HostError(
            "the oracle needs a C compiler of this host and found none",
            "Install the Debian package gcc.",
        )
    key = hashlib.sha256()
    for part in (*_FLAGS, *((_HERE / name).read_text() for name in _SOURCES)):
        key.update(part.encode() + b"\0")
    plugin = _cache_directory() / f"{key.hexdigest()[:16]}.so"
    if not plugin.exists():
        _compile(compiler, plugin)
    return plugin


def _cache_directory() -> Path:
    cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    directory = Path(cache) / "ftrace-harness" / "oracle"
    directory.mkdir(parents=True, exist_ok=True)
    return directory


def _compile(compiler: str, plugin: Path) -> None:
    """Compile beside the target and rename, so that two builders cannot meet half a file."""
    with tempfile.TemporaryDirectory(dir=plugin.parent) as directory:
        output = Path(directory) / plugin.name
        command = (compiler, *_FLAGS, *_WARNINGS, "-o", str(output), str(_HERE / _SOURCES[0]))
        result = subprocess.run(command, capture_output=True, text=True, check=False)
        if result.returncode != 0:
            raise HostError(
                f"the oracle's plugin does not compile: {result.stderr.strip()[:2000]}",
                f"The command was: {' '.join(command)}",
            )
        output.replace(plugin)
