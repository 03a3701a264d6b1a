# SPDX-License-Identifier: MIT
"""An initial root file system as a cpio archive, in the format "newc".

The kernel's Documentation/driver-api/early-userspace/buffer-format.rst has the format: a header of
"070701" and 13 numbers of eight hexadecimal digits, the name with a NUL, the content; name and
content are padded to four bytes.
"""

import stat
from collections.abc import Iterable
from dataclasses import dataclass

TRAILER = "TRAILER!!!"


@dataclass(frozen=True, slots=True)
class CpioEntry:
    """A file, a directory or a device of the archive."""

    name: str
    """The path, without a slash in front."""
    mode: int
    """Kind and permissions, as in ``st_mode``."""
    content: bytes = b""
    device: tuple[int, int] = (0, 0)
    """Major and minor number of a device."""


def directory(name: str) -> CpioEntry:
    """A directory that everybody can read."""
    return CpioEntry(name, stat.S_IFDIR | 0o755)


def file(name: str, content: bytes, mode: int = 0o644) -> CpioEntry:
    """A regular file."""
    return CpioEntry(name, stat.S_IFREG | mode, content)


def character_device(name: str, major: int, minor: int) -> CpioEntry:
    """A device node, which no privilege is needed for in an archive."""
    return CpioEntry(name, stat.S_IFCHR | 0o600, device=(major, minor))


def archive(entries: Iterable[CpioEntry]) -> bytes:
    """The archive, in the given order; directories must come before their entries."""
    members = [*entries, CpioEntry(TRAILER, 0)]
    return b"".join(_member(number, entry) for number, entry in enumerate(members, 1))


def _member(number: int, entry: CpioEntry) -> bytes:
    name = entry.name.encode() + b"\0"
    links = 2 if stat.S_ISDIR(entry.mode) else 1
    # inode, mode, uid, gid, links, mtime, size; device of the file; device number; name; checksum
    status = (number, entry.mode, 0, 0, links, 0, len(entry.content))
    fields = (*status, 0, 0, *entry.device, len(name), 0)
    header = b"070701" + b"".join(b"%08X" % field for field in fields)
    return _padded(header + name) + _padded(entry.content)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
