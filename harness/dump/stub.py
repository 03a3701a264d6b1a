# SPDX-License-Identifier: MIT
"""A debug stub for a memory dump: gdb reads memory and registers by it, and nothing runs.

The packets are those of gdb's manual, "GDB Remote Serial Protocol".
"""

import re
import socket
import threading
from contextlib import suppress
from pathlib import Path
from typing import Self

from harness.dump.kernel import DumpedKernel
from harness.errors import HarnessError

PACKET = 0x8000
"""Bytes of the longest packet."""

_PACKET = re.compile(rb"\$([^#$]*)#[0-9a-fA-F]{2}")
_MEMORY = re.compile(r"m([0-9a-f]{1,16}),([0-9a-f]{1,8})")
_THREAD = re.compile(r"H.(-?[0-9a-f]{1,8})|T([0-9a-f]{1,8})")
_STOPPED = "T05thread:1;"
_REFUSED = "E01"


class DumpStub:
    """A stub at a unix socket, which answers until `close`."""

    def __init__(self, kernel: DumpedKernel, path: Path) -> None:
        self._kernel = kernel
        self._thread = 0
        self._listening = socket.socket(socket.AF_UNIX)
        try:
            self._listening.bind(str(path))
            self._listening.listen(1)
        except BaseException:
            self._listening.close()
            raise
        self._server = threading.Thread(target=self._serve, name="dump stub", daemon=True)
        self._server.start()

    def close(self) -> None:
        """End it, after its client has gone."""
        # Wakes an accept that waits for a client.
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)
        self._listening.close()
        self._server.join(1.0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *details: object) -> None:
        self.close()

    def _serve(self) -> None:
        with suppress(OSError):
            client, _ = self._listening.accept()
            with client:
                self._answer_all(client)

    def _answer_all(self, client: socket.socket) -> None:
        unread = b""
        while data := client.recv(PACKET):
            unread += data
            end = 0
            for packet in _PACKET.finditer(unread):
                end = packet.end()
                text = self.answer(packet[1].decode("latin-1")).encode("latin-1")
                client.sendall(b"+$%b#%02x" % (text, sum(text) & 0xFF))
            unread = unread[end:][-PACKET:]

    def answer(self, packet: str) -> str:
        """The answer to a packet; empty for one that is not supported."""
        kind = packet[:1] or " "
        if kind == "?" or kind in "cs" or packet.startswith("vCont;"):
            # It does not run, so it is stopped at once.
            return _STOPPED
        if kind in "GMPX":
            return _REFUSED
        if kind in "HT":
            return self._select(packet)
        if kind == "g":
            return self._kernel.registers[self._thread].hex()
        if kind == "m":
            return self._memory(packet)
        if kind in "DZz":
            # A breakpoint is never reached; if refused, gdb would not go to the next stop.
            return "OK"
        return self._query(packet)

    def _query(self, packet: str) -> str:
        if packet == "qfThreadInfo":
            return "m" + ",".join(f"{one + 1:x}" for one in range(len(self._kernel.registers)))
        return {
            "qsThreadInfo": "l",
            "qC": f"QC{self._thread + 1:x}",
            "qAttached": "1",
        }.get(packet, f"PacketSize={PACKET:x}" if packet.startswith("qSupported") else "")

    def _select(self, packet: str) -> str:
        found = _THREAD.fullmatch(packet)
        # 0 is any thread, -1 all of them.
        number = max(1, int(found[1] or found[2], 16)) if found else 0
        if not 1 <= number <= len(self._kernel.registers):
            return _REFUSED
        if packet.startswith("Hg"):
            self._thread = number - 1
        return "OK"

    def _memory(self, packet: str) -> str:
        found = _MEMORY.fullmatch(packet)
        if found is None:
            return _REFUSED
        try:
            return self._kernel.read_memory(int(found[1], 16), int(found[2], 16) % PACKET).hex()
        except HarnessError:
            return "E14"
