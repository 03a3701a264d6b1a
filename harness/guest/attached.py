# SPDX-License-Identifier: MIT
"""A guest whose QEMU the harness neither starts nor ends."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from harness.debugger import Debugger
from harness.errors import DebuggerDied, GdbError, GuestError, UsageError, WrongGuest
from harness.files import ScratchDirectory
from harness.guest.guest import Guest
from harness.guest.linux import LinuxGuest
from harness.guest.linux_start import check_identity, check_kernel
from harness.guest.linux_symbols import load_symbols
from harness.guest.start import check_build_id
from harness.image import Image
from harness.linux import LinuxImage, load_layouts, open_image
from harness.machine import AttachedMachine

CONNECTING = 15.0
"""Timeout of the connection in seconds."""

ADVICE = "Start QEMU with -gdb, and give its socket or HOST:PORT here."


@contextmanager
def attach(elf: Path, endpoint: str) -> Iterator[Guest]:
    """Connect to the stub at a unix socket or HOST:PORT of a guest started from ``elf``.

    The guest is stopped.  At the end of the block it continues, with its current tracing.

    Raises:
        UsageError: ``elf`` cannot be read, is no guest or has no debug information, or there is no
            stub at ``endpoint``.
        WrongGuest: another guest runs there; nothing has been changed.
    """
    try:
        image = open_image(elf.read_bytes(), str(elf))
    except OSError as error:
        raise UsageError(f"{elf} cannot be read: {error.strerror}") from error
    layouts = None
    if isinstance(image, LinuxImage):
        check_kernel(image)
        layouts = load_layouts(image)
    else:
        _ = image.structures  # raises without debug information
    with ScratchDirectory() as directory, Debugger() as debugger:
        if layouts is None:
            debugger.symbols.load(elf)
        else:
            load_symbols(debugger, elf)
        debugger.memory.linear = image.isa.cpu.linear_address
        try:
            debugger.connect(endpoint, CONNECTING)
        except GdbError as error:
            raise UsageError(error.message, ADVICE) from error
        except DebuggerDied as error:
            raise UsageError(f"{endpoint} does not answer like a debug stub", ADVICE) from error
        machine = AttachedMachine(endpoint, directory.path)
        if isinstance(image, LinuxImage) and layouts is not None:
            name = image.name.rpartition("/")[2]
            guest: Guest = LinuxGuest(name, image, layouts, machine, debugger, "stub")
            check_identity(debugger, image)
        else:
            _check(debugger, image, endpoint)
            guest = Guest(None, image, machine, debugger, "stub")
        if _is_up(guest):
            guest.tracer.adopt()
        yield guest
        if isinstance(guest, LinuxGuest):
            guest.hand_over()


def _is_up(guest: Guest) -> bool:
    """Whether the guest has set up ftrace."""
    try:
        guest.collector.totals()
    except GuestError:
        return False
    return True


def _check(debugger: Debugger, image: Image, endpoint: str) -> None:
    try:
        check_build_id(debugger, image)
    except GdbError as error:
        raise WrongGuest(
            f"the guest at {endpoint} is not {image.name}: {error.message}",
            "Attach with the ELF file that the guest was started from.",
        ) from error
