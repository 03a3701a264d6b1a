# SPDX-License-Identifier: MIT
"""The Linux kernel in a memory dump, at its virtual addresses."""

from collections.abc import Callable, Iterator

from harness.dump.core import ElfCore
from harness.errors import FormatError, GuestError, UsageError, WrongGuest
from harness.linux import LinuxImage

Translate = Callable[[int], int | None]

NOTE_NAME = b"GNU\0"
"""The name of the note with a build id, directly in front of it."""


class DumpedKernel:
    """The memory of a kernel, found by its build id and banner; it cannot be changed.

    Raises:
        WrongGuest: the dump holds another kernel, or this one at other addresses.
    """

    def __init__(self, image: LinuxImage, core: ElfCore) -> None:
        self._core = core
        self._mask = image.isa.mask
        self._page_size = image.size_of(image.isa.linux.page_object)
        offset = _image_offset(image, core)

        def word(physical: int) -> int:
            return int.from_bytes(core.read(physical, image.isa.word_size), image.byteorder)

        tables = image.isa.linux.tables(image.symbols, offset, self._page_size, word)
        self._translate: Translate = tables
        banner = image.address_of("linux_banner")
        if tables(banner) not in (None, banner - offset & self._mask):
            raise _moved(image, core)
        self._registers = [image.isa.linux.dump_registers(one) for one in core.cpus]

    @property
    def registers(self) -> list[bytes]:
        """The registers of each CPU, in gdb's order and format."""
        return self._registers

    def read_memory(self, address: int, size: int) -> bytes:
        """Memory at a virtual address; GuestError if it is not mapped."""
        address &= self._mask
        found = []
        while size > 0:
            length = min(size, self._page_size - address % self._page_size)
            physical = self._translate(address)
            if physical is None:
                raise GuestError(f"the kernel in {self._core.name} maps nothing at {address:#x}")
            found.append(self._core.read(physical, length))
            address, size = address + length & self._mask, size - length
        return b"".join(found)

    dump_memory = read_memory

    def write_memory(self, address: int, data: bytes) -> None:
        """UsageError: a dump cannot be changed."""
        raise UsageError("a memory dump cannot be changed", "Attach to a running guest: --gdb.")

    restore_memory = write_memory


def _image_offset(image: LinuxImage, core: ElfCore) -> int:
    """The difference between addresses of the image and physical addresses."""
    places = list(_places(image, core))
    if not places:
        raise WrongGuest(
            f"{core.name} does not hold the kernel of {image.name}",
            "Give the vmlinux that it was built with.",
        )
    return places[0]


def _places(image: LinuxImage, core: ElfCore) -> Iterator[int]:
    banner, text = image.address_of("linux_banner"), image.banner
    try:
        address, wanted = image.build_id_address, image.build_id
    except (FormatError, GuestError):
        yield from (banner - place for place in core.find(text))
        return
    for place in core.find(NOTE_NAME + wanted):
        offset = address - len(NOTE_NAME) - place
        try:
            found = core.read(banner - offset & image.isa.mask, len(text))
        except GuestError:
            continue
        if found == text:
            yield offset


def _moved(image: LinuxImage, core: ElfCore) -> WrongGuest:
    return WrongGuest(
        f"the kernel in {core.name} does not lie at the addresses of {image.name}",
        "Boot it with nokaslr.",
    )
