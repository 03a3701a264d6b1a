# SPDX-License-Identifier: MIT
"""The command prefix that makes the kernel kill a process together with its parent.

PR_SET_PDEATHSIG is tied to the thread that starts the process: that thread must live as long as the
process.  A parent that ended before the call is not noticed, so the parent's process id is compared
after it.
"""

import os
import shutil

from harness.errors import HostError

UNLESS_ORPHANED = 'test "$PPID" = "$0" && exec "$@"'

# SIGUSR1 tells the shell that we ended: we never block it, and a child inherits the signal mask.
GROUP = 'trap "kill -KILL 0" USR1; test "$PPID" = "$0" || exit; "$@" & wait "$!"'


def find_program(name: str, package: str) -> str:
    """The path of a program; HostError names the Debian package of a missing one."""
    found = shutil.which(name)
    if found is None:
        raise HostError(
            f"{name} is not installed",
            f"Install it: apt-get install {package}" if package else "See `harness doctor`.",
        )
    return found


def with_pdeathsig() -> list[str]:
    """The prefix for a process that must not outlive this thread."""
    return _guard(find_program("setpriv", "util-linux"), "KILL", UNLESS_ORPHANED)


def program_with_pdeathsig() -> list[str]:
    """As `with_pdeathsig`; works with a search path that lacks setpriv."""
    return _guard(_system_setpriv(), "KILL", UNLESS_ORPHANED)


def group_with_pdeathsig() -> list[str]:
    """As `program_with_pdeathsig`, for a program that starts others in its process group.

    The kernel signals a shell in that group, which kills the group.
    """
    return _guard(_system_setpriv(), "USR1", GROUP)


def _system_setpriv() -> str:
    return shutil.which("setpriv", path=os.defpath) or find_program("setpriv", "util-linux")


def _guard(setpriv: str, signal: str, script: str) -> list[str]:
    return [setpriv, "--pdeathsig", signal, "--", "/bin/sh", "-c", script, str(os.getpid())]
