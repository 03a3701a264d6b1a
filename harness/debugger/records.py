# SPDX-License-Identifier: MIT
"""Records of gdb's machine interface, parsed from lines of its output.

pygdbmi parses them, with three exceptions.  It loops forever on an unterminated list, so every
record is checked to be well-formed first.  It needs 0.1 s for a mebibyte of memory and 2 ms for all
registers, so these are extracted with regular expressions.  Most streams have no escapes but those
of JSON, and there are some 15,000 in a conformance run: these are read as such.
"""

import json
import re
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any

from pygdbmi import gdbmiparser

MAX_DEPTH = 32

_MEMORY = re.compile(rb"(\d{0,18})\^done,memory=\[")
_BLOCK = re.compile(
    rb'\{begin="0x([0-9a-f]{1,16})",offset="0x[0-9a-f]{1,16}",end="0x([0-9a-f]{1,16})",contents="'
)
_REGISTER = re.compile(r'\{number="(\d{1,9})",value="([^"\\]*)"\}')
_REGISTERS = re.compile(
    rf"(\d{{0,18}})\^done,register-values=\[({_REGISTER.pattern}(?:,{_REGISTER.pattern})*)\]"
)
_STREAM = re.compile(r'."(?:[^"\\]|\\.)*"', re.DOTALL)
_PLAIN_STREAM = re.compile(r'.("(?:[^"\\]|\\[nrt"\\])*")', re.DOTALL)
_HEAD = re.compile(r"(\d{0,18})([\^*=+])([A-Za-z-]+)(,|$)")
_PIECE = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{},]|[\w-]+=')
_OPENING = {"]": "[", "}": "{"}


class Kind(Enum):
    """The kind of a line of gdb's output."""

    RESULT = auto()
    """The answer to a command."""
    ASYNC = auto()
    """Asynchronous: ``*stopped``, ``*running``, or ``=thread-created`` etc. without payload."""
    CONSOLE = auto()
    """CLI output."""
    LOG = auto()
    """gdb's messages, errors among them."""
    TARGET = auto()
    """Text that the stub sent."""
    PROMPT = auto()
    OTHER = auto()
    """Not a record at all."""
    MALFORMED = auto()
    """Begins like a record but is invalid."""


@dataclass(frozen=True, slots=True)
class MiRecord:
    """One line of gdb's output; ``text`` is the text of a stream, or a line that is no record."""

    kind: Kind
    token: int | None = None
    message: str = ""
    payload: dict[str, Any] = field(default_factory=dict)
    text: str = ""


@dataclass(frozen=True, slots=True)
class MemoryBlock:
    """A range of memory; -data-read-memory-bytes returns a list of them."""

    begin: int
    data: bytes


_STREAMS = {"~": Kind.CONSOLE, "&": Kind.LOG, "@": Kind.TARGET}


def parse_record(line: bytes) -> MiRecord:
    """Parse one line of gdb's output, without its newline.  Never raises: see Kind.MALFORMED."""
    if memory := _MEMORY.match(line):
        return _memory_record(line, memory)
    text = line.decode(errors="replace").rstrip("\r")
    if text.rstrip() == "(gdb)":
        return MiRecord(Kind.PROMPT)
    if text[:1] in _STREAMS:
        return _stream_record(text)
    if registers := _REGISTERS.fullmatch(text):
        return _registers_record(registers)
    head = _HEAD.match(text)
    if head is None:
        return MiRecord(Kind.OTHER, text=text)
    token = int(head[1]) if head[1] else None
    kind = Kind.RESULT if head[2] == "^" else Kind.ASYNC
    if head[2] == "=":
        return MiRecord(kind, token, head[3], text=text)
    payload = _parse_results(text, head.end()) if head[4] else {}
    if payload is None:
        return _malformed(text, token if kind is Kind.RESULT else None)
    return MiRecord(kind, token, head[3], payload)


def _registers_record(found: re.Match[str]) -> MiRecord:
    values = [{"number": one[1], "value": one[2]} for one in _REGISTER.finditer(found[2])]
    token = int(found[1]) if found[1] else None
    return MiRecord(Kind.RESULT, token, "done", {"register-values": values})


def _malformed(text: str, token: int | None) -> MiRecord:
    return MiRecord(Kind.MALFORMED, token, text=text[:200])


def _stream_record(text: str) -> MiRecord:
    if plain := _PLAIN_STREAM.fullmatch(text):
        # Its escapes are those of JSON.
        return MiRecord(_STREAMS[text[0]], text=json.loads(plain[1], strict=False))
    parsed = _parse(text) if _STREAM.fullmatch(text) else None
    if parsed is None or not isinstance(parsed.get("payload"), str):
        return _malformed(text, None)
    return MiRecord(_STREAMS[text[0]], text=parsed["payload"])


def _parse_results(text: str, start: int) -> dict[str, Any] | None:
    if not _well_formed(text, start):
        return None
    parsed = _parse(text)
    payload = parsed.get("payload") if parsed else None
    return payload if isinstance(payload, dict) else None


def _parse(text: str) -> dict[str, Any] | None:
    try:
        parsed: dict[str, Any] = gdbmiparser.parse_response(text)
    except (ValueError, IndexError, TypeError, AssertionError):
        return None
    return parsed


def _well_formed(text: str, position: int) -> bool:
    """Whether ``text`` from ``position`` on consists of MI tokens with matching brackets."""
    open_brackets: list[str] = []
    before = ","
    while position < len(text):
        piece = _PIECE.match(text, position)
        if piece is None:
            return False
        token = piece[0]
        if before.endswith("=") and token[0] not in '"[{':
            return False
        if token in _OPENING.values():
            open_brackets.append(token)
            if len(open_brackets) > MAX_DEPTH:
                return False
        elif token in _OPENING:
            if not open_brackets or open_brackets.pop() != _OPENING[token]:
                return False
        elif token[0] == '"' and not before.endswith("=") and open_brackets[-1:] != ["["]:
            return False
        before = token
        position = piece.end()
    return not open_brackets and not before.endswith("=")


def _memory_record(line: bytes, head: re.Match[bytes]) -> MiRecord:
    token = int(head[1]) if head[1] else None
    blocks: list[MemoryBlock] = []
    position = head.end()
    while (block := _BLOCK.match(line, position)) is not None:
        begin, end = int(block[1], 16), int(block[2], 16)
        stop = line.find(b'"}', block.end())
        try:
            data = bytes.fromhex(line[block.end() : max(stop, 0)].decode("ascii"))
        except ValueError:
            break
        if stop < 0 or len(data) != end - begin:
            break
        blocks.append(MemoryBlock(begin, data))
        position = stop + 2
        if line[position : position + 1] != b",":
            break
        position += 1
    if line[position:].strip() != b"]":
        return _malformed(line[:200].decode(errors="replace"), token)
    return MiRecord(Kind.RESULT, token, "done", {"memory": blocks})
