# SPDX-License-Identifier: MIT
"""Runs that are repeated instruction for instruction: going to any event, and backwards."""

from harness.replay.events import EventPlace, RecordedEvents
from harness.replay.guest import ReplayedGuest, open_replay
from harness.replay.manifest import move_recording
from harness.replay.recorder import Recorder, check_replayable
from harness.replay.run import Replay
from harness.replay.writers import Writer, memory_writer, register_writer

__all__ = [
    "EventPlace",
    "RecordedEvents",
    "Recorder",
    "Replay",
    "ReplayedGuest",
    "Writer",
    "check_replayable",
    "memory_writer",
    "move_recording",
    "open_replay",
    "register_writer",
]
