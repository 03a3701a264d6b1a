# SPDX-License-Identifier: MIT
"""One run of make, limited in time and output, and the message when it fails."""

import os
import re
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from harness.errors import HostError
from harness.process import NotRun, TimedOut, stream
from harness.units import escape

Progress = Callable[[str], None]

DEADLINE = 600.0  # seconds; a guest takes about ten

# Variables that gcc and make read are not passed on: they are not part of the key.
_ENVIRONMENT = ("PATH", "HOME", "TMPDIR")

_COMPLAINT = re.compile(
    r"error:|Error:|undefined reference|multiple definition|No space left|recordmcount|"
    r"overflowed|cannot (?:find|represent)|relocation truncated|^(?!make).*\*\*\* "
)


@dataclass(frozen=True, slots=True)
class MakeResult:
    """The exit status and the lines to show: the first errors, else the last lines."""

    status: int
    complaints: list[str]


def run_make(
    command: Sequence[str],
    progress: Progress,
    deadline: float = DEADLINE,
    *,
    pass_fds: Sequence[int] = (),
) -> MakeResult:
    """Run make to its end; HostError if it cannot run or misses the deadline (seconds).

    Each line of output goes, escaped and limited, to ``progress``.  make and its child processes
    have ended when this returns or raises; all of them inherit ``pass_fds``.
    """
    environment = {name: os.environ[name] for name in _ENVIRONMENT if name in os.environ}
    first: list[str] = []
    last: deque[str] = deque(maxlen=10)

    def tell(line: str) -> None:
        shown = escape(line)
        progress(shown)
        last.append(shown)
        if len(first) < 10 and _COMPLAINT.search(shown):
            first.append(shown)

    try:
        environment["LC_ALL"] = "C"
        status = stream(command, deadline, tell, environment=environment, pass_fds=pass_fds)
    except TimedOut:
        raise HostError(
            f"The build did not end within {deadline:.0f} seconds.",
            "Look for a compiler that hangs, then try again.",
        ) from None
    except NotRun as error:
        raise HostError(
            f"{command[0]} cannot be run: {error}.",
            "Install the Debian package make, or run harness doctor.",
        ) from error
    return MakeResult(status, first or list(last))
