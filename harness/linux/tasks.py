# SPDX-License-Identifier: MIT
"""The names of a stopped kernel's tasks, by process id."""

from harness.errors import GuestError
from harness.linux.kernel import Kernel
from harness.linux.layouts import LayoutPlace
from harness.units import one_line

MAX_TASKS = 1 << 16
MAX_SAVED = 1 << 16
COMM = 16
"""TASK_COMM_LEN."""

MAX_TASK = 1 << 16

NO_PID = 0xFFFFFFFF
"""NO_CMDLINE_MAP: an entry that is not in use."""


def task_names(kernel: Kernel) -> dict[int, str]:
    """The names of all processes, and those that the kernel saved when it switched tasks."""
    return saved_names(kernel) | live_names(kernel)


def live_names(kernel: Kernel) -> dict[int, str]:
    """The names of all tasks: of the processes at ``init_task``, and of their threads."""
    init = kernel.symbol("init_task", "FTRACE")
    layout = kernel.layouts["task_struct"]
    head = init + layout.place("tasks.next").offset
    found: dict[int, str] = {}
    for process in kernel.listed(head, "task_struct", "tasks.next", MAX_TASKS):
        name, threads = _task(kernel, process)
        found |= name
        if threads:
            # The list begins in the process's struct signal_struct, and has the process itself.
            for task in kernel.listed(threads, "task_struct", "thread_node.next", MAX_TASKS):
                found |= _task(kernel, task)[0]
    return found


def _task(kernel: Kernel, address: int) -> tuple[dict[int, str], int]:
    """The name of a task by its number, and the list of its process's threads if it has others."""
    layout, order, mask = (
        kernel.layouts["task_struct"],
        kernel.image.byteorder,
        kernel.image.isa.mask,
    )
    pid, comm = layout.place("pid"), layout.place("comm")
    places = [pid, comm]
    node = layout.place("thread_node.next") if "thread_node.next" in layout else None
    if node is not None:
        places.append(LayoutPlace(node.offset, 2 * kernel.word, False))
    start = min(place.offset for place in places)
    end = max(place.offset + place.size for place in places)
    if end - start > MAX_TASK:
        raise GuestError(f"a struct task_struct of {end} bytes is not possible")
    data = bytes(start) + kernel.read(address + start, end - start)
    number = pid.number(data, order)
    name = {number: _shown(data[comm.offset : comm.offset + COMM])} if number > 0 else {}
    if node is None:
        return name, 0
    following = node.number(data, order)
    before = node.number(data, order, kernel.word)
    head = kernel.layouts["signal_struct"].place("thread_head.next").offset
    if following == before:
        return name, 0
    signal = kernel.pointer(address + layout.place("signal").offset)
    return name, (signal + head) & mask


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
