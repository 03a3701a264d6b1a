# SPDX-License-Identifier: MIT
"""What a source includes, without the preprocessor.

The dependency files of the compiler (``-MMD``) would say it exactly, but only when it has compiled:
the key of a guest has to be known before, at each start of one, and a header that comes to be where
another one was found is in no such file.  make, which compiles, goes by them.
"""

import re
from collections.abc import Iterator

_INCLUDE = re.compile(
    rb"^[ \t]*(?:#[ \t]*(?:include|include_next|import)\b[ \t]*|\.incbin[ \t]*)"
    rb'(?:["<]([^">\n]+)[">]|(\S))?',
    re.MULTILINE,
)


def included(source: bytes) -> Iterator[bytes | None]:
    """The names that C or assembly includes, as they are written; None where one is a macro.

    Those on both sides of an ``#if`` are among them, and those in comments.
    """
    for match in _INCLUDE.finditer(source):
        if match[1]:
            yield match[1]
        elif match[2]:
            yield None
