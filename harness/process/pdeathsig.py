# SPDX-License-Identifier: MIT
"""What stands in front of a command line, so that the kernel ends it with the process that ran it.

The kernel's parent-death signal belongs to the thread that starts a process: that thread has to
live as long as the process is wanted.  The kernel does not tell of a parent that ended before it
was asked to watch it, so the parent is compared once the signal is set.
"""

import os
import shutil

from harness.errors import HostError

UNLESS_ORPHANED = 'test "$PPID" = "$0" && exec "$@"'

# The signal that tells the shell of our end is one that we never block: a child inherits the mask.
GROUP = 'trap "kill -KILL 0" USR1; test "$PPID" = "$0" || exit; "$@" & wait "$!"'


def find_program(name: str, package: str) -> str:
    """The path of a program; HostError names the Debian package that holds a missing one."""
    found = shutil.which(name)
    if found is None:
        raise HostError(
            f"{name} is not installed",
            f"Install it: apt-get install {package}" if package else "See `harness doctor`.",
        )
    return found


def with_pdeathsig() -> list[str]:
    """What stands in front of a command line whose process shall not outlive this thread.

    The kernel kills the process when the thread that made it ends; one that is made in the moment
    in which this process ends does not become the command at all.
    """
    return _guard(find_program("setpriv", "util-linux"), "KILL", UNLESS_ORPHANED)


def program_with_pdeathsig() -> list[str]:
    """The same for a program that is asked something, on a search path that may have it alone."""
    return _guard(_system_setpriv(), "KILL", UNLESS_ORPHANED)


def group_with_pdeathsig() -> list[str]:
    """As `program_with_pdeathsig`, for one that starts others, all in a process group of their own.

    The kernel tells a shell in that group, which kills the group.
    """
    return _guard(_system_setpriv(), "USR1", GROUP)


def _system_setpriv() -> str:
    return shutil.which("setpriv", path=os.defpath) or find_program("setpriv", "util-linux")


def _guard(setpriv: str, signal: str, script: str) -> list[str]:
    return [setpriv, "--pdeathsig", signal, "--", "/bin/sh", "-c", script, str(os.getpid())]
