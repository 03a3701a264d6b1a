# SPDX-License-Identifier: MIT
"""QEMU's command line for a machine config."""

from collections.abc import Sequence
from pathlib import Path

from harness.config import LinuxConfig, MachineConfig

NAME = "ftrace-harness"

# One instruction is one nanosecond, and the clock begins at a fixed date: runs are reproducible.
DETERMINISTIC = ("-icount", "shift=0,sleep=off", "-rtc", "clock=vm,base=2020-01-01T00:00:00")

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
    plugins: Sequence[str] = (),
    append: str = "",
    initrd: Path | None = None,
) -> list[str]:
    """The command line of a machine that waits at its first instruction.

    ``console_fd`` and ``monitor_fd`` are connected sockets, ``gdb_fd`` is a listening one; QEMU
    inherits all three, so nothing has to wait for a socket.  ``plugins`` are arguments of
    ``-plugin``.  ``append`` and ``initrd`` are the command line and the initial RAM disk of a Linux
    kernel.

    ``-nodefaults``: Debian's QEMU lacks the option ROMs of default devices.  ``-no-reboot``: a
    guest reset ends QEMU.
    """
    qemu = config.qemu
    command = [qemu.binary, "-no-user-config", "-nodefaults", "-display", "none", "-no-reboot"]
    command += ["-name", NAME, "-machine", qemu.machine, "-cpu", qemu.cpu]
    command += ["-m", qemu.memory, "-smp", str(qemu.smp), "-kernel", str(kernel), "-S"]
    command += ["-chardev", f"socket,id=console,fd={console_fd}", "-serial", "chardev:console"]
    command += ["-chardev", f"socket,id=monitor,fd={monitor_fd}"]
    command += ["-mon", "chardev=monitor,mode=control"]
    command += ["-chardev", f"socket,id=gdb,fd={gdb_fd},server=on,wait=off", "-gdb", "chardev:gdb"]
    if deterministic:
        command += DETERMINISTIC
    elif qemu.smp > 1:
        command += PARALLEL
    if append:
        command += ["-append", append]
    if initrd is not None:
        command += ["-initrd", str(initrd)]
    for plugin in plugins:
        command += ["-plugin", plugin]
    return [*command, *qemu.arguments]
