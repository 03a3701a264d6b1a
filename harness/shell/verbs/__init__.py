# SPDX-License-Identifier: MIT
"""The verbs of the session, with a file for each group."""

from harness.shell.verb import VERBS, check, parse
from harness.shell.verbs import control, mount, port, record, replay, tracefs

__all__ = ["VERBS", "check", "control", "mount", "parse", "port", "record", "replay", "tracefs"]
