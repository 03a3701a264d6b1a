# SPDX-License-Identifier: MIT
"""``harness.toml`` and ``[tool.harness]``: which one counts, and what is said of a wrong one."""

import os
from pathlib import Path

import pytest

from harness.config.project import project_default
from harness.errors import UsageError


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A directory with a subdirectory, which is the current one."""
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path / "sub")
    return tmp_path


def test_the_nearest_file_counts(project):
    (project / "pyproject.toml").write_text('[tool.harness]\nconfig = "mips-malta"\n')
    assert project_default("config") == "mips-malta"
    (project / "sub" / "pyproject.toml").write_text("[project]\nname = 'x'\n")
    assert project_default("config") == "mips-malta"
    (project / "sub" / "harness.toml").write_text('config = "aarch64-virt"\n')
    assert project_default("config") == "aarch64-virt"
    assert project_default("port") is None


def test_paths_are_relative_to_the_file(project):
    (project / "port").mkdir()
    (project / "harness.toml").write_text('config = "configs/mine.toml"\nport = "./port"\n')
    assert project_default("config") == str(project / "configs/mine.toml")
    assert project_default("port") == str(project / "port")
    (project / "harness.toml").write_text('port = "mips"\n')
    assert project_default("port") == "mips"


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("harness.toml", "confg = 'x'", "confg"),
        ("harness.toml", "config = 5", "config"),
        ("harness.toml", "config", "is not TOML"),
        ("pyproject.toml", "[tool]\nharness = 5", "tool.harness"),
    ],
)
def test_a_wrong_file_is_a_sentence(project, name, text, said):
    (project / name).write_text(text)
    with pytest.raises(UsageError, match=said) as told:
        project_default("config")
    assert str(project / name) in told.value.message


def test_another_users_file_does_not_count(project, monkeypatch):
    (project / "harness.toml").write_text('config = "mips-malta"\n')
    real = Path.stat

    def stat(self, **options):
        found = real(self, **options)
        if self.name == "harness.toml":
            return os.stat_result((*found[:4], 12345, *found[5:]))
        return found

    monkeypatch.setattr(Path, "stat", stat)
    assert project_default("config") is None
