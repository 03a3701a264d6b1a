# SPDX-License-Identifier: MIT
"""Run the installed ``harness`` command as a person would."""

import subprocess
import sys
from pathlib import Path

from harness.process import processes

HARNESS = str(Path(sys.executable).with_name("harness"))


def harness(*arguments, timeout=120, **options):
    """The finished process, its output as text."""
    return subprocess.run(
        [HARNESS, *map(str, arguments)],
        capture_output=True,
        text=True,
        timeout=timeout,
        check=False,
        **options,
    )


def start(*arguments, **options):
    """The process, still running; its signals do what they do by default, under nohup too."""
    return subprocess.Popen(
        ["env", "--default-signal=HUP,INT,TERM", HARNESS, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **options,
    )


def pytest_arguments(directory, *options):
    """What runs the tests of ``directory`` with Python; temporary files go to its ``base``.

    In pytest's own place for them it would wait for the removal of earlier runs' directories,
    before it prints its summary.
    """
    base = f"--basetemp={directory / 'base'}"
    return ["-m", "pytest", "-p", "no:cacheprovider", base, *options, str(directory)]


def children(pid, name):
    """The child processes of ``pid`` whose names begin with ``name``."""
    return [one.pid for one in processes() if one.parent == pid and one.name.startswith(name)]
