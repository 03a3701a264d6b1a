# SPDX-License-Identifier: MIT
"""A real Linux kernel: its structures, and how they are found in a stopped guest."""

from harness.linux.image import LinuxImage, open_image
from harness.linux.kernel import Kernel, KernelMemory
from harness.linux.layouts import Layouts, load_layouts

__all__ = ["Kernel", "KernelMemory", "Layouts", "LinuxImage", "load_layouts", "open_image"]
