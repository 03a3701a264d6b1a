# SPDX-License-Identifier: MIT
"""Guest kernels: built by make, kept by content, so that nothing is built twice."""

from harness.build.guest import Build, build_guest, module_beside, plan_build
from harness.build.make import MakeResult, run_make
from harness.build.toolchain import toolchain_identity
from harness.config.names import list_modules, list_ports, list_workloads

__all__ = [
    "Build",
    "MakeResult",
    "build_guest",
    "list_modules",
    "list_ports",
    "list_workloads",
    "module_beside",
    "plan_build",
    "run_make",
    "toolchain_identity",
]
