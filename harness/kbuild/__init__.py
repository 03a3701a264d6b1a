# SPDX-License-Identifier: MIT
"""Guest kernels, built by make and cached by content, so that nothing is built twice."""

from harness.kbuild.build import Build, build_guest, module_beside, plan_build
from harness.kbuild.cache import MUTANTS
from harness.kbuild.failure import NotDefined
from harness.kbuild.guest_sources import GuestSources, write_source_paths
from harness.kbuild.sources import find_modules
from harness.kbuild.spec import OF_DYNAMIC, GuestSpec

__all__ = [
    "MUTANTS",
    "OF_DYNAMIC",
    "Build",
    "GuestSources",
    "GuestSpec",
    "NotDefined",
    "build_guest",
    "find_modules",
    "module_beside",
    "plan_build",
    "write_source_paths",
]
