# SPDX-License-Identifier: MIT
"""What is installed, what is missing, and the one command that mends it."""

from harness.doctor.checks import check_all
from harness.doctor.result import Diagnosis, mend_command

__all__ = ["Diagnosis", "check_all", "mend_command"]
