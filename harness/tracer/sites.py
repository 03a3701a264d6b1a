# SPDX-License-Identifier: MIT
"""What the call sites of a stopped live guest hold now."""

from collections.abc import Iterator
from dataclasses import dataclass

from harness.image import RunningImage
from harness.isa import MCOUNT, CallSite, Form, SiteState
from harness.patcher import Patch, PatchPlan, Text


@dataclass(frozen=True, slots=True)
class SiteNow:
    """A call site, the words that the guest's memory holds there, and what they do.

    ``words`` are as many as the compiler wrote, as numbers; the first stands at ``site.address``.
    """

    site: CallSite
    words: tuple[int, ...]
    state: SiteState


def read_sites(image: RunningImage, text: Text) -> Iterator[SiteNow]:
    """Each site as it is now, by address.

    BOOT is a call of ``_mcount``; where ``ftrace_caller`` is the same address the state is CALL.
    A guest without ``ftrace_caller`` is a static one, whose sites stay as they were built.
    """
    isa, dynamic = image.isa, "ftrace_caller" in image.symbols
    by_address = {site.address: site for site in image.sites}
    # Patches that change nothing: what a plan reads together for them may as well be read here.
    words = {address: isa.words_to_bytes(site.as_built) for address, site in by_address.items()}
    plan = PatchPlan(Patch(address, old, old, "a site") for address, old in words.items())
    for span in plan.spans():
        memory = text.dump_memory(span.address, span.size)
        for patch in span.patches:
            site, found = by_address[patch.address], isa.bytes_to_words(span.found(memory, patch))
            yield SiteNow(site, found, _state(image, site, found, dynamic))


def _state(image: RunningImage, site: CallSite, words: tuple[int, ...], dynamic: bool) -> SiteState:
    if not dynamic:
        return SiteState.BOOT if words == site.as_built else SiteState.UNKNOWN
    # Of a long call the first word changes; the others must be what they were.
    if site.form is Form.LONG_CALL and words[1:] != site.as_built[1:]:
        return SiteState.UNKNOWN
    mcount, caller = (image.target_of(site, name) for name in (MCOUNT, "ftrace_caller"))
    return image.isa.site_state(site, words, mcount, caller)
