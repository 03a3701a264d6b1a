# SPDX-License-Identifier: MIT
"""Lines of the sources between instructions."""

import posixpath

from harness.image import Image, SourceLine
from harness.kbuild import GuestSources


class SourceListing:
    """The lines of the sources that instructions come from, each when it changes."""

    def __init__(self, image: Image, sources: GuestSources) -> None:
        self._image = image
        self._sources = sources
        self._last: SourceLine | None = None

    def before(self, address: int) -> str:
        """The line that the instruction at ``address`` begins; empty if it is still the last one.

        It is ``mcount.S:12`` and the text, without the text if the file is not there.
        """
        line = self._image.source_line(address)
        if line is None or line == self._last:
            return ""
        self._last = line
        text = self._sources.at(line)
        return f"{posixpath.basename(line.file)}:{line.line}  {text}".rstrip()
