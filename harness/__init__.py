# SPDX-License-Identifier: MIT
"""A QEMU-backed live tracing harness for ports of the Linux function tracer.

>>> from harness import boot
>>> with boot("mips-malta", workload="calls") as guest:
...     guest.tracer.set_filter("do_*", "leaf")
...     guest.tracer.current = "function"
...     guest.run(until="workload_done")
...     for event in guest.tracer.events():
...         print(event)
"""

from typing import TYPE_CHECKING

from harness.version import __version__

if TYPE_CHECKING:
    from harness.guest import Guest, Outcome, boot

__all__ = ["Guest", "Outcome", "__version__", "boot"]


def __getattr__(name: str) -> object:
    # Imported late: the command line and the lower floors do not need it.
    if name in __all__:
        from harness import guest

        return getattr(guest, name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
