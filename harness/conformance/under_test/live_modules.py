# SPDX-License-Identifier: MIT
"""Modules of a guest under test."""

from harness.conformance.under_test.bench import Bench
from harness.conformance.under_test.hang import NotLoaded
from harness.errors import GuestError
from harness.image import THIS_MODULE, Image, ModuleImage
from harness.kbuild import module_beside


def put_module(bench: Bench, name: str) -> ModuleImage:
    """Write a module that was built with the kernel to its place, for ``load_module()``."""
    path = module_beside(bench.variant.kernel, name)
    module = ModuleImage(path.read_bytes(), str(path))
    for address, data in module.segments:
        bench.write_memory(address, data)
    know_module(bench, name, module)
    return module


def know_module(bench: Bench, name: str, module: Image) -> None:
    """Let both images have a module that is or will be in the guest's memory."""
    for image in (bench.image, bench.guest.image):
        image.add_module(name, module)


def load_module(bench: Bench, name: str, *, init: bool = True) -> ModuleImage:
    """Load a module that was built with the kernel, and with ``init`` initialise it.

    GuestError if the guest refuses it.
    """
    module = put_module(bench, name)
    for function in ("load_module", "do_init_module")[: 1 + init]:
        status = bench.call(bench.image.address_of(function), module.this_module)
        if status:
            raise NotLoaded(f"{function}() of the module {name} returned {status}")
        if not bench.by_port:
            bench.sites.write(module.sites, on=False)
    return module


def unload_module(bench: Bench, name: str) -> None:
    """Unload a module; GuestError if the guest refuses it."""
    module = bench.image.modules[name]
    status = bench.call(bench.image.address_of("unload_module"), module.address_of(THIS_MODULE))
    if status:
        raise GuestError(f"unload_module() of {name} returned {status}")
    for image in (bench.image, bench.guest.image):
        image.remove_module(name)
