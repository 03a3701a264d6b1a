# SPDX-License-Identifier: MIT
"""The actions of a check on its guest since it was fresh, so that they can be repeated."""

from dataclasses import dataclass, field, replace

from harness.image import RunningImage

EFFECTS = {
    "ftrace_make_nop": "C9a",
    "ftrace_make_call": "C9b",
    "ftrace_modify_call": "C21c",
    "ftrace_update_ftrace_func": "C10a",
    "ftrace_enable_ftrace_graph_caller": "C11c",
    "ftrace_disable_ftrace_graph_caller": "C11d",
}
"""The clause about the effect of each patching function, and so about any other effect."""


INIT_NOP, MAKE_NOP = "ftrace_init_nop", "ftrace_make_nop"
MODULE_INIT = "ftrace_graph_module_init"
"""The port's function that may inspect a module before its calls are hijacked."""


def first_patching(image: RunningImage) -> str:
    """The port's function that switches a site off first, at boot or in a module."""
    return INIT_NOP if INIT_NOP in image.symbols else MAKE_NOP


@dataclass(frozen=True, slots=True)
class Called:
    """A function of the guest, called with these arguments."""

    function: int
    arguments: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Written:
    """Memory that the debugger has written."""

    address: int
    data: bytes


@dataclass(slots=True)
class Actions:
    """The actions in their order, on a guest as booted; ``memory`` is that of its machine.

    ``site`` is ``ip`` of the call site under test, 0 if it is that of the last call.
    """

    done: list[Called | Written] = field(default_factory=list)
    memory: str = ""
    site: int = 0

    def forget(self, memory: str = "") -> None:
        """The guest is as booted."""
        self.done.clear()
        self.memory, self.site = memory, 0

    def so_far(self) -> "Actions":
        """A copy."""
        return replace(self, done=list(self.done))

    @property
    def last_call(self) -> Called | None:
        """The last function called; None if the guest has only booted."""
        calls = (one for one in reversed(self.done) if isinstance(one, Called))
        return next(calls, None)

    def patching(self, image: RunningImage) -> str:
        """The port's patching function that was called last."""
        last = self.last_call
        # At boot the kernel itself switches all sites off.
        if last is None or last.function == image.symbols.get("load_module"):
            return first_patching(image)
        if last.arguments and last.function == image.symbols.get("ftrace_replace_code"):
            return "ftrace_make_call" if last.arguments[0] else MAKE_NOP
        function = image.function_at(last.function)
        return function.name if function else ""
