# SPDX-License-Identifier: MIT
"""Checks what is installed, and names the command that installs what is missing."""

from harness.doctor.checks import check_all
from harness.doctor.result import Diagnosis, mend_command

__all__ = ["Diagnosis", "check_all", "mend_command"]
