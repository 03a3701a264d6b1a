# SPDX-License-Identifier: MIT
"""The host's side of the oracle: writes the control file, opens windows, reads records."""

import ctypes
import mmap
import os
import struct
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from harness.errors import HostError
from harness.image import Image
from harness.oracle.compile import build_plugin
from harness.oracle.layout import (
    MAGIC,
    PATTERN,
    RECORD,
    REQUEST_GO_BACK,
    REQUEST_KEEP,
    VERSION,
    Control,
)
from harness.oracle.sites import find_watched
from harness.oracle.watch import (
    JumpWatch,
    ThreadWatch,
    find_jumps,
    find_marks,
    find_threads,
    find_vectors,
    vectors_at,
)
from harness.units import align_up

DEFAULT_CAPACITY = 4_000_000

MODULE_SITES = 4096
"""Maximum number of call sites of modules."""


@dataclass(frozen=True, slots=True)
class Call:
    """One execution of a call site.

    ``parent`` is the return address of the site's function, 0 if the CPU has made no call yet.
    ``instructions`` is the number of instructions that the CPU had executed before (with several
    CPUs and QEMU before 9.0, at most a block more).  ``thread`` is the oracle's number of the
    thread (`Oracle.thread_address`), and ``level`` the number of nested exceptions: 0 outside of
    interrupts and system calls.
    """

    cpu: int
    site: int
    parent: int
    function: str
    instructions: int
    thread: int = 0
    level: int = 0


@dataclass(frozen=True, slots=True)
class Return:
    """The return of a site's function to ``parent``.

    If a function ends with a tail call, its record follows that of the called function, as both
    share one return.  ``late``: the window was closed by then.  ``left``: the function did not
    return, ``longjmp()`` unwound it and has just told the tracer.
    """

    cpu: int
    site: int
    parent: int
    function: str
    instructions: int
    late: bool
    thread: int = 0
    level: int = 0
    left: bool = False


@dataclass(frozen=True, slots=True)
class Mark:
    """The tracer masked interrupts in ``function``, which determines the order of its event.

    ``cpu``, ``thread`` and ``level`` are as in `Call`; they identify the call or return of the
    event.  ``late``: the window was closed, and had been open before.
    """

    cpu: int
    function: str
    thread: int
    level: int
    late: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """The window was opened or closed, with all CPUs stopped."""

    open: bool


class Oracle:
    """The execution record of one machine; create it first and pass ``argument`` to QEMU.

    Use it only while the machine is stopped: the plugin writes to the same memory.
    """

    def __init__(
        self,
        image: Image,
        directory: Path,
        *,
        capacity: int = DEFAULT_CAPACITY,
        counting: bool = False,
    ) -> None:
        """``capacity`` is in records.  With ``counting`` only instructions are counted."""
        self._image = image
        self._watched = {} if counting else find_watched(image)
        self._marks = {} if counting else find_marks(image)
        self._counting = counting
        self._names = {site: _function_name(image, site) for site in self.sites} | self._marks
        self._path = directory / "oracle"
        self._plugin = build_plugin()
        self._windows: list[tuple[int, bool]] = []
        self._memory = self._make_file(capacity)
        self._control = Control.from_buffer(self._memory)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def close(self) -> None:
        """Unmap and remove the file; a running QEMU has its own mapping."""
        if self._memory.closed:
            return
        del self._control
        self._memory.close()
        self._path.unlink(missing_ok=True)

    @property
    def sites(self) -> list[int]:
        """The call sites by address."""
        return sorted(self._watched.values())

    def add_module(self, image: Image) -> None:
        """Watch a module's call sites too, from before the guest first runs any code of it.

        Raises:
            HostError: there are more than ``MODULE_SITES`` of all modules together.
        """
        found = find_watched(image)
        watched = self._watched | found
        if len(watched) > self._room:
            raise HostError(f"the oracle has room for {MODULE_SITES} call sites of modules")
        self._names |= {site: _function_name(image, site) for site in found.values()}
        self._watch(watched)

    def _watch(self, watched: Mapping[int, int]) -> None:
        self._watched = dict(watched)
        every = sorted(watched)
        struct.pack_into(f"={len(every)}Q", self._memory, self._control.sites, *every)
        self._control.nr_sites = len(every)

    def set_vectors(self, start: int) -> None:
        """The guest's exception vectors begin at ``start``, which the guest has chosen.

        Write their memory afterwards, if only what it has: QEMU has translated it before.
        """
        found = vectors_at(self._image, start)
        struct.pack_into(f"={len(found)}Q", self._memory, self._control.vectors, *found)
        self._control.nr_vectors = len(found)

    @property
    def argument(self) -> str:
        """The argument of QEMU's ``-plugin``, with commas in names doubled."""
        plugin, control = (str(path).replace(",", ",,") for path in (self._plugin, self._path))
        return f"{plugin},control={control}"

    def window(self, enabled: bool) -> None:
        """Start or stop recording."""
        self._require_plugin()
        if bool(self._control.window) != enabled:
            self._windows.append((int(self._control.count), enabled))
        self._control.window = int(enabled)

    def reset(self) -> None:
        """Delete the records and reset the instruction counters; the window stays as it is."""
        self._control.count = 0
        self._windows.clear()
        ctypes.memset(self._control.instructions, 0, ctypes.sizeof(self._control.instructions))

    def snapshot(self) -> None:
        """Keep what is known of the threads, for `restore`; at a snapshot of the machine."""
        self._require_plugin()
        self._control.request = REQUEST_KEEP

    def restore(self) -> None:
        """Go back to `snapshot`, as the machine has; the records and modules' sites are deleted."""
        if self._control.request != REQUEST_KEEP:
            self._control.request = REQUEST_GO_BACK
        self._watch({} if self._counting else find_watched(self._image))
        self.window(False)
        self.reset()

    @property
    def instructions(self) -> int:
        """Guest instructions executed by all CPUs since the start or the last reset.

        Exact for one CPU, and for several since QEMU 9.0.  Before, with several CPUs a block that
        is ended by an exception counts as a whole.
        """
        return int(sum(self._control.instructions))

    @property
    def busy_cpus(self) -> list[int]:
        """The CPUs that have executed instructions, or for which QEMU translated blocks executed by
        others.

        The latter is QEMU 9.0 and later with ``-icount`` and several CPUs.  With several busy CPUs
        the number of instructions depends on the host's scheduling.
        """
        return [cpu for cpu, number in enumerate(self._control.instructions) if number]

    @property
    def dropped(self) -> int:
        """The number of records that did not fit into the file."""
        return max(0, int(self._control.count) - int(self._control.capacity))

    def records(self) -> list[Call]:
        """The recorded calls in order of execution; errors as of `flow`."""
        return [record for record in self.flow() if isinstance(record, Call)]

    def thread_address(self, thread: int) -> int:
        """The address of a thread's structure in the guest; 0 before its first context switch.

        Two threads of the oracle can have the same structure one after the other.
        """
        return int(self._control.threads[thread])

    def flow(self) -> list[Call | Return]:
        """The recorded calls and returns in order.

        After a `reset` there may be returns without calls.  Errors as of `everything`.
        """
        return [record for record in self.everything() if isinstance(record, Call | Return)]

    def everything(self) -> list[Call | Return | Mark | Window]:
        """Calls, returns, marks and windows in order.

        The order is exact for each CPU and each thread; between CPUs it is that of the records.

        Raises:
            HostError: records are missing, or calls were nested too deeply for the plugin.
        """
        self._require_plugin()
        if self._control.confused:
            raise HostError(
                "this QEMU does not tell which CPU executes a block, with -icount and several CPUs",
                "Do not use -icount, or use QEMU 7.2 to 8.2.",
            )
        if self.dropped:
            raise HostError(
                f"the oracle had no room for {self.dropped} of {self._control.count} records",
                f"Create it with a capacity above {self._control.capacity}.",
            )
        if self._control.lost_frames:
            raise HostError(
                "the guest made deeper calls, or more threads, than the oracle has room for",
                "Raise STACK_DEPTH in harness/oracle/flow.c, or MAX_THREADS in control.h.",
            )
        start = self._control.records
        with memoryview(self._memory) as memory:
            content = bytes(memory[start : start + self._control.count * RECORD.size])
        records: list[Call | Return | Mark | Window] = []
        for watched, *rest in RECORD.iter_unpack(content):
            site = self._watched.get(watched, watched)
            records.append(_record(self._names[site], site, *rest))
        for index, enabled in reversed(self._windows):
            records.insert(index, Window(enabled))
        return records

    def _require_plugin(self) -> None:
        if not self._control.attached:
            raise HostError(
                "QEMU has not loaded the oracle's plugin",
                f"Start QEMU with: -plugin {self.argument}",
            )

    def _make_file(self, capacity: int) -> mmap.mmap:
        """Create the file: control, patterns, vectors, marks, sites, records (sparse)."""
        isa = self._image.isa
        patterns = () if self._counting else isa.cpu.flow_patterns
        accesses = isa.cpu.accesses_memory
        control = Control(
            magic=MAGIC,
            version=VERSION,
            size=ctypes.sizeof(Control),
            address_mask=(1 << isa.bits) - 1,
            code_big_endian=int(isa.code_byteorder == "big"),
            delay_slot=isa.cpu.delay_slot,
            capacity=capacity,
            **asdict(ThreadWatch() if self._counting else find_threads(self._image)),
            **asdict(JumpWatch() if self._counting else find_jumps(self._image)),
        )
        content = bytearray(ctypes.sizeof(Control))

        def append(name: str, count: int, data: bytes) -> None:
            setattr(control, name, len(content))
            setattr(control, f"nr_{name}", count)
            content.extend(data)

        append("patterns", len(patterns), b"".join(PATTERN.pack(*p, 0) for p in patterns))
        append("accesses", len(accesses), b"".join(PATTERN.pack(*one, 0, 0) for one in accesses))
        for name, addresses in (
            ("vectors", [] if self._counting else find_vectors(self._image)),
            ("marks", self._marks),
            # Last, with room for those of modules.
            ("sites", self._watched),
        ):
            append(name, len(addresses), struct.pack(f"={len(addresses)}Q", *sorted(addresses)))
            if name == "vectors" and not addresses:
                # Room for `set_vectors`.
                content.extend(bytes(8 * len(isa.cpu.vector_offsets)))
        self._room = len(self._watched) + MODULE_SITES
        control.records = align_up(len(content) + 8 * MODULE_SITES, mmap.PAGESIZE)
        content[: ctypes.sizeof(Control)] = bytes(control)
        return self._map(content, control.records + capacity * RECORD.size)

    def _map(self, content: bytearray, size: int) -> mmap.mmap:
        try:
            descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                os.truncate(descriptor, size)
                memory = mmap.mmap(descriptor, size)
            finally:
                os.close(descriptor)
        except OSError as error:
            raise HostError(
                f"the oracle's control file {self._path} cannot be made: {error.strerror}",
                "Give the oracle a directory of its own on a file system with room.",
            ) from error
        memory[: len(content)] = bytes(content)
        return memory


def _record(
    name: str,
    site: int,
    parent: int,
    instructions: int,
    cpu: int,
    kind: int,
    level: int,
    _: int,
    thread: int,
) -> Call | Return | Mark:
    """``kind`` is control.h's ``enum record_kind``."""
    match kind:
        case 0:
            return Call(cpu, site, parent, name, instructions, thread, level)
        case 3 | 4:
            return Mark(cpu, name, thread, level, late=kind == 4)
        case _:
            late, left = kind == 2, kind == 5
            return Return(cpu, site, parent, name, instructions, late, thread, level, left)


def _function_name(image: Image, site: int) -> str:
    function = image.function_at(site)
    return function.name if function is not None else f"{site:#x}"
