# SPDX-License-Identifier: MIT
"""What the doctor found, and what to do about it."""

import os
import shlex
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """One thing that the harness needs.

    ``detail`` is the version found, or what is wrong; ``package`` is the Debian package that
    mends it, empty where no package does.  ``note`` is what may not work although all is there.
    """

    name: str
    ok: bool
    detail: str
    package: str = ""
    note: str = ""


def mend_command(checks: Iterable[Diagnosis]) -> str:
    """The command that installs what the failed checks miss; empty when no package would help."""
    packages = sorted({check.package for check in checks if not check.ok and check.package})
    if not packages:
        return ""
    sudo = [] if os.geteuid() == 0 else ["sudo"]
    return shlex.join([*sudo, "apt-get", "install", "--yes", *packages])
