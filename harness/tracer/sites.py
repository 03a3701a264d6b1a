# SPDX-License-Identifier: MIT
"""What the call sites of a stopped live guest hold now."""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from harness.isa import MCOUNT, CallSite, Isa, SiteState
from harness.patcher import Patch, PatchPlan, Text


@dataclass(frozen=True, slots=True)
class SiteNow:
    """A call site, the words that the guest's memory holds there, and what they do.

    ``words`` are as many as the compiler wrote, as numbers; the first stands at ``site.address``.
    """

    site: CallSite
    words: tuple[int, ...]
    state: SiteState


def read_sites(
    isa: Isa, symbols: Mapping[str, int], sites: Iterable[CallSite], text: Text
) -> Iterator[SiteNow]:
    """Each site as it is now, by address.

    BOOT is a call of ``_mcount``; where ``ftrace_caller`` is the same address the state is CALL.
    A guest without ``ftrace_caller`` is a static one, whose sites stay as they were built.
    """
    by_address = {site.address: site for site in sites}
    # Patches that change nothing: what a plan reads together for them may as well be read here.
    words = {address: isa.words_to_bytes(site.as_built) for address, site in by_address.items()}
    plan = PatchPlan(Patch(address, old, old, "a site") for address, old in words.items())
    mcount = symbols.get(MCOUNT, 0)
    caller = symbols.get("ftrace_caller")
    for span in plan.spans():
        memory = text.dump_memory(span.address, span.size)
        for patch in span.patches:
            site, found = by_address[patch.address], isa.bytes_to_words(span.found(memory, patch))
            if caller is not None:
                state = isa.site_state(site, found, mcount, caller)
            else:
                state = SiteState.BOOT if found == site.as_built else SiteState.UNKNOWN
            yield SiteNow(site, found, state)
