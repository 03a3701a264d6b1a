# SPDX-License-Identifier: MIT
"""Compiles the plugin for this host, once for each version of its sources."""

import hashlib
import shlex
from pathlib import Path

from harness.config import resources
from harness.errors import HostError
from harness.files import ScratchDirectory, remove_stale
from harness.process import NotRun, find_program, run
from harness.units import escape

_HERE = Path(__file__).parent
SOURCES = ("plugin.c", "flow.c", "threads.c", "interface.c")
_HEADERS = ("control.h", "flow.h", "thread.h", "interface.h", "qemu_plugin_api.h")
_FLAGS = ("-O2", "-shared", "-fPIC", "-fvisibility=hidden", "-std=gnu11")
_WARNINGS = ("-Wall", "-Wextra", "-Werror")

DEADLINE = 120.0
"""The compiler's timeout in seconds."""


def build_plugin() -> Path:
    """The compiled plugin, from the cache if it is there.

    Raises:
        HostError: the host has no C compiler, it refuses the source, or the cache cannot be
            written.
    """
    compiler = find_program("cc", "gcc")
    key = hashlib.sha256()
    for part in (*_FLAGS, *((_HERE / name).read_text() for name in (*SOURCES, *_HEADERS))):
        key.update(part.encode() + b"\0")
    plugin = resources.cache_directory() / "oracle" / f"{key.hexdigest()[:16]}.so"
    remove_stale(plugin.parent)
    if not plugin.exists():
        _compile(compiler, plugin)
    return plugin


def _compile(compiler: str, plugin: Path) -> None:
    """Compile to a temporary directory and rename, for concurrent builds."""
    try:
        plugin.parent.mkdir(parents=True, exist_ok=True)
        with ScratchDirectory(plugin.parent) as directory:
            output = directory.path / plugin.name
            sources = [str(_HERE / name) for name in SOURCES]
            command = (compiler, *_FLAGS, *_WARNINGS, "-o", str(output), *sources)
            result = run(command, DEADLINE)
            if result.returncode != 0:
                said = escape(result.stderr.decode(errors="replace").strip(), 2000)
                raise HostError(
                    f"the oracle's plugin does not compile: {said}",
                    f"The command was: {shlex.join(command)}",
                )
            output.replace(plugin)
    except NotRun as error:
        raise HostError(f"the oracle's plugin cannot be compiled: {error}") from error
    except OSError as error:
        raise HostError(
            f"the oracle's plugin cannot be written to {plugin.parent}: {error.strerror}",
            "Make room or give permission there, or set XDG_CACHE_HOME to another directory.",
        ) from error
