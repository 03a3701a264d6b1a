# SPDX-License-Identifier: MIT
"""The tracefs of a live guest as a file system of the host, with FUSE."""

from harness.mount.mount import Mount, check_directory
from harness.mount.running import run_mounted

__all__ = ["Mount", "check_directory", "run_mounted"]
