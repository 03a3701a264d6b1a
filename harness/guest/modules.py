# SPDX-License-Identifier: MIT
"""Modules of a live guest: found or built, loaded, and unloaded.

The debug stub writes the module's segments, as it writes all text.  The guest's ``load_module()``
then gives the call sites to the port and disables them, and its ``unload_module()`` removes the
module.  While loaded, it is part of the guest's image.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path

from harness.debugger import Debugger
from harness.errors import FormatError, GdbError, GuestDied, GuestError, HarnessError, UsageError
from harness.guest.cpus import StubCpus
from harness.guest.tracing import Tracing
from harness.image import Image, ModuleImage, RunningImage
from harness.kbuild import GuestSources, GuestSpec, build_guest, find_modules, module_beside
from harness.units import escape

MEANINGS = {
    -1: "its init function refused (EPERM)",
    -2: "it is not loaded (ENOENT)",
    -12: "no memory for its records (ENOMEM)",
    -16: "a thread will return to it (EBUSY)",
    -17: "its name or address is in use (EEXIST)",
    -22: "its struct module is invalid (EINVAL)",
    -34: "its call sites cannot reach the tracer (ERANGE)",
}


@dataclass(frozen=True)
class Module:
    """A module built for this guest, loaded or not."""

    name: str
    path: Path
    image: ModuleImage


class Modules:
    """The modules of one guest, which must be stopped."""

    def __init__(
        self,
        spec: GuestSpec | None,
        image: RunningImage,
        debugger: Debugger,
        cpus: StubCpus,
        tracing: Tracing,
        call: Callable[..., int],
        sources: GuestSources,
    ) -> None:
        """``call`` calls a function of the guest: its name, its arguments."""
        self._spec = spec
        self._image = image
        self._debugger = debugger
        self._cpus = cpus
        self._tracing = tracing
        self._call_guest = call
        self._text = sources
        # In the order of their addresses.
        self._sources = spec.module_sources if spec else ()
        self._loaded: dict[str, Module] = {}

    @property
    def loaded(self) -> list[Module]:
        """The loaded modules, in load order."""
        return list(self._loaded.values())

    def find(self, *wanted: str | Path) -> list[Module]:
        """Modules by name in ``guests/modules/``, C file or ELF file; C files are built for this
        guest.

        Raises:
            UsageError: there is no such module, it does not compile, or it was linked against
                another kernel.
        """
        paths = find_modules(wanted)
        sources = [path for path in paths if path.suffix == ".c"]
        kernel = self._built(sources) if sources else None
        for source in sources:
            self._text.add_module(source)
        self._debugger.symbols.find_sources(self._text.paths)
        return [
            self._read(module_beside(kernel, path.stem) if kernel and path in sources else path)
            for path in paths
        ]

    def load(self, wanted: str | Path | Module) -> Module:
        """Load a module; errors as of `find`, and:

        Raises:
            UsageError: it is already loaded, or there is no memory at its address.
            GuestError: the guest refuses it.
        """
        module = wanted if isinstance(wanted, Module) else self.find(wanted)[0]
        name = module.name
        if name in self._loaded:
            raise UsageError(f"the module {name} is loaded already", "Unload it first.")
        self._put(module)
        self._add(module)
        try:
            self._call("load_module", module)
            self._tracing.module_came()
            self._call("do_init_module", module)
        except GuestDied:
            raise
        except HarnessError:
            # The guest may have removed it already.
            with suppress(HarnessError):
                self._call("unload_module", module)
            self._remove(module)
            raise
        self._loaded[name] = module
        return module

    def unload(self, name: str) -> None:
        """Unload a module.

        Raises:
            UsageError: it is not loaded, or the guest executes it or will return to it.
            GuestError: the guest refuses, for example because the graph tracer will return to it.
        """
        module = self._loaded.get(name)
        if module is None:
            loaded = ", ".join(self._loaded) or "none"
            raise UsageError(f"the module {escape(name, 100)} is not loaded", f"Loaded: {loaded}.")
        self._check_unused(module)
        self._call("unload_module", module)
        del self._loaded[name]
        self._remove(module)

    def restore(self, loaded: list[Module]) -> None:
        """The guest was restored to a state in which these modules were loaded."""
        wanted = {module.name: module for module in loaded}
        for name, module in list(self._loaded.items()):
            if wanted.get(name) is not module:
                self._forget(module)
        for name, module in wanted.items():
            if self._loaded.get(name) is not module:
                self._add(module)
        self._loaded = wanted

    def _built(self, sources: Sequence[Path]) -> Path:
        """The kernel, built again with these modules."""
        if self._spec is None:
            raise UsageError(
                "modules cannot be built for a guest that the harness has not built",
                "Give the ELF file of the module: NAME.ko.",
            )
        every = tuple(dict.fromkeys([*self._sources, *sources]))
        kernel = build_guest(replace(self._spec, modules=find_modules(every)))
        found = Image(kernel.read_bytes(), str(kernel))
        if found.build_id != self._image.build_id:
            raise UsageError(
                "the guest's sources have changed since it was built",
                "Start it again to load modules into it.",
            )
        self._sources = every
        return kernel

    def _read(self, path: Path) -> Module:
        try:
            image = ModuleImage(path.read_bytes(), str(path))
        except OSError as error:
            raise UsageError(f"{path} cannot be read: {error.strerror}") from error
        guest = self._image
        if image.isa is not guest.isa:
            raise FormatError(f"{path} is a module for {image.isa!r}, not for {guest.isa!r}")
        if image.kernel_build_id not in (None, guest.build_id):
            raise UsageError(
                f"{path} was linked against another kernel than the guest's, which has build id "
                f"{guest.build_id.hex()}",
                "Build it for this guest: harness build --module.",
            )
        return Module(image.module_name, path, image)

    def _put(self, module: Module) -> None:
        """Write all segments and read them back: there may be no memory."""
        debugger = self._debugger
        for address, data in module.image.segments:
            try:
                debugger.restore_memory(address, data)
                arrived = debugger.dump_memory(address, len(data)) == data
            except GdbError:
                arrived = False
            if not arrived:
                config = self._spec.config if self._spec else None
                memory = config.qemu.memory if config else "the machine's"
                advice = (
                    f"Raise memory in the table [qemu] of the config {config.name} to 128M."
                    if config
                    else "Start the machine with 128M or more."
                )
                raise UsageError(
                    f"{memory} is too little memory for modules: "
                    f"{module.name} lies at {address:#x}, and there is none",
                    advice,
                )

    def _add(self, module: Module) -> None:
        self._image.add_module(module.name, module.image)
        self._debugger.symbols.add(module.path)

    def _remove(self, module: Module) -> None:
        self._forget(module)
        self._tracing.module_went(module.image)

    def _forget(self, module: Module) -> None:
        debugger, image = self._debugger, module.image
        for number, address in debugger.breakpoints.addresses().items():
            if address in image.text:
                debugger.breakpoints.delete(number)
        debugger.symbols.remove(image.text.start)
        self._image.remove_module(module.name)

    def _call(self, function: str, module: Module) -> None:
        answer = self._call_guest(function, module.image.this_module)
        if answer:
            meaning = MEANINGS.get(answer, f"error {answer}")
            raise GuestError(f"{function}() says of the module {module.name}: {meaning}")

    def _check_unused(self, module: Module) -> None:
        """No CPU executes the module or returns to it; the kernel checks other threads."""
        text, debugger, cpus = module.image.text, self._debugger, self._cpus
        for cpu, pc in cpus.program_counters().items():
            if pc in text:
                raise UsageError(
                    f"CPU {cpu} runs {self._image.symbolize(pc)}",
                    "Let the guest run before you unload the module.",
                )
        returns = {str(who): pc for who, pc in cpus.saved_contexts().items() if pc in text}
        for frame in debugger.frames.addresses():
            # gdb does not strip a return address's signature.
            address = self._image.isa.cpu.plain_address(frame)
            if address in text:
                returns.setdefault("a CPU", address)
        for who, address in returns.items():  # report the first
            raise UsageError(
                f"{who} will return to {self._image.symbolize(address)}",
                "Let the guest run before you unload the module.",
            )
