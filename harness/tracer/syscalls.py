# SPDX-License-Identifier: MIT
"""The guest's table of ``struct syscall_metadata``, for the events of system calls.

Its length is from the image.  Its contents may be from guest memory, and are checked.
"""

from collections.abc import Callable

from harness.errors import FormatError, GuestError
from harness.image import Image
from harness.trace import Syscall, parse_syscall

MAX_SYSCALLS = 256


class SyscallTable:
    """The location of an image's table; FormatError if it is invalid."""

    def __init__(self, image: Image) -> None:
        self._image = image
        self._address = image.symbols.get("__start_syscalls_metadata", 0)
        self._length = image.symbols.get("__stop_syscalls_metadata", 0) - self._address
        self.count = 0
        if self._length:
            self._layout = image.structures.struct("syscall_metadata")
            size = self._layout.size
            if not size or self._length % size or not 0 < self._length // size <= MAX_SYSCALLS:
                raise FormatError(
                    f"{image.name} has {self._length} bytes of system calls of {size} bytes"
                )
            self.count = self._length // size

    def read(self, read: Callable[[int, int], bytes]) -> list[Syscall]:
        """The system calls in the bytes that ``read`` returns for an address and a length, in
        order.

        GuestError if they are invalid.
        """
        if not self.count:
            return []
        data, layout = read(self._address, self._length), self._layout
        name, arguments = layout.member("name"), layout.member("arguments")
        number, count = layout.member("nr"), layout.member("nr_arguments")
        try:
            return [
                parse_syscall(
                    index,
                    name.text(data, start),
                    arguments.text(data, start),
                    number.number(data, start),
                    count.number(data, start),
                )
                for index, start in enumerate(range(0, len(data), layout.size))
            ]
        except FormatError as error:
            raise GuestError(
                f"the table of system calls of {self._image.name} is damaged: {error.message}"
            ) from error
