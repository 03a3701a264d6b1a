# SPDX-License-Identifier: MIT
"""The names of a stopped kernel's tasks, by process id."""

from harness.errors import GuestError
from harness.linux.kernel import Kernel
from harness.units import one_line

MAX_TASKS = 1 << 16
MAX_SAVED = 1 << 16
COMM = 16
"""TASK_COMM_LEN."""

NO_PID = 0xFFFFFFFF
"""NO_CMDLINE_MAP: an entry that is not in use."""


def task_names(kernel: Kernel) -> dict[int, str]:
    """The names of all processes, and those that the kernel saved when it switched tasks."""
    return saved_names(kernel) | live_names(kernel)


def live_names(kernel: Kernel) -> dict[int, str]:
    """The names of all processes, from the list at ``init_task``; threads are not in it."""
    init = kernel.symbol("init_task", "FTRACE")
    layout = kernel.layouts["task_struct"]
    pid, comm = layout.place("pid"), layout.place("comm")
    found = {}
    head = init + layout.place("tasks.next").offset
    for task in kernel.listed(head, "task_struct", "tasks.next", MAX_TASKS):
        number = kernel.number(task + pid.offset, pid.size, signed=True)
        text = kernel.read(task + comm.offset, min(comm.size, 64))
        if number > 0:
            found[number] = _shown(text)
    return found


def saved_names(kernel: Kernel) -> dict[int, str]:
    """``saved_cmdlines``: empty until the kernel has switched a tracer on itself."""
    if not kernel.has("savedcmd") or "saved_cmdlines_buffer" not in kernel.layouts:
        return {}
    address = kernel.pointer(kernel.image.symbols["savedcmd"])
    if not address:
        return {}
    layout, order = kernel.layouts["saved_cmdlines_buffer"], kernel.image.byteorder
    number, names, pids = (
        layout.place(name) for name in ("cmdline_num", "saved_cmdlines", "map_cmdline_to_pid")
    )
    count = kernel.number(address + number.offset, number.size)
    if not 0 <= count <= MAX_SAVED:
        raise GuestError(f"the kernel has {count} saved command lines; its memory is damaged")
    where = address + names.offset
    # A pointer in earlier kernels.
    if names.size == kernel.word:
        where = kernel.pointer(where)
    if not count:
        return {}
    raw = kernel.read(kernel.pointer(address + pids.offset), 4 * count)
    text = kernel.read(where, COMM * count)
    found = {}
    for index in range(count):
        pid = int.from_bytes(raw[4 * index : 4 * index + 4], order)
        name = text[COMM * index : COMM * (index + 1)]
        if 0 < pid < NO_PID and name.partition(b"\0")[0]:
            found[pid] = _shown(name)
    return found


def _shown(comm: bytes) -> str:
    return one_line(comm.partition(b"\0")[0].decode("latin-1"))
