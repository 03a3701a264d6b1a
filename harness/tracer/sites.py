# SPDX-License-Identifier: MIT
"""The current state of the call sites of a stopped live guest."""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.image import RunningImage
from harness.isa import CallSite, SiteState
from harness.patcher import Patch, PatchPlan, Text


@dataclass(frozen=True, slots=True)
class SiteNow:
    """A call site, its current code in guest memory, and its state.

    ``code`` is as long as the compiler's.
    """

    site: CallSite
    code: bytes
    state: SiteState


def read_sites(image: RunningImage, text: Text) -> Iterator[SiteNow]:
    """The current state of each site, by address.

    BOOT is a call of ``_mcount``; if ``ftrace_caller`` has the same address, the state is CALL.  A
    guest without ``ftrace_caller`` is static, and its sites never change.
    """
    dynamic = "ftrace_caller" in image.symbols
    by_address = {site.address: site for site in image.sites}
    # Patches without changes, to use the plan's grouping into transfers.
    built = {address: site.as_built for address, site in by_address.items()}
    plan = PatchPlan(
        Patch(address, old, old, "a site", unit=image.isa.unit) for address, old in built.items()
    )
    for span in plan.spans():
        memory = text.dump_memory(span.address, span.size)
        for patch in span.patches:
            site, found = by_address[patch.address], span.found(memory, patch)
            yield SiteNow(site, found, _state(image, site, found, dynamic))


def _state(image: RunningImage, site: CallSite, code: bytes, dynamic: bool) -> SiteState:
    if not dynamic:
        return SiteState.BOOT if code == site.as_built else SiteState.UNKNOWN
    sites = image.isa.sites
    # The rest, such as that of a long call, is the same in every state.
    changing = len(sites.code_for(site, SiteState.NOP, 0))
    if code[changing:] != site.as_built[changing:]:
        return SiteState.UNKNOWN
    caller = image.target_of(site, "ftrace_caller")
    # Without _mcount no site was built as a call of it.
    mcount = image.target_of(site, sites.mcount) if sites.mcount in image.symbols else 0
    return sites.state(site, code, mcount, caller)
