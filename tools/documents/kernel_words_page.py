# SPDX-License-Identifier: MIT
"""docs/kernel-words.rst: what the words of ``[kernel]`` in ``port.toml`` exclude."""

from collections.abc import Iterator
from textwrap import fill

from clauses_page import escaped
from harness.conformance.kernel_words import WORDS, KernelWord

HEAD = """\
.. SPDX-License-Identifier: MIT
.. Made by `python tools/documents` from harness/conformance/kernel_words.py; do not edit.

============================
What a port's kernel is like
============================

A port is written for a kernel, and need not support what that kernel rules out. The table
``[kernel]`` of ``port.toml`` lists it, with Kconfig's names where they exist::

    [kernel]
    nested_functions = false
    FRAME_WARN = 2048
    call_target = "ftrace_caller"

Without a word nothing is ruled out; the ports in ``guests/ports`` have none. ``harness port
import`` writes the words of a Linux tree, each with the line that it is derived from.

The workload, the modules and the checks of ``harness conform`` respect these words, and the report
names them: an *excused* clause is ``not claimed``, with the word as the reason; a *narrowed* clause
is judged by what is left of it, and its line has the word too. If nothing is left of it, it is
``not claimed``.
"""


def kernel_words_page() -> str:
    """The page as reStructuredText."""
    return "\n".join([HEAD, *(line for word in WORDS for line in _entry(word))])


def _entry(word: KernelWord) -> Iterator[str]:
    title = f"{word.key} = {word.value}"
    yield from (title, "=" * len(title), "", _text(escaped(word.left_out)), "")
    for verb, clauses in (("Excuses", word.excuses), ("Narrows", word.narrows)):
        if clauses:
            yield from (_text(f"{verb} {', '.join(clauses)}."), "")


def _text(text: str) -> str:
    return fill(text, 100, break_on_hyphens=False, break_long_words=False)
