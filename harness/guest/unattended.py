# SPDX-License-Identifier: MIT
"""A guest without a debugger, to which other programs attach."""

import codecs
import io
import select
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from harness.config import LinuxConfig
from harness.guest.linux_start import command_line
from harness.guest.start import Startable
from harness.kbuild import build_guest
from harness.machine import Machine
from harness.units import KIB

CHUNK = 64 * KIB


@dataclass(frozen=True, slots=True)
class Unattended:
    """A machine without a debugger, stopped at its first instruction, and the ELF file for one."""

    machine: Machine
    elf: Path

    def resume(self) -> None:
        """Let it run."""
        self.machine.qmp("cont")

    def follow(self, wake: int) -> Iterator[str]:
        """Its console's output as it comes, until QEMU ends or ``wake`` is readable.

        Lines end with a newline alone; the text is not escaped.
        """
        machine = self.machine
        text = io.IncrementalNewlineDecoder(
            codecs.getincrementaldecoder("utf-8")("replace"), translate=True
        )
        waiting = select.poll()
        for descriptor in (machine.console.fileno(), machine.process_fd, wake):
            waiting.register(descriptor, select.POLLIN)
        with machine.console.log.open("rb") as log:
            while True:
                # The monitor's commands read the console too.
                while printed := log.read(CHUNK):
                    yield text.decode(printed)
                ready = {descriptor for descriptor, _ in waiting.poll()}
                machine.drain()
                if wake in ready or machine.process_fd in ready:
                    yield text.decode(log.read(), final=True)
                    return
                if machine.console.hung_up:
                    # QEMU ends; its descriptor tells when.
                    waiting.modify(machine.console.fileno(), 0)
                    machine.ended(1.0)


@contextmanager
def start_unattended(
    spec: Startable, progress: Callable[[str], None] | None = None
) -> Iterator[Unattended]:
    """Build a guest, or take it from the cache, and start its machine; QEMU ends with the block."""
    if isinstance(spec, LinuxConfig):
        table = spec.linux
        elf = table.vmlinux
        machine = Machine(
            spec, table.boot_file, append=command_line(table.append), initrd=table.initrd
        )
    else:
        elf = build_guest(spec, progress)
        machine = Machine(spec.config, elf)
    with machine:
        yield Unattended(machine, elf)
