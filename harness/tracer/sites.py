# SPDX-License-Identifier: MIT
"""What the call sites of a stopped live guest hold now."""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.image import RunningImage
from harness.isa import MCOUNT, CallSite, SiteState
from harness.patcher import Patch, PatchPlan, Text


@dataclass(frozen=True, slots=True)
class SiteNow:
    """A call site, the code that the guest's memory holds there, and what it does.

    ``code`` is as long as what the compiler wrote.
    """

    site: CallSite
    code: bytes
    state: SiteState


def read_sites(image: RunningImage, text: Text) -> Iterator[SiteNow]:
    """Each site as it is now, by address.

    BOOT is a call of ``_mcount``; where ``ftrace_caller`` is the same address the state is CALL.
    A guest without ``ftrace_caller`` is a static one, whose sites stay as they were built.
    """
    dynamic = "ftrace_caller" in image.symbols
    by_address = {site.address: site for site in image.sites}
    # Patches that change nothing: what a plan reads together for them may as well be read here.
    built = {address: site.as_built for address, site in by_address.items()}
    plan = PatchPlan(Patch(address, old, old, "a site") for address, old in built.items())
    for span in plan.spans():
        memory = text.dump_memory(span.address, span.size)
        for patch in span.patches:
            site, found = by_address[patch.address], span.found(memory, patch)
            yield SiteNow(site, found, _state(image, site, found, dynamic))


def _state(image: RunningImage, site: CallSite, code: bytes, dynamic: bool) -> SiteState:
    if not dynamic:
        return SiteState.BOOT if code == site.as_built else SiteState.UNKNOWN
    sites = image.isa.sites
    # What no state changes, as the rest of a long call, must be what it was.
    changing = len(sites.code_for(site, SiteState.NOP, 0))
    if code[changing:] != site.as_built[changing:]:
        return SiteState.UNKNOWN
    mcount, caller = (image.target_of(site, name) for name in (MCOUNT, "ftrace_caller"))
    return sites.state(site, code, mcount, caller)
