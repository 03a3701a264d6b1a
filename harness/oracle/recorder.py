# SPDX-License-Identifier: MIT
"""The host's side of the oracle: prepares the control file, opens windows, reads records."""

import ctypes
import mmap
import os
import struct
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Self

from harness.errors import HostError
from harness.image import Image
from harness.oracle.compile import build_plugin
from harness.oracle.layout import MAGIC, PATTERN, RECORD, VERSION, Control
from harness.oracle.sites import find_watched
from harness.oracle.watch import (
    JumpWatch,
    ThreadWatch,
    find_jumps,
    find_marks,
    find_threads,
    find_vectors,
)
from harness.units import align_up

DEFAULT_CAPACITY = 4_000_000

MODULE_SITES = 4096
"""Call sites of modules that there is room for."""


@dataclass(frozen=True, slots=True)
class Call:
    """One execution of a call site, as the machine saw it.

    ``parent`` is the return address of the function that the site is in, 0 when the CPU had not
    made a call yet; ``instructions`` is what the CPU had executed before it called (with several
    CPUs in a QEMU before 9.0, at most a block more).  ``thread`` is the oracle's number of the
    thread (see `Oracle.thread_address`), and ``level`` counts the exceptions that the thread was
    in: 0 where no interrupt or system call had come.
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
    """The end of a call: the function that the site is in went back to ``parent``.

    The end of a function whose tail was a call comes behind the end of what it called, for both
    share one return.  ``late``: the window was closed by then.  ``left``: it has not returned, but
    ``longjmp()`` has gone past it, and has just told the tracer so.
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
    """The tracer masked interrupts, in its ``function``: the place of its event among the others.

    ``cpu``, ``thread`` and ``level`` are as in `Call`: together with them it tells which call or
    return the event is for, as the tracer runs between a site and what follows it.  ``late``: the
    window was closed, and had been open before.
    """

    cpu: int
    function: str
    thread: int
    level: int
    late: bool = False


@dataclass(frozen=True, slots=True)
class Window:
    """The window was opened or closed, with every CPU stopped."""

    open: bool


class Oracle:
    """Ground truth about one machine; make it before the machine and give it ``argument``.

    Use it only while the machine is stopped: the plugin writes the same memory.
    """

    def __init__(
        self,
        image: Image,
        directory: Path,
        *,
        capacity: int = DEFAULT_CAPACITY,
        counting: bool = False,
    ) -> None:
        """``capacity`` is in records.  With ``counting`` it counts instructions only."""
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
        """Give the memory back and remove the file; a running machine keeps its own mapping."""
        if self._memory.closed:
            return
        del self._control
        self._memory.close()
        self._path.unlink(missing_ok=True)

    @property
    def sites(self) -> list[int]:
        """The call sites, in order of address."""
        return sorted(self._watched.values())

    def add_module(self, image: Image) -> None:
        """Watch a module's call sites too, from before the guest first runs any code of it.

        Raises:
            HostError: there are more than ``MODULE_SITES`` of all modules together.
        """
        found = find_watched(image)
        every = sorted({*self._watched, *found})
        if len(every) > self._room:
            raise HostError(f"the oracle has room for {MODULE_SITES} call sites of modules")
        self._names |= {site: _function_name(image, site) for site in found.values()}
        self._watched |= found
        struct.pack_into(f"={len(every)}Q", self._memory, self._control.sites, *every)
        self._control.nr_sites = len(every)

    @property
    def argument(self) -> str:
        """What QEMU's ``-plugin`` takes; QEMU wants a comma inside a name doubled."""
        plugin, control = (str(path).replace(",", ",,") for path in (self._plugin, self._path))
        return f"{plugin},control={control}"

    def window(self, enabled: bool) -> None:
        """From now on record, or do not."""
        self._require_plugin()
        if bool(self._control.window) != enabled:
            self._windows.append((int(self._control.count), enabled))
        self._control.window = int(enabled)

    def reset(self) -> None:
        """Forget the records and begin to count instructions at 0; the window stays as it is."""
        self._control.count = 0
        self._windows.clear()
        ctypes.memset(self._control.instructions, 0, ctypes.sizeof(self._control.instructions))

    @property
    def instructions(self) -> int:
        """Guest instructions executed by all CPUs since the start or the last reset.

        Exact for one CPU, and from QEMU 9.0 on for several.  Before, a block that an exception
        ended counts as a whole when there are several.
        """
        return int(sum(self._control.instructions))

    @property
    def busy_cpus(self) -> list[int]:
        """The CPUs that have executed any, or for which QEMU has translated what others executed.

        The latter is QEMU 9.0 and later with ``-icount`` and several CPUs.
        When there are several, how long each waits for another depends on the host, and the number
        of instructions is another each time.
        """
        return [cpu for cpu, number in enumerate(self._control.instructions) if number]

    @property
    def dropped(self) -> int:
        """Records that found no room in the file."""
        return max(0, int(self._control.count) - int(self._control.capacity))

    def records(self) -> list[Call]:
        """The calls that were recorded, in the order of execution; errors as of `flow`."""
        return [record for record in self.flow() if isinstance(record, Call)]

    def thread_address(self, thread: int) -> int:
        """Where the guest has the structure of a thread; 0 if no CPU has left it for another yet.

        Two threads of the oracle can have one structure, one after the other.
        """
        return int(self._control.threads[thread])

    def flow(self) -> list[Call | Return]:
        """The calls that were recorded, and the returns from those calls, in order.

        Behind a `reset` come returns whose calls have been forgotten.  Errors as of `everything`.
        """
        return [record for record in self.everything() if isinstance(record, Call | Return)]

    def everything(self) -> list[Call | Return | Mark | Window]:
        """Calls, returns, the places of the tracer's events and what `window` did, in order.

        The order is exact for each CPU, and for each thread; across CPUs it is that in which the
        records were made.

        Raises:
            HostError: records are missing, or callers may be wrong because the guest called deeper
                than the plugin follows.
        """
        self._require_plugin()
        if self._control.confused:
            raise HostError(
                "this QEMU does not tell which CPU executes a block, with -icount and several CPUs",
                "Let the machine count no instructions, or take QEMU 7.2 to 8.2.",
            )
        if self.dropped:
            raise HostError(
                f"the oracle had no room for {self.dropped} of {self._control.count} records",
                f"Make it with a larger capacity than {self._control.capacity}.",
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
                "the oracle's plugin is not in the machine",
                f"Start QEMU with: -plugin {self.argument}",
            )

    def _make_file(self, capacity: int) -> mmap.mmap:
        """Lay out the file: control, patterns, vectors, sites, marks, records (sparse)."""
        isa = self._image.isa
        patterns = () if self._counting else isa.machine.flow_patterns
        access_mask, access_value = isa.machine.accesses_memory
        control = Control(
            magic=MAGIC,
            version=VERSION,
            size=ctypes.sizeof(Control),
            address_mask=(1 << isa.bits) - 1,
            code_big_endian=int(isa.code_byteorder == "big"),
            delay_slot=isa.machine.delay_slot,
            access_mask=access_mask,
            access_value=access_value,
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
        for name, addresses in (
            ("vectors", [] if self._counting else find_vectors(self._image)),
            ("marks", self._marks),
            # Last, with room behind them: modules come with more.
            ("sites", self._watched),
        ):
            append(name, len(addresses), struct.pack(f"={len(addresses)}Q", *sorted(addresses)))
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
