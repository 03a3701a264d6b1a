# SPDX-License-Identifier: MIT
"""Guest kernels: built by make, kept by content, so that nothing is built twice."""

from harness.build.build import Build, build_guest, module_beside, plan_build
from harness.build.cache import MUTANTS
from harness.build.sources import find_modules
from harness.build.spec import GuestSpec

__all__ = [
    "MUTANTS",
    "Build",
    "GuestSpec",
    "build_guest",
    "find_modules",
    "module_beside",
    "plan_build",
]
