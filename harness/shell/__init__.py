# SPDX-License-Identifier: MIT
"""The interactive session: a live guest, tracefs habits and gdb in one terminal."""

from harness.shell.prompt import run_prompt
from harness.shell.script import run_script
from harness.shell.session import Session

__all__ = ["Session", "run_prompt", "run_script"]
