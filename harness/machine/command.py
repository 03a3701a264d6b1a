# SPDX-License-Identifier: MIT
"""QEMU's command line for a machine config."""

from collections.abc import Sequence
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

from harness.config import LinuxConfig, MachineConfig
from harness.isa import cpu_of

NAME = "ftrace-harness"

# One instruction is one nanosecond, and the clock begins at a fixed date: runs are reproducible.
_CLOCK = ("-rtc", "clock=vm,base=2020-01-01T00:00:00")
DETERMINISTIC = ("-icount", "shift=0,sleep=off", *_CLOCK)
# For Linux guests.  At a breakpoint QEMU takes the CPU for idle for a moment, and with sleep=off
# sets the clock to the deadline of the next timer.  It may be "never" while a timer's interrupt is
# pending, as in Linux's tracer, and then QEMU hangs.
SLEEPING = ("-icount", "shift=0", *_CLOCK)


class ReplayMode(StrEnum):
    """What QEMU does with a log of a run's inputs (-icount rr=)."""

    RECORD = "record"
    REPLAY = "replay"


class ReplayLog(NamedTuple):
    """QEMU's log of one run; it is written or followed.

    A replay goes backwards with snapshots in ``disk``, a qcow2 image that no device of the guest
    reads.
    """

    mode: ReplayMode
    file: Path
    disk: Path | None = None

    def arguments(self, sleeps: bool) -> list[str]:
        """QEMU's arguments: the deterministic ones with this log.

        ``sleeps`` is `harness.isa.Cpu.replays_sleep`.
        """
        icount = (SLEEPING if sleeps else DETERMINISTIC)[1]
        words = ["-icount", f"{icount},rr={self.mode},rrfile={_escaped(self.file)}", *_CLOCK]
        if self.disk is not None:
            driver = "driver=qcow2,node-name=snapshots,file.driver=file"
            words += ["-blockdev", f"{driver},file.filename={_escaped(self.disk)}"]
        return words


def _escaped(file: Path) -> str:
    return str(file).replace(",", ",,")


# One host thread per CPU, which is not QEMU's default on mips64.  With a single thread a plugin
# cannot tell since QEMU 9.0 which CPU executes.
PARALLEL = ("-accel", "tcg,thread=multi")


def qemu_command(
    config: MachineConfig | LinuxConfig,
    kernel: Path,
    *,
    console_fd: int,
    monitor_fd: int,
    gdb_fd: int,
    deterministic: bool = False,
    replay: ReplayLog | None = None,
    plugins: Sequence[str] = (),
    append: str = "",
    initrd: Path | None = None,
) -> list[str]:
    """The command line of a machine that waits at its first instruction.

    ``console_fd`` and ``monitor_fd`` are connected sockets, ``gdb_fd`` is a listening one; QEMU
    inherits all three, so nothing has to wait for a socket.  With ``replay`` the console is the
    writing end of a pipe.  ``plugins`` are arguments of
    ``-plugin``.  ``append`` and ``initrd`` are the command line and the initial RAM disk of a Linux
    kernel.

    ``-nodefaults``: Debian's QEMU lacks the option ROMs of default devices.  ``-no-reboot``: a
    guest reset ends QEMU.
    """
    qemu = config.qemu
    command = [qemu.binary, "-no-user-config", "-nodefaults", "-display", "none", "-no-reboot"]
    command += ["-name", NAME, "-machine", qemu.machine, "-cpu", qemu.cpu]
    command += ["-m", qemu.memory, "-smp", str(qemu.smp), "-kernel", str(kernel), "-S"]
    if replay is None:
        command += ["-chardev", f"socket,id=console,fd={console_fd}"]
    else:
        command += ["-add-fd", f"fd={console_fd},set=1"]
        command += ["-chardev", "file,id=console,path=/dev/fdset/1,append=on"]
    command += ["-serial", "chardev:console"]
    command += ["-chardev", f"socket,id=monitor,fd={monitor_fd}"]
    command += ["-mon", "chardev=monitor,mode=control"]
    command += ["-chardev", f"socket,id=gdb,fd={gdb_fd},server=on,wait=off", "-gdb", "chardev:gdb"]
    if isinstance(config, MachineConfig) and replay is not None:
        command += replay.arguments(cpu_of(config.architecture).replays_sleep)
    elif deterministic:
        command += SLEEPING if isinstance(config, LinuxConfig) else DETERMINISTIC
    elif qemu.smp > 1:
        command += PARALLEL
    if append:
        command += ["-append", append]
    if initrd is not None:
        command += ["-initrd", str(initrd)]
    for plugin in plugins:
        command += ["-plugin", plugin]
    return [*command, *qemu.arguments]
