# SPDX-License-Identifier: MIT
"""The guests' C library in this process, beside the host's, to compare the two."""

import ctypes
import os
import shutil
from pathlib import Path
from typing import Any

import pytest

GUESTS = Path(__file__).parents[2] / "guests"
COMPILER = shutil.which(os.environ.get("CC", "gcc"))
HOST = ctypes.CDLL(None)
HEAP_SIZE = 1 << 16

needs_compiler = pytest.mark.skipif(COMPILER is None, reason="no C compiler for the host")

DRIVER = """
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define HEAP_SIZE 65536

_Alignas(16) char guest___heap_start[HEAP_SIZE];
__asm__(".globl guest___heap_end\\n.set guest___heap_end, guest___heap_start + 65536");

char console[1 << 16];
size_t console_used;
size_t console_largest_write;
char panic_text[512];
static jmp_buf on_panic;

void guest_console_write(const char *text, size_t size)
{
	memcpy(console + console_used, text, size);
	console_used += size;
	if (size > console_largest_write)
		console_largest_write = size;
}

void guest_panic(const char *format, ...)
{
	va_list arguments;

	va_start(arguments, format);
	vsnprintf(panic_text, sizeof(panic_text), format, arguments);
	va_end(arguments);
	longjmp(on_panic, 1);
}

int heap_locked;

void guest_heap_lock(void)
{
	if (heap_locked++)
		guest_panic("malloc takes its lock twice");
}

void guest_heap_unlock(void)
{
	if (--heap_locked)
		guest_panic("malloc gives back a lock that it does not have");
}

long call(long (*function)(long, long, long, long), long a, long b, long c, long d)
{
	panic_text[0] = 0;
	heap_locked = 0;
	return setjmp(on_panic) ? 0 : function(a, b, c, d);
}
"""


class Guest:
    """The library in this process; ``guest.name(...)`` calls guest_name."""

    def __init__(self, path: Path) -> None:
        self._library = ctypes.CDLL(str(path))
        self._call = self._library.call
        self._call.restype = ctypes.c_long
        self.panic_text = ""

    def function(self, name: str, restype: Any = ctypes.c_int) -> Any:
        function = self._library[f"guest_{name}"]
        function.restype = restype
        return function

    def __getattr__(self, name: str) -> Any:
        return self.function(name)

    def call(self, name: str, *arguments: int) -> int:
        """Call with up to four integers; a panic ends the call and is in panic_text."""
        padded = [*arguments, 0, 0, 0, 0][:4]
        function = ctypes.cast(self._library[f"guest_{name}"], ctypes.c_void_p)
        result: int = self._call(function, *(ctypes.c_long(value) for value in padded))
        self.panic_text = ctypes.string_at(self._library.panic_text).decode()
        return result

    def malloc(self, size: int) -> int:
        return self.call("malloc", size)

    def free(self, area: int) -> None:
        self.call("free", area)

    def variable(self, name: str) -> ctypes.c_size_t:
        return ctypes.c_size_t.in_dll(self._library, name)

    def console(self) -> bytes:
        used = self.variable("console_used")
        text = ctypes.string_at(self._library.console, used.value)
        used.value = 0
        return text


def sign(value: int) -> int:
    return (value > 0) - (value < 0)
