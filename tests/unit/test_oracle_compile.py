# SPDX-License-Identifier: MIT
"""The plugin is compiled once, and a host that cannot says so."""

import pytest

from harness.errors import HostError
from harness.oracle import build_plugin


@pytest.fixture(autouse=True)
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path / "ftrace-harness" / "oracle"


def compiler(tmp_path, monkeypatch, script):
    """Make ``cc`` a shell script that is alone on the path."""
    program = tmp_path / "bin" / "cc"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\n{script}\n")
    program.chmod(0o755)
    monkeypatch.setenv("PATH", str(program.parent))


def test_it_is_compiled_once(cache):
    plugin = build_plugin()
    made = plugin.stat()
    assert build_plugin() == plugin
    assert plugin.stat().st_mtime_ns == made.st_mtime_ns
    assert list(cache.iterdir()) == [plugin]


def test_no_compiler(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(HostError, match="apt-get install gcc"):
        build_plugin()


def test_compiler_that_fails(cache, tmp_path, monkeypatch):
    compiler(tmp_path, monkeypatch, "echo 'bad \033[31m source' >&2; exit 1")
    with pytest.raises(HostError, match="does not compile") as error:
        build_plugin()
    assert "\033" not in str(error.value)
    assert list(cache.iterdir()) == []


def test_cache_that_cannot_be_made(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "file"))
    with pytest.raises(HostError, match="XDG_CACHE_HOME"):
        build_plugin()
