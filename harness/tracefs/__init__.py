# SPDX-License-Identifier: MIT
"""The files of tracefs for a live guest: one table, for the prompt and for a mounted tree."""

from harness.tracefs.absent import KNOWN
from harness.tracefs.controls import CONTROLS
from harness.tracefs.files import UNLIMITED, Directory, File, Node, NoFile, Stream, number
from harness.tracefs.tree import DIRECTORIES, Tracefs, shortened

__all__ = [
    "CONTROLS",
    "DIRECTORIES",
    "KNOWN",
    "UNLIMITED",
    "Directory",
    "File",
    "NoFile",
    "Node",
    "Stream",
    "Tracefs",
    "number",
    "shortened",
]
