# SPDX-License-Identifier: MIT
"""A Linux kernel as described by its vmlinux, and by what was read from its memory."""

from bisect import bisect_right
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from types import MappingProxyType
from typing import ClassVar

from harness.errors import FormatError
from harness.image import Function, Image, RunningImage
from harness.isa import CallSite

BANNER = "linux_banner"
"""The kernel's variable with its version as text."""

MAX_BANNER = 1024


@dataclass(frozen=True, slots=True)
class LoadedModule:
    """A module of a running kernel: its name, its memory, and its functions by address."""

    name: str
    memory: tuple[range, ...]
    functions: tuple[Function, ...]

    def function_at(self, address: int) -> Function | None:
        """The function that contains an address."""
        index = bisect_right(self.functions, address, key=lambda one: one.address) - 1
        if index < 0:
            return None
        found = self.functions[index]
        return found if address < found.address + found.size else None


class LinuxImage(RunningImage):
    """A vmlinux.

    Its call sites and modules are those of the running kernel: none until `learn` was called.
    """

    types: ClassVar[Sequence[str]] = ("ET_EXEC", "ET_DYN")

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data, name)
        self._sites: list[CallSite] = []
        self._linux_modules: dict[str, LoadedModule] = {}

    @property
    def banner(self) -> bytes:
        """The text of ``linux_banner``; GuestError if the file does not hold it."""
        return self.read(self.address_of(BANNER), MAX_BANNER).partition(b"\0")[0]

    def learn(self, sites: Sequence[CallSite], modules: Sequence[LoadedModule]) -> None:
        """Take over the call sites, by address, and the modules of the running kernel."""
        self._sites = list(sites)
        self._linux_modules = {one.name: one for one in modules}

    @property
    def sites(self) -> list[CallSite]:
        """The call sites of the running kernel and its modules, by address."""
        return self._sites

    @property
    def modules(self) -> Mapping[str, Image]:
        """The modules by name; their descriptions are the kernel's own."""
        return MappingProxyType(dict.fromkeys(self._linux_modules, self))

    def module_at(self, address: int) -> str:
        """The name of the module whose memory contains ``address``; empty for all else."""
        address &= self.isa.mask
        return next(
            (
                one.name
                for one in self._linux_modules.values()
                if any(address in memory for memory in one.memory)
            ),
            "",
        )

    def function_at(self, address: int) -> Function | None:
        """As of `Image`, also in modules."""
        found = self._functions.at(address & self.isa.mask)
        if found is None and (module := self.module_at(address)):
            return self._linux_modules[module].function_at(address & self.isa.mask)
        return found

    def symbolize(self, address: int) -> str:
        """As of `Image`, with `` [module]`` behind a module's symbol."""
        module = self.module_at(address)
        return Image.symbolize(self, address) + (f" [{module}]" if module else "")

    def kallsyms(self, module: str = "") -> str:
        """As of `Image`, with the functions of modules."""
        digits = self.bits // 4
        rows = [
            f"{function.address:0{digits}x} t {function.name}\t[{one.name}]\n"
            for one in self._linux_modules.values()
            for function in one.functions
        ]
        own = Image.kallsyms(self, module) if module else self._own_kallsyms
        return own + "".join(rows)

    @cached_property
    def _own_kallsyms(self) -> str:
        return Image.kallsyms(self)

    def _image_at(self, address: int) -> Image:
        return self


def open_image(data: bytes, name: str) -> RunningImage:
    """The image of a Linux kernel, or of a guest of the harness; errors as of `Image`."""
    if BANNER.encode() in data:
        image = LinuxImage(data, name)
        if BANNER in image.symbols:
            return image
    return RunningImage(data, name)


def check_debug_info(image: Image) -> None:
    """FormatError if a vmlinux was built without DWARF."""
    try:
        image.need_debug_info()
    except FormatError as error:
        if "has no debug information" not in error.message:
            raise
        raise FormatError(
            error.message,
            "Build it with CONFIG_DEBUG_INFO_DWARF4 or CONFIG_DEBUG_INFO_DWARF5, and give the "
            "vmlinux that was not stripped; BTF is not enough.",
        ) from error
