# SPDX-License-Identifier: MIT
"""Filters over call sites: globs of functions, and ``FUNCTION:mod:MODULE`` as in tracefs.

Both halves of that are globs.  An empty function stands for all; an empty module for every module,
but not the kernel itself.  ``!`` in front of the module turns its half round: ``:mod:!net`` is what
is not in the module net, kernel included, and ``:mod:!`` is the kernel alone.
"""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from harness.errors import UsageError
from harness.image import RunningImage
from harness.isa import CallSite
from harness.tracer.filters import matching

SEPARATOR = ":mod:"


def title(image: RunningImage, site: CallSite) -> str:
    """The function of a site as ``available_filter_functions`` has it: ``name [module]``."""
    module = image.module_at(site.address)
    return f"{site.function} [{module}]" if module else site.function


def choose(image: RunningImage, globs: Iterable[str]) -> frozenset[CallSite]:
    """The call sites of the functions that any of the globs matches.

    Raises:
        UsageError: one of them matches nothing, or names a module that is not loaded.
    """
    return frozenset(site for glob in globs for site in _chosen(image, glob))


def _chosen(image: RunningImage, glob: str) -> list[CallSite]:
    function, separator, module = glob.partition(SEPARATOR)
    sites = _in_module(image, module) if separator else image.sites
    if separator and not sites:
        raise UsageError(f"no module matches {glob!r} and has functions that can be traced")
    names = matching(function or "*", [site.function for site in sites])
    return [site for site in sites if site.function in names]


def _in_module(image: RunningImage, glob: str) -> Sequence[CallSite]:
    excluded, name = glob.startswith("!"), glob.removeprefix("!")
    # The kernel is no module: what stands for any of them does not stand for it.
    wanted = {module for module in image.modules if fnmatchcase(module, name or "*")}
    if name and not wanted:
        loaded = ", ".join(image.modules) or "none"
        raise UsageError(
            f"no module that is loaded matches {name!r}",
            f"Loaded: {loaded}. Load it first: harness record --module, or guest.load_module().",
        )
    return [site for site in image.sites if (image.module_at(site.address) in wanted) != excluded]
