# SPDX-License-Identifier: MIT
"""Every error the harness raises on purpose: yours, the guest's, or the host's.

The class says who is at fault and with it the exit status of the command line.  A message is one
plain sentence that says what happened and where; ``advice`` is what to do about it; ``evidence``
is what was seen: registers, backtrace, disassembly, the tail of a console.
"""


class HarnessError(Exception):
    """The root of the hierarchy; raise one of the three branches below instead."""

    exit_status = 3

    def __init__(self, message: str, advice: str = "", evidence: str = "") -> None:
        super().__init__(message)
        self.message = message
        self.advice = advice
        self.evidence = evidence

    def __reduce__(self) -> tuple[object, ...]:
        """Everything of it goes from one process to another."""
        return type(self), (self.message, self.advice, self.evidence)

    def __str__(self) -> str:
        return "\n".join(part for part in (self.message, self.advice, self.evidence) if part)


class UsageError(HarnessError):
    """Your mistake: a bad name, a bad glob, an unreadable file, a source that does not compile."""

    exit_status = 2


class GuestError(HarnessError):
    """The thing tested is at fault: the guest died, hung, or is not what it must be."""

    exit_status = 1


class HostError(HarnessError):
    """The host is at fault: QEMU, gdb or a toolchain is missing or dead, the disk is full."""

    exit_status = 3


class RangeError(GuestError):
    """A branch cannot reach its target from where it stands."""


class SiteMismatch(GuestError):
    """The text at a call site is not what it must be; nothing has been changed."""


class GuestDied(GuestError):
    """The guest panicked, or its machine ended while something waited for it."""


class DeadlineMissed(GuestError):
    """A wait for the guest came to its deadline."""


class WrongGuest(UsageError):
    """The ELF file is not the guest that runs."""


class FormatError(UsageError):
    """A file or a memory image is not in the format that its reader expects."""


class GdbError(HostError):
    """gdb refused a command; the message is gdb's own."""


class DebuggerDied(HostError):
    """gdb ended, or did not answer before the deadline."""
