# SPDX-License-Identifier: MIT
"""Filters over call sites: globs of functions, and ``FUNCTION:mod:MODULE`` as in tracefs.

Both parts are globs.  An empty function matches all functions; an empty module matches all modules,
but not the kernel.  ``!``  before the module inverts it: ``:mod:!net`` is everything outside of the
module net, with the kernel, and ``:mod:!``  is the kernel only.  A number is the place of a
function in available_filter_functions.
"""

from collections.abc import Iterable, Sequence
from fnmatch import fnmatchcase

from harness.errors import UsageError
from harness.image import RunningImage
from harness.isa import CallSite
from harness.tracer.filters import matching

SEPARATOR = ":mod:"


def title(image: RunningImage, site: CallSite) -> str:
    """The function of a site as in ``available_filter_functions``: ``name [module]``."""
    module = image.module_at(site.address)
    return f"{site.function} [{module}]" if module else site.function


def choose(image: RunningImage, globs: Iterable[str]) -> frozenset[CallSite]:
    """The call sites of the functions that any of the globs matches.

    Raises:
        UsageError: one of them matches nothing, or names a module that is not loaded.
    """
    return frozenset(site for glob in globs for site in _chosen(image, glob))


def change(
    image: RunningImage, chosen: frozenset[CallSite], globs: Iterable[str]
) -> frozenset[CallSite]:
    """The call sites of a list after globs were written to it: ``!GLOB`` removes, others add.

    Errors as of `choose`.
    """
    for glob in globs:
        if glob.startswith("!"):
            chosen -= choose(image, [glob[1:]])
        else:
            chosen |= choose(image, [glob])
    return chosen


def _chosen(image: RunningImage, glob: str) -> list[CallSite]:
    if glob.isascii() and glob.isdecimal():
        return [_numbered(image, glob)]
    function, separator, module = glob.partition(SEPARATOR)
    sites = _in_module(image, module) if separator else image.sites
    if separator and not sites:
        raise UsageError(f"no module that matches {glob!r} has traceable functions")
    names = matching(function or "*", [site.function for site in sites])
    return [site for site in sites if site.function in names]


def _numbered(image: RunningImage, text: str) -> CallSite:
    """A call site by its place in available_filter_functions, from 1 on, as trace-cmd writes it."""
    sites = sorted(image.sites, key=lambda site: site.address)
    if len(text) > 9 or not 0 < int(text) <= len(sites):
        raise UsageError(
            f"there is no traceable function of number {text}", f"There are {len(sites)}."
        )
    return sites[int(text) - 1]


def _in_module(image: RunningImage, glob: str) -> Sequence[CallSite]:
    excluded, name = glob.startswith("!"), glob.removeprefix("!")
    # A glob for modules does not match the kernel.
    wanted = {module for module in image.modules if fnmatchcase(module, name or "*")}
    if name and not wanted:
        loaded = ", ".join(image.modules) or "none"
        raise UsageError(
            f"no loaded module matches {name!r}",
            f"Loaded: {loaded}. Load it first: harness record --module, or guest.load_module().",
        )
    return [site for site in image.sites if (image.module_at(site.address) in wanted) != excluded]
