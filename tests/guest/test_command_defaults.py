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


def test_a_file_of_the_project_stands_for_them_too(monkeypatch, tmp_path):
    (tmp_path / "harness.toml").write_text('config = "mips-malta"\nport = "./nothing"\n')
    (tmp_path / "sub").mkdir()
    options = {"cwd": tmp_path / "sub", "input": "p 6*7\n"}
    done = harness("shell", **options)
    assert done.returncode == 2
    assert str(tmp_path / "nothing") in done.stderr
    monkeypatch.setenv("HARNESS_PORT", "mips")
    done = harness("shell", **options)
    assert (done.returncode, done.stdout) == (0, "$1 = 42\n")
    (tmp_path / "harness.toml").write_text("confg = 5\n")
    done = harness("shell", **options)
    assert done.returncode == 2
    assert "confg" in done.stderr
    assert "Traceback" not in done.stderr


def test_doctor_of_one_config():
    done = harness("doctor", "-c", "mips-malta")
    assert done.returncode == 0
    assert "mips-malta: machine" in done.stdout
    assert "aarch64" not in done.stdout
    assert harness("doctor", "-c", "nosuch").returncode == 2
