# SPDX-License-Identifier: MIT
"""The includes of a source, without the preprocessor.

The dependency files of the compiler (``-MMD``) are exact, but exist only after it has compiled; the
key of a guest is needed before, at each start, and a new header that hides another one is in no
such file.  make itself uses them.
"""

import re
from collections.abc import Iterator

_INCLUDE = re.compile(
    rb"^[ \t]*(?:#[ \t]*(?:include|include_next|import)\b[ \t]*|\.incbin[ \t]*)"
    rb'(?:["<]([^">\n]+)[">]|(\S))?',
    re.MULTILINE,
)


def included(source: bytes) -> Iterator[bytes | None]:
    """The names that C or assembly includes, as written; None if one is a macro.

    Those on both sides of an ``#if``, and in comments, are included.
    """
    for match in _INCLUDE.finditer(source):
        if match[1]:
            yield match[1]
        elif match[2]:
            yield None
