# SPDX-License-Identifier: MIT
"""What is installed, what is missing, and the one command that mends it."""

from harness.doctor.checks import check_all
from harness.doctor.result import Check, mend_command

__all__ = ["Check", "check_all", "mend_command"]
