# SPDX-License-Identifier: MIT
"""A guest's ELF file: what it is built for, its symbols, functions, text and call sites."""

from harness.image.functions import Function
from harness.image.image import Image
from harness.image.module import THIS_MODULE, ModuleImage
from harness.image.running import RunningImage

__all__ = ["THIS_MODULE", "Function", "Image", "ModuleImage", "RunningImage"]
