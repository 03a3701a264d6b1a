# SPDX-License-Identifier: MIT
"""What harness build prints, and the environment variables for -c and --port."""

from pathlib import Path

from harness.config import load_port
from support.command import harness


def test_build_prints_paths_alone():
    done = harness("build", "mips-malta", "aarch64-virt", "--module", "callbacks")
    paths = [Path(line) for line in done.stdout.splitlines()]
    assert [path.name for path in paths] == ["vmlinux", "callbacks.ko"] * 2
    assert all(path.is_file() for path in paths)
    assert "make" not in done.stderr
    verbose = harness("build", "-v", "mips-malta", "--module", "callbacks")
    assert verbose.stdout.splitlines() == [str(path) for path in paths[:2]]
    assert verbose.stderr.startswith("make --no-print-directory -C ")


def test_the_environment_stands_for_config_and_port(monkeypatch, tmp_path):
    monkeypatch.setenv("HARNESS_CONFIG", "mips-malta")
    done = harness("shell", input="p 6*7\n")
    assert (done.returncode, done.stdout) == (0, "$1 = 42\n")
    monkeypatch.setenv("HARNESS_PORT", str(tmp_path / "nothing"))
    done = harness("shell", input="")
    assert done.returncode == 2
    assert str(tmp_path / "nothing") in done.stderr
    done = harness("shell", "--port", load_port("mips").directory, input="p 6*8\n")
    assert (done.returncode, done.stdout) == (0, "$1 = 48\n")
