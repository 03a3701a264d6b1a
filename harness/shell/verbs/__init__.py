# SPDX-License-Identifier: MIT
"""The verbs of the session, a file for each kind."""

from harness.shell.verb import VERBS, check, parse
from harness.shell.verbs import control, events, port, record, tracefs

__all__ = ["VERBS", "check", "control", "events", "parse", "port", "record", "tracefs"]
