# SPDX-License-Identifier: MIT
"""The result of a check, and the command that installs what is missing."""

import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """The result of one check.

    ``detail`` is the version, or what is wrong.  ``package`` is the Debian package to install, if
    any.  ``note`` is a warning about something that is installed.
    """

    name: str
    ok: bool
    detail: str
    package: str = ""
    note: str = ""


def mend_command(checks: Iterable[Diagnosis]) -> str:
    """The command that installs the missing packages; empty if no package is missing."""
    packages = sorted({check.package for check in checks if not check.ok and check.package})
    if not packages:
        return ""
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    return shlex.join([*sudo, "apt-get", "install", "--yes", *packages])
