# SPDX-License-Identifier: MIT
"""The file system's operations.  They run in a thread of their own, and ask the guest's thread."""

import errno
import os
import stat
import time
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from typing import Any, Protocol, TypeVar

import pyfuse3
import trio

from harness.errors import HarnessError
from harness.mount.handles import Handle, errno_of
from harness.tracefs import Directory, File, Node, Tracefs
from harness.units import MIB

REMEMBERED = 5.0
"""Seconds for which the host's kernel remembers a file's name and attributes."""

LOOK = 0.1
"""Seconds between looks at whether a waiting reader was sent a signal."""

HELD = MIB
"""Bytes of a stream that are read from the guest in advance."""

Answer = TypeVar("Answer")


class Ask(Protocol):
    """Calls a function with the guest's files in the thread of the guest, which is stopped."""

    def __call__(self, work: Callable[[Tracefs], Answer]) -> Awaitable[Answer]: ...


class Followed:
    """A stream with the part that no reader has taken yet."""

    def __init__(self) -> None:
        self.data = bytearray()
        self.ended = False
        self.more = trio.Event()

    def put(self, data: bytes, ended: bool) -> None:
        """More of the stream; ``ended``: nothing will follow."""
        self.data += data
        self.ended = ended
        if data or ended:
            self.more.set()
            self.more = trio.Event()


class Operations(pyfuse3.Operations):  # type: ignore[misc]
    """tracefs: directories and files of no size, read and written without a cache."""

    def __init__(self, ask: Ask, follow: Callable[[str, bool], Awaitable[Followed]]) -> None:
        super().__init__()
        self._ask = ask
        self._follow = follow
        self._paths = {pyfuse3.ROOT_INODE: ""}
        self._inodes = {"": pyfuse3.ROOT_INODE}
        self._handles: dict[int, Handle] = {}
        self._last_handle = 0
        self._began = time.time_ns()

    @property
    def followed(self) -> bool:
        """Whether a program has a stream open; for any thread."""
        return any(handle.file.stream is not None for handle in list(self._handles.values()))

    async def lookup(self, parent: int, name: bytes, ctx: Any = None) -> Any:
        """The attributes of a name in a directory; ENOENT if it is not there."""
        path = self._inside(parent, name)
        return self._attributes(path, await self._find(path))

    async def getattr(self, inode: int, ctx: Any = None) -> Any:
        """The attributes of a file: its mode, and no size."""
        path = self._paths[inode]
        return self._attributes(path, await self._find(path))

    async def setattr(self, inode: int, attr: Any, fields: Any, fh: int | None, ctx: Any) -> Any:
        """Only to truncate a file has a meaning, and that is one of `open`'s."""
        if fields.update_mode or fields.update_uid or fields.update_gid:
            raise pyfuse3.FUSEError(errno.EPERM)
        return await self.getattr(inode, ctx)

    async def opendir(self, inode: int, ctx: Any) -> int:
        """A directory's handle is its inode."""
        return inode

    async def readdir(self, fh: int, start_id: int, token: Any) -> None:
        """The entries of a directory."""
        directory = self._paths[fh]
        entries: Mapping[str, Node] = await self._asked(lambda files: files.entries(directory))
        for index, (name, node) in enumerate(entries.items()):
            path = f"{directory}/{name}".strip("/")
            if index >= start_id and not pyfuse3.readdir_reply(
                token, name.encode(), self._attributes(path, node), index + 1
            ):
                return

    async def open(self, inode: int, flags: int, ctx: Any) -> Any:
        """Open a file; nothing is read or written yet."""
        path = self._paths[inode]
        file = await self._find(path)
        assert isinstance(file, File)
        replaces = bool(flags & os.O_TRUNC) and flags & os.O_ACCMODE != os.O_RDONLY
        self._last_handle += 1
        waits = not flags & os.O_NONBLOCK
        self._handles[self._last_handle] = Handle(path, file, ctx.pid, replaces, waits)
        return pyfuse3.FileInfo(
            fh=self._last_handle, direct_io=True, nonseekable=file.stream is not None
        )

    async def create(self, parent: int, name: bytes, mode: int, flags: int, ctx: Any) -> Any:
        """As in the kernel, no file can be made."""
        raise pyfuse3.FUSEError(errno.EACCES)

    async def mkdir(self, parent: int, name: bytes, mode: int, ctx: Any) -> Any:
        """As in the kernel outside of instances, no directory can be made."""
        raise pyfuse3.FUSEError(errno.EPERM)

    async def unlink(self, parent: int, name: bytes, ctx: Any) -> None:
        """As in the kernel, no file can be removed."""
        raise pyfuse3.FUSEError(errno.EPERM)

    async def read(self, fh: int, off: int, size: int) -> bytes:
        """A part of a file; a stream's reader waits for more."""
        handle = self._handles[fh]
        if handle.file.stream is not None:
            return await self._read_stream(handle, size)
        return await self._asked(lambda files: handle.read(files, off, size))

    async def write(self, fh: int, off: int, buf: bytes) -> int:
        """A part of what is written; the guest's refusal is the program's errno."""
        handle, data = self._handles[fh], bytes(buf)
        if handle.file.write is None:
            raise pyfuse3.FUSEError(errno.EINVAL)
        await self._asked(lambda files: handle.write(files, data))
        return len(data)

    async def flush(self, fh: int) -> None:
        """A descriptor of the file was closed."""
        handle = self._handles[fh]
        if handle.rest:
            await self._asked(handle.flush)

    async def release(self, fh: int) -> None:
        """The last descriptor of the file was closed."""
        handle = self._handles.pop(fh)
        if handle.replaces:
            await self._asked(handle.release)

    async def _read_stream(self, handle: Handle, size: int) -> bytes:
        followed = await self._follow(handle.path, handle.waits)
        if not followed.data and not handle.waits:
            raise pyfuse3.FUSEError(errno.EAGAIN)
        while not followed.data and not followed.ended:
            # Nothing tells the file system of a signal, and without an answer the reader stays.
            if _is_signalled(handle.opener):
                raise pyfuse3.FUSEError(errno.EINTR)
            with trio.move_on_after(LOOK):
                await followed.more.wait()
        part = bytes(followed.data[:size])
        del followed.data[:size]
        return part

    async def _find(self, path: str) -> Node:
        return await self._asked(lambda files: files.find(path))

    async def _asked(self, work: Callable[[Tracefs], Answer]) -> Answer:
        try:
            return await self._ask(work)
        except HarnessError as error:
            raise pyfuse3.FUSEError(errno_of(error)) from error

    def _inside(self, parent: int, name: bytes) -> str:
        return f"{self._paths[parent]}/{os.fsdecode(name)}".strip("/")

    def _attributes(self, path: str, node: Node) -> Any:
        inode = self._inodes.setdefault(path, pyfuse3.ROOT_INODE + len(self._inodes))
        self._paths[inode] = path
        entry = pyfuse3.EntryAttributes()
        entry.st_ino = inode
        if isinstance(node, Directory):
            entry.st_mode = stat.S_IFDIR | 0o755
        else:
            readable = node.read is not None or node.stream is not None
            entry.st_mode = stat.S_IFREG | 0o444 * readable | 0o200 * (node.write is not None)
        entry.st_nlink = 1
        entry.st_uid, entry.st_gid = os.getuid(), os.getgid()
        entry.st_atime_ns = entry.st_mtime_ns = entry.st_ctime_ns = self._began
        entry.attr_timeout = entry.entry_timeout = REMEMBERED
        return entry


def _is_signalled(process: int) -> bool:
    """Whether a process has a signal to take, or has ended."""
    try:
        status = Path(f"/proc/{process}/status").read_text(encoding="ascii", errors="replace")
    except OSError:
        return True
    fields = dict(line.split(":", 1) for line in status.splitlines() if ":" in line)
    pending = int(fields["SigPnd"], 16) | int(fields["ShdPnd"], 16)
    return bool(pending & ~int(fields["SigBlk"], 16) & ~int(fields["SigIgn"], 16))
