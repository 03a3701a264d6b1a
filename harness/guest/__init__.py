# SPDX-License-Identifier: MIT
"""A live guest: boot, run, trace and inspect it."""

from harness.guest.attached import attach
from harness.guest.control import TIMEOUT, Outcome
from harness.guest.dump import open_dump
from harness.guest.evidence import FAULT_LINES
from harness.guest.fault import find_fault
from harness.guest.guest import DONE, Guest
from harness.guest.linux import LinuxGuest
from harness.guest.marker import TracingOff
from harness.guest.modules import Module, Modules
from harness.guest.source_listing import SourceListing
from harness.guest.start import Startable, boot, check_build_id, debugged, run_kernel, start
from harness.guest.unattended import Unattended, start_unattended

__all__ = [
    "DONE",
    "FAULT_LINES",
    "TIMEOUT",
    "Guest",
    "LinuxGuest",
    "Module",
    "Modules",
    "Outcome",
    "SourceListing",
    "Startable",
    "TracingOff",
    "Unattended",
    "attach",
    "boot",
    "check_build_id",
    "debugged",
    "find_fault",
    "open_dump",
    "run_kernel",
    "start",
    "start_unattended",
]
