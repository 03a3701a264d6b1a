# SPDX-License-Identifier: MIT
"""Stubs written otherwise that do the same: what the suite must not complain of."""

from harness.kbuild import plan_build
from harness.mutation.assembly import Statement, render, statements
from harness.mutation.kill_table import syntax_of
from harness.mutation.operators import faults

LANDING_PAD = "hint #34"


def rewritten(spec):
    """The assembly of a guest's port with all changes at once that are proved to change nothing.

    Instructions have changed places or stand there twice, and a nop is in front of each where there
    may be one.  Gives the files' texts by their paths.
    """
    syntax = syntax_of(spec)
    files = plan_build(spec).preprocess()
    return {
        name: render(list(_padded(_changed(statements(text), syntax), syntax)))
        for name, text in files.items()
    }


def _changed(found, syntax):
    proved = {(one.at, one.name.rsplit("/")[-1]) for one in faults(found, syntax) if one.equivalent}
    changed = []
    at = 0
    while at < len(found):
        if (at, "swap") in proved:
            changed += [found[at + 1], found[at]]
            at += 2
            continue
        changed += [found[at]] * (2 if (at, "double") in proved else 1)
        at += 1
    return changed


def _padded(found, syntax):
    before = Statement("", "")
    held = False
    for one in found:
        if one.is_instruction:
            # Behind a label a nop is a slot, a jump is a gate, and a landing pad has to be first.
            delays = syntax.delays(one.text)
            named = before.is_label and (one.text in ("nop", LANDING_PAD) or delays)
            if not held and not named:
                # Two of them look like a call site where a function begins.
                begins = before.is_label or before.text == LANDING_PAD
                yield from [Statement("nop", one.function)] * (2 if begins else 1)
            slot = named and one.text == "nop"
            held = syntax.jumps_delay if slot else syntax.delays(one.text)
        if one.is_instruction or one.is_label:
            before = one
        yield one
