# SPDX-License-Identifier: MIT
"""A guest's ELF file: machine, symbols, functions, text, call sites, structures."""

from harness.image.functions import Function
from harness.image.image import Image
from harness.image.layout import Member, Structure
from harness.image.lines import SourceLine
from harness.image.module import THIS_MODULE, ModuleImage
from harness.image.running import RunningImage
from harness.image.threads import GuestThread, ThreadArray, thread_count

__all__ = [
    "THIS_MODULE",
    "Function",
    "GuestThread",
    "Image",
    "Member",
    "ModuleImage",
    "RunningImage",
    "SourceLine",
    "Structure",
    "ThreadArray",
    "thread_count",
]
