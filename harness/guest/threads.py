# SPDX-License-Identifier: MIT
"""The guest's own threads, read from the table that its kernel keeps of them."""

from harness.debugger import Debugger
from harness.errors import FormatError, GuestError
from harness.image import Image
from harness.ring import TABLE_SIZE, GuestThread, ThreadTable


def read_threads(image: Image, debugger: Debugger) -> list[GuestThread]:
    """The threads of a stopped guest, by their place in its table.

    None until the guest has set it up; `GuestError` when it is damaged.
    """
    where = image.symbols.get("thread_table")
    if where is None:
        return []
    read = debugger.read_memory
    try:
        table = ThreadTable.parse(
            read(where, TABLE_SIZE), image.byteorder, image.size_of("threads")
        )
    except FormatError as error:
        raise GuestError(f"the guest's threads cannot be read: {error.message}") from error
    address = image.address_of("threads")
    return table.threads(read(address, table.size), address)
