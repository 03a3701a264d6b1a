# SPDX-License-Identifier: MIT
"""The guest's tracefs as a file system, from the session."""

from pathlib import Path

from harness.errors import UsageError
from harness.shell.session import Session
from harness.shell.verb import FILES, Arguments, verb

GROUP = FILES


@verb("DIRECTORY", completes="files", example="mount tracing", group=GROUP)
def mount(session: Session, arguments: Arguments) -> None:
    """Serve these files as a file system at an empty directory, for programs of the host.

    They can be used at the prompt, and while the guest runs, but not during other lines of gdb's.
    It ends with umount, with the guest, and with the session.
    """
    if not arguments.words or arguments.redirect:
        raise UsageError("mount where?", "Example: mount tracing")
    session.mount.begin(Path(arguments.words[0]).expanduser())


@verb(group=GROUP)
def umount(session: Session, arguments: Arguments) -> None:
    """End mount."""
    if session.mount.mounted is None:
        raise UsageError("nothing is mounted", "Use: mount DIRECTORY")
    session.mount.end()
