# SPDX-License-Identifier: MIT
"""What is installed, what is missing, and the one command that mends it."""

from harness.doctor.checks import examine
from harness.doctor.result import Check, mend_command

__all__ = ["Check", "examine", "mend_command"]
