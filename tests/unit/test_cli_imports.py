# SPDX-License-Identifier: MIT
"""What the command line imports before it knows the command."""

import subprocess
import sys

LATE = ("pydantic", "elftools", "numpy", "harness.trace", "harness.isa")
"""What takes as long to import as all the rest."""

SHOW = f"""
import sys
from harness.cli.command import harness
harness.main(["--help"], standalone_mode=False)
print("imported:", *[name for name in {LATE} if name in sys.modules])
"""


def test_the_help_waits_for_none_of_the_rooms_behind_the_commands():
    command = [sys.executable, "-P", "-c", SHOW]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert printed.splitlines()[-1] == "imported:"
