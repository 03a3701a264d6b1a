# SPDX-License-Identifier: MIT
"""Guest kernels: built by make, kept by content, so that nothing is built twice."""

from harness.build.guest import Build, build_guest, module_beside, plan_build
from harness.config.names import list_modules, list_ports, list_workloads

__all__ = [
    "Build",
    "build_guest",
    "list_modules",
    "list_ports",
    "list_workloads",
    "module_beside",
    "plan_build",
]
