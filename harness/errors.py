# SPDX-License-Identifier: MIT
"""Every error that the harness raises on purpose: the user's, the guest's or the host's.

The class says who is at fault, and so sets the exit status of the command line.  A message is one
sentence: what happened and where.  ``advice`` says what to do about it.  ``evidence`` holds
registers, backtrace, disassembly or the tail of a console.
"""


class HarnessError(Exception):
    """The base class; raise one of the three below instead."""

    exit_status = 3

    def __init__(self, message: str, advice: str = "", evidence: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.evidence = evidence

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled with all three parts."""
        return type(self), (self.message, self.advice, self.evidence)

    def __str__(self) -> str:
        return "\n".join(part for part in (self.message, self.advice, self.evidence) if part)


class UsageError(HarnessError):
    """The user's mistake: a bad name, a bad glob, an unreadable file, a source that does not
    compile.
    """

    exit_status = 2


class GuestError(HarnessError):
    """The thing tested is at fault: the guest died, hung or is not as expected."""

    exit_status = 1


class HostError(HarnessError):
    """The host is at fault: QEMU, gdb or a toolchain is missing or dead, the disk is full."""

    exit_status = 3


class RangeError(GuestError):
    """A branch cannot reach its target."""


class SiteMismatch(GuestError):
    """The text at a call site is not the expected one; nothing has been changed."""


class NotBegun(GuestError):
    """The guest has not come to the place from which on this can be read."""


class GuestDied(GuestError):
    """The guest panicked, or QEMU exited during a wait.

    ``headline`` says of what, as ``store to 0x4 in bad+0xc (oops.c:2) <- workload``.  It is no part
    of the message, so that this is the same when code has moved.
    """

    def __init__(
        self, message: str, advice: str = "", evidence: str = "", headline: str = ""
    ) -> None:
        super().__init__(message, advice, evidence)
        self.headline = headline

    def __reduce__(self) -> tuple[object, ...]:
        """Pickled with all four parts."""
        return type(self), (self.message, self.advice, self.evidence, self.headline)

    def __str__(self) -> str:
        first, *rest = super().__str__().split("\n")
        return "\n".join([f"{first}: {self.headline}" if self.headline else first, *rest])


class DeadlineMissed(GuestError):
    """A wait for the guest timed out."""


class WrongGuest(UsageError):
    """The ELF file is not that of the running guest."""


class FormatError(UsageError):
    """A file or memory image is not in the expected format."""


class GdbError(HostError):
    """gdb refused a command; the message is gdb's own."""


class DebuggerDied(HostError):
    """gdb exited, or did not answer in time."""
