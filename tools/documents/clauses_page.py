# SPDX-License-Identifier: MIT
"""docs/clauses.rst: the catalogue as a page."""

import re
from collections.abc import Iterable, Iterator
from textwrap import fill, indent

from harness.conformance.catalogue import Catalogue, Clause, Judge, load_catalogue
from harness.isa import Form, Property

HEAD = """\
.. SPDX-License-Identifier: MIT
.. Made by `python tools/documents` from harness/conformance/clauses.toml; do not edit.

=======
Clauses
=======

What a port of ftrace has to do, one requirement an entry. The specification is the documents that
the chapters are named after; this page paraphrases them. An id is the subject's,
{subjects}, with a letter for each requirement. Ids stay: verdicts and mutants name
them.

``harness list clauses`` lists them all. With ``-c CONFIG`` it lists those that apply to a machine
config, and says of each whether ``harness conform`` judges it there:

================  ================================================================================
covered           meaning
================  ================================================================================
yes               a check of the suite judges it
no                none does
not claimed       the port of the config does not have what it is about
not observable    nothing can be seen of it from outside on this config
================  ================================================================================

Entries
=======

An entry says what a port must do, and then:

needs, one of, not with
    The words of ``port.toml`` without which the entry asks nothing of a port; those of which it has
    to have one; and those with which it is asked nothing.
build
    ``static``, ``dynamic`` or both, where each has to hold; ``any`` where that makes no difference.
sites, architectures, flags
    Forms of call sites, architectures and compiler flags that the entry is confined to; all where
    it does not say. An entry about sites of modules alone applies to every config.
where
    What a machine has that the entry is about, or what keeps one from seeing it:

{properties}
seen by
    Who judges it, and what is looked at:

"""

JUDGES = {
    Judge.REGISTERS: "registers before and after, compared in full for each way through the code",
    Judge.STACK: "the stack pointer, its alignment, and canaries around the frames",
    Judge.SITES: "the table of call sites against an independent disassembly",
    Judge.TEXT: "all text before and after, byte by byte",
    Judge.DECODE: "a decoder of instructions that is not the harness's own",
    Judge.ORACLE: "what QEMU itself saw executed: calls, returns, counts of instructions",
    Judge.ORDER: "steps done in every order, from one snapshot",
    Judge.INTERRUPTS: "interrupts at, and CPUs parked on, each instruction",
    Judge.MAINTENANCE: "a log of stores to text and of cache maintenance",
    Judge.BREAKPOINT: "arguments, results and memory where gdb stops the guest",
    Judge.BUILDS: "a matrix of guests that must compile, link and boot",
}


def clauses_page(catalogue: Catalogue | None = None) -> str:
    """The page as reStructuredText; the harness's own catalogue unless given."""
    return "\n".join(_lines(catalogue or load_catalogue())) + "\n"


PROPERTIES = {
    Property.SIGNED_RETURNS: "functions sign the return address and authenticate it (PAC)",
    Property.LANDING_PADS: "indirect branches must land on instructions made for it (BTI)",
    Property.FAR_MODULES: "a module may lie beyond the reach of a call of the kernel",
    Property.FRAME_RECORDS: "a frame pointer is kept without being asked for",
    Property.HIDDEN_RETURNS: "only its prologue tells where a function has its return address",
    Property.UNMAPPED_TEXT: "page tables do not map the kernel's text",
    Property.LOCAL_FETCH: "a CPU maintains instruction fetch for itself alone",
    Property.COHERENT_FETCH: "fetches see stores to text without instruction cache maintenance",
    Property.NO_NMI: "nothing raises an NMI in a kernel that runs",
}


def _lines(catalogue: Catalogue) -> Iterator[str]:
    properties = "\n".join(f"    - ``{name}``: {text}" for name, text in PROPERTIES.items())
    yield HEAD.format(subjects=_subjects(catalogue), properties=properties) + "\n".join(
        f"    - ``{judge}``: {text}" for judge, text in JUDGES.items()
    )
    for document in catalogue.document:
        yield from ("", document.title, "=" * len(document.title))
        for section in document.sections:
            yield from ("", section, "-" * len(section))
            for clause in catalogue.clause:
                if (clause.source, clause.section) == (document.key, section):
                    yield from ("", *_entry(clause))


def _subjects(catalogue: Catalogue) -> str:
    """The first and the last subject of each letter."""
    numbers: dict[str, list[int]] = {}
    for clause in catalogue.clause:
        numbers.setdefault(clause.stem[0], []).append(int(clause.stem[1:]))
    return " and ".join(
        f"{letter}{min(of)} to {letter}{max(of)}" for letter, of in sorted(numbers.items())
    )


def _entry(clause: Clause) -> Iterator[str]:
    yield f"**{clause.id}** {escaped(clause.title)}"
    advised = " Advised, not required." if clause.advised else ""
    yield _paragraph(escaped(clause.requires) + advised)
    facts = [f"Needs {_codes(clause.features)}", f"build {_codes(clause.builds)}"]
    if clause.either:
        facts.insert(len(facts) - 1, f"one of {_codes(clause.either)}")
    if clause.without:
        facts.insert(len(facts) - 1, f"not with {_codes(clause.without)}")
    if set(clause.forms) != set(Form):
        facts.append(f"sites {_codes(clause.forms)}")
    if clause.architectures:
        facts.append(f"architectures {_codes(clause.architectures)}")
    if clause.cflags:
        facts.append(f"flags {_codes(clause.cflags)}")
    if clause.properties:
        facts.append(f"where {_codes(clause.properties)}")
    yield ""
    yield _paragraph("; ".join(facts) + ".")
    if clause.observed:
        yield ""
        yield _paragraph(f"Seen by {_codes(clause.judges)}. {escaped(clause.observed)}")
    for pattern, reason in clause.not_observable.items():
        where = "" if pattern == "*" else f" where {_codes([pattern])}"
        yield ""
        yield _paragraph(f"Not observable{where}: {escaped(reason)}.")


def _codes(words: Iterable[str]) -> str:
    return ", ".join(f"``{word}``" for word in words)


def escaped(text: str) -> str:
    """Code stands between single backquotes in the catalogue; nothing else in it is markup."""
    return re.sub(r"[*|\\]|_(?!\w)", r"\\\g<0>", text).replace("`", "``")


def _paragraph(text: str) -> str:
    return indent(fill(text, 96, break_on_hyphens=False, break_long_words=False), "    ")
