# SPDX-License-Identifier: MIT
"""Boot a Linux kernel under QEMU, or take over one that runs."""

import re
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from harness.config import LinuxConfig
from harness.debugger import Debugger
from harness.errors import (
    DeadlineMissed,
    FormatError,
    GdbError,
    GuestError,
    HarnessError,
    HostError,
    UsageError,
    WrongGuest,
)
from harness.guest.control import PARTING, TIMEOUT
from harness.guest.linux import LinuxGuest
from harness.guest.linux_symbols import load_symbols
from harness.image import RunningImage
from harness.linux import Layouts, LinuxImage, load_layouts, open_image
from harness.linux.image import check_debug_info
from harness.machine import Machine
from harness.units import KIB

BUFFER = 2048 * KIB
"""Bytes per CPU of the ring buffer, if nothing else is asked for."""


@contextmanager
def start_linux(
    config: LinuxConfig,
    *,
    until: str | None = None,
    deterministic: bool = False,
    plugins: Sequence[str] = (),
    lane: str = "auto",
    timeout: float = TIMEOUT,
    buffer_size: int | None = None,
    progress: Callable[[str], None] | None = None,
) -> Iterator[LinuxGuest]:
    """A Linux kernel, booted to a function; QEMU and gdb end with the block.

    Args:
        until: the function to stop at; default: that of the config.
        deterministic: the guest's clock counts instructions; that of an idle guest runs with the
            host's.
        plugins: QEMU ``-plugin`` arguments.
        lane: how to read the ring buffer: ``stub``, or ``auto``.
        timeout: the timeout in seconds until the kernel is there.
        buffer_size: bytes per CPU of the ring buffer.
        progress: called with a line about each long operation.

    Raises:
        WrongGuest: the config's image is not the kernel of its vmlinux.
    """
    table = config.linux
    tell = progress or (lambda line: None)
    tell(f"reading {table.vmlinux}")
    with (
        _reading(table.vmlinux) as reading,
        Machine(
            config,
            table.boot_file,
            deterministic=deterministic,
            plugins=plugins,
            append=command_line(table.append, buffer_size),
            initrd=table.initrd,
        ) as machine,
        Debugger() as debugger,
    ):
        debugger.session.add_reader(machine.console.fileno(), machine.console.drain)
        load_symbols(debugger, table.vmlinux)
        image, layouts = reading.result()
        debugger.memory.forbid(config.qemu.unreadable)
        try:
            debugger.connect(machine.gdb_socket)
        except HarnessError as error:
            if machine.ended(PARTING):
                raise HostError("QEMU ended at its start", "", machine.exit_report()) from error
            raise
        guest = LinuxGuest(config.name, image, layouts, machine, debugger, lane)
        place = until or table.until
        tell(f"booting {config.name} to {place}")
        try:
            guest.run(place, timeout=timeout)
        except DeadlineMissed as error:
            error.advice = (
                f"It hangs before, or {table.boot_file} is not the kernel of {table.vmlinux}. "
                + error.advice
            )
            raise
        check_identity(debugger, image)
        yield guest


@contextmanager
def _reading(vmlinux: Path) -> Iterator[Future[tuple[LinuxImage, Layouts]]]:
    """Read a vmlinux in a thread, while QEMU and gdb start, and gdb reads it as well."""
    with ThreadPoolExecutor(max_workers=1) as pool:
        yield pool.submit(_read, vmlinux)


def _read(vmlinux: Path) -> tuple[LinuxImage, Layouts]:
    image = read_vmlinux(vmlinux.read_bytes(), str(vmlinux))
    return image, load_layouts(image)


def read_vmlinux(data: bytes, name: str) -> LinuxImage:
    """The image of a Linux kernel; FormatError for another file, or one without DWARF."""
    image = open_image(data, name)
    if not isinstance(image, LinuxImage):
        raise FormatError(f"{name} is not a Linux kernel", "Give its vmlinux.")
    check_kernel(image)
    return image


def check_kernel(image: RunningImage) -> None:
    """UsageError if a kernel cannot be traced from outside."""
    check_debug_info(image)
    for symbol, option in (
        ("global_trace", "TRACING"),
        ("ftrace_pages_start", "FUNCTION_TRACER and CONFIG_DYNAMIC_FTRACE"),
    ):
        if symbol not in image.symbols:
            raise UsageError(
                f"{image.name} was built without CONFIG_{option}",
                "Build the kernel with it: there is nothing to switch on in this one.",
            )


def command_line(append: str, buffer_size: int | None = None) -> str:
    """A kernel's command line, with the defaults that tracing from outside needs.

    The addresses must be those of the vmlinux, and the kernel keeps a minimal ring buffer until a
    tracer is named.
    """
    words = append.split()
    given = {re.split("=", word, maxsplit=1)[0] for word in words}
    if "nokaslr" not in given:
        words.append("nokaslr")
    if "ftrace" not in given:
        words.append("ftrace=nop")
    if buffer_size is not None:
        words = [word for word in words if not word.startswith("trace_buf_size=")]
    if buffer_size is not None or "trace_buf_size" not in given:
        words.append(f"trace_buf_size={(buffer_size or BUFFER) // KIB}k")
    return " ".join(words)


def check_identity(debugger: Debugger, image: LinuxImage) -> None:
    """Compare the running kernel with its vmlinux, by build id and ``linux_banner``.

    Raises:
        WrongGuest: they differ, or there is no such kernel in memory; nothing has been changed.
    """
    try:
        address, expected = image.build_id_address, image.build_id
    except GuestError:
        address, expected = image.address_of("linux_banner"), image.banner
    try:
        found = debugger.read_memory(address, len(expected))
    except GdbError as error:
        raise WrongGuest(
            f"the kernel of {image.name} is not at its addresses: {error.message}",
            "Boot it with nokaslr, and give the vmlinux that it was built with; if it has only "
            "begun to boot, let it run on.",
        ) from error
    if found != expected:
        raise WrongGuest(
            f"the running kernel is not {image.name}: it has {found[:20].hex()} where that has its "
            f"build id {expected[:20].hex()}",
            "Give the vmlinux that it was built with, and boot it with nokaslr.",
        )
