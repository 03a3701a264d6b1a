# SPDX-License-Identifier: MIT
"""A running guest's image, with those of its loaded modules."""

from collections import ChainMap
from collections.abc import Mapping
from types import MappingProxyType

from harness.image.functions import Function
from harness.image.image import Image
from harness.image.lines import SourceLine
from harness.isa import CallSite


class RunningImage(Image):
    """`Image`, with the modules that are loaded at the moment.

    The kernel's names are preferred to those of modules, and earlier modules' to later ones'.
    ``symbols``, ``functions`` and ``sites`` are those of all of them.
    """

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data, name)
        self._modules: dict[str, Image] = {}
        self._own = (self.symbols, self.functions)

    @property
    def modules(self) -> Mapping[str, Image]:
        """The modules by name, in load order."""
        return MappingProxyType(self._modules)

    def add_module(self, name: str, image: Image) -> None:
        """Add a loaded module."""
        self._modules[name] = image
        self._merge()

    def remove_module(self, name: str) -> None:
        """Remove an unloaded module."""
        del self._modules[name]
        self._merge()

    def module_at(self, address: int) -> str:
        """The name of the module whose text contains ``address``; empty for all else."""
        address &= self.isa.mask
        return next((name for name, image in self._modules.items() if address in image.text), "")

    def target_of(self, site: CallSite, function: str) -> int:
        """The target of a site that calls ``function`` of the kernel: that, or a trampoline."""
        image = self._image_at(site.address)
        return self.address_of(function) if image is self else image.site_target(self, function)

    @property
    def sites(self) -> list[CallSite]:
        """The call sites of guest and modules, by address; errors as of `Image`."""
        found = [*super().sites, *(site for image in self._loaded for site in image.sites)]
        return sorted(found, key=lambda site: site.address)

    def function_at(self, address: int) -> Function | None:
        """As of `Image`."""
        image = self._image_at(address)
        return super().function_at(address) if image is self else image.function_at(address)

    def is_assembled(self, address: int) -> bool:
        """As of `Image`."""
        image = self._image_at(address)
        return super().is_assembled(address) if image is self else image.is_assembled(address)

    def source_file(self, address: int) -> str:
        """As of `Image`."""
        image = self._image_at(address)
        return super().source_file(address) if image is self else image.source_file(address)

    def source_line(self, address: int) -> SourceLine | None:
        """As of `Image`."""
        image = self._image_at(address)
        return super().source_line(address) if image is self else image.source_line(address)

    def inlined_calls(self, address: int) -> list[SourceLine]:
        """As of `Image`."""
        image = self._image_at(address)
        return super().inlined_calls(address) if image is self else image.inlined_calls(address)

    def symbolize(self, address: int) -> str:
        """As of `Image`, with `` [module]`` behind a module's symbol."""
        module = self.module_at(address)
        if not module:
            return super().symbolize(address)
        return f"{self._modules[module].symbolize(address)} [{module}]"

    def read(self, address: int, size: int) -> bytes:
        """As of `Image`."""
        image = self._image_at(address)
        return super().read(address, size) if image is self else image.read(address, size)

    def kallsyms(self, module: str = "") -> str:
        """As of `Image`, with the modules' functions."""
        modules = (image.kallsyms(name) for name, image in self._modules.items())
        return super().kallsyms(module) + "".join(modules)

    @property
    def _loaded(self) -> list[Image]:
        return list(self._modules.values())

    def _image_at(self, address: int) -> Image:
        module = self.module_at(address)
        return self._modules[module] if module else self

    def _merge(self) -> None:
        symbols, functions = self._own
        if self._modules:
            every = [dict(symbols), *(dict(image.symbols) for image in self._loaded)]
            symbols = MappingProxyType(dict(ChainMap(*every)))
            also = [function for image in self._loaded for function in image.functions]
            functions = sorted([*functions, *also], key=lambda function: function.address)
        # Without modules these are the kernel's own objects: what was computed from them holds.
        self.symbols, self.functions = symbols, functions
