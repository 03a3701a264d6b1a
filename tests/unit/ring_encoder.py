# SPDX-License-Identifier: MIT
"""Ring buffer pages written the slow and plain way, for tests to hold the decoder against.

Nothing is shared with harness/ring: what both agree on is the format.
"""

from dataclasses import dataclass, field


@dataclass
class PageEncoder:
    """Builds one page; every method adds one thing at the end of it."""

    byteorder: str
    long_size: int
    page_size: int = 4096
    stamp: int = 0
    data: bytearray = field(default_factory=bytearray)
    flags: int = 0
    stored: int | None = None

    def word(self, value: int) -> None:
        self.data += value.to_bytes(4, self.byteorder)

    def head(self, type_len: int, delta: int) -> None:
        assert 0 <= type_len < 32
        assert 0 <= delta < 1 << 27
        if self.byteorder == "big":
            self.word(type_len * 2**27 + delta)
        else:
            self.word(delta * 32 + type_len)

    def event(self, delta: int, payload: bytes, *, long_form: bool = False) -> None:
        padded = payload + bytes(-len(payload) % 4)
        if long_form or len(padded) > 112 or len(padded) != len(payload):
            self.head(0, delta)
            self.word(len(payload) + 4)
        else:
            self.head(len(padded) // 4, delta)
        self.data += padded

    def extend(self, delta: int) -> None:
        self.head(30, delta % 2**27)
        self.word(delta // 2**27)

    def absolute(self, stamp: int) -> None:
        stamp %= 2**59
        self.head(31, stamp % 2**27)
        self.word(stamp // 2**27)

    def skip(self, delta: int, size: int) -> None:
        """A discarded event of ``size`` bytes, length word and all."""
        self.head(29, delta)
        self.word(size)
        self.data += bytes(size - 4)

    def unused(self) -> None:
        self.head(29, 0)

    def lost(self, count: int | None) -> None:
        self.flags = 1 << 31
        if count is not None:
            self.flags |= 1 << 30
            self.stored = count

    @property
    def room(self) -> int:
        return self.page_size - 8 - self.long_size - len(self.data)

    def page(self) -> bytes:
        commit = len(self.data) | self.flags
        made = self.stamp.to_bytes(8, self.byteorder)
        made += commit.to_bytes(self.long_size, self.byteorder) + self.data
        if self.stored is not None:
            made += self.stored.to_bytes(self.long_size, self.byteorder)
        assert len(made) <= self.page_size
        return bytes(made.ljust(self.page_size, b"\xa5"))


def function_payload(
    byteorder: str,
    long_size: int,
    ip: int,
    parent_ip: int,
    *,
    pid: int = 1,
    flags: int = 0,
    preempt_count: int = 0,
    number: int = 1,
) -> bytes:
    return (
        number.to_bytes(2, byteorder)
        + bytes([flags, preempt_count])
        + pid.to_bytes(4, byteorder, signed=True)
        + ip.to_bytes(long_size, byteorder)
        + parent_ip.to_bytes(long_size, byteorder)
    )


def function_pages(
    byteorder: str, long_size: int, events: list[tuple[int, int, int]], *, start: int = 0
) -> bytes:
    """Pages of function events (time stamp, ip, parent ip), sorted by time, as guests write."""
    pages = []
    encoder: PageEncoder | None = None
    last = start
    for stamp, ip, parent in events:
        payload = function_payload(byteorder, long_size, ip, parent)
        if encoder is None or encoder.room < len(payload) + 16:
            if encoder is not None:
                pages.append(encoder.page())
            encoder = PageEncoder(byteorder, long_size, stamp=stamp)
            last = stamp
        delta = stamp - last
        if delta >= 1 << 27:
            encoder.extend(delta)
            delta = 0
        encoder.event(delta, payload, long_form=long_size == 8)
        last = stamp
    if encoder is not None:
        pages.append(encoder.page())
    return b"".join(pages)
