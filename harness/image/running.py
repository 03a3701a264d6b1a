# SPDX-License-Identifier: MIT
"""A guest's image together with those of the modules that are loaded into it."""

from collections import ChainMap
from collections.abc import Mapping
from types import MappingProxyType

from harness.image.functions import Function
from harness.image.image import Image
from harness.isa import CallSite


class RunningImage(Image):
    """The image of a guest that runs: `Image`, and what is true only as long as a module is loaded.

    Names of the kernel win over those of modules, and of the modules the one that came first.
    ``symbols``, ``functions`` and ``sites`` are those of all of them.
    """

    def __init__(self, data: bytes, name: str) -> None:
        super().__init__(data, name)
        self._modules: dict[str, Image] = {}
        self._own = (self.symbols, self.functions)

    @property
    def modules(self) -> Mapping[str, Image]:
        """The modules by name, in the order in which they came."""
        return MappingProxyType(self._modules)

    def add_module(self, name: str, image: Image) -> None:
        """A module has been loaded."""
        self._modules[name] = image
        self._merge()

    def remove_module(self, name: str) -> None:
        """A module is gone."""
        del self._modules[name]
        self._merge()

    def module_at(self, address: int) -> str:
        """The name of the module whose text holds ``address``; empty for the kernel's and none."""
        address &= self.isa.mask
        return next((name for name, image in self._modules.items() if address in image.text), "")

    def target_of(self, site: CallSite, function: str) -> int:
        """What a site calls when it calls ``function`` of the kernel: that, or a trampoline."""
        image = self._image_at(site.address)
        return self.address_of(function) if image is self else image.site_target(self, function)

    @property
    def sites(self) -> list[CallSite]:
        """The call sites in the tables of guest and modules, by address; errors as of `Image`."""
        found = [*super().sites, *(site for image in self._loaded for site in image.sites)]
        return sorted(found, key=lambda site: site.address)

    def function_at(self, address: int) -> Function | None:
        """The function whose bytes hold ``address``; None in a gap between functions."""
        image = self._image_at(address)
        return super().function_at(address) if image is self else image.function_at(address)

    def is_assembled(self, address: int) -> bool:
        """As of `Image`."""
        image = self._image_at(address)
        return super().is_assembled(address) if image is self else image.is_assembled(address)

    def symbolize(self, address: int) -> str:
        """As of `Image`; with `` [module]`` behind what is in a module."""
        module = self.module_at(address)
        if not module:
            return super().symbolize(address)
        return f"{self._modules[module].symbolize(address)} [{module}]"

    def read(self, address: int, size: int) -> bytes:
        """What the linker put at ``address``; GuestError where no file holds bytes."""
        image = self._image_at(address)
        return super().read(address, size) if image is self else image.read(address, size)

    def kallsyms(self, module: str = "") -> str:
        """The functions of guest and modules in the layout of ``/proc/kallsyms``."""
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
        every = [dict(symbols), *(dict(image.symbols) for image in self._loaded)]
        self.symbols = MappingProxyType(dict(ChainMap(*every)))
        also = [function for image in self._loaded for function in image.functions]
        self.functions = sorted([*functions, *also], key=lambda function: function.address)
