# SPDX-License-Identifier: MIT
"""Templates: those of a room with those that all rooms share."""

import hashlib
import time
from urllib.parse import quote

from jinja2 import ChoiceLoader, Environment, PackageLoader, StrictUndefined

from harness.units import KIB, escape
from harness.version import __version__

LONGEST_NAME = 200
"""Characters of a page's name; file systems take 255 bytes."""

LONGEST = 64 * KIB
"""Characters of a text on a page."""


def environment(*rooms: str) -> Environment:
    """The templates of rooms, such as ``harness.matrix``, and of this one.

    Every text that is put into a template is untrusted: control characters are removed, the
    length is limited, and it is escaped.
    """
    loaders = [PackageLoader(room) for room in (*rooms, "harness.pages")]
    made = Environment(
        loader=ChoiceLoader(loaders),
        autoescape=True,
        undefined=StrictUndefined,
        finalize=_fit,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    made.filters |= {"moment": _moment}
    made.globals["version"] = __version__
    return made


def page_name(name: str) -> str:
    """The file name of the page about something, safe for any name."""
    safe = quote(name, safe="", errors="replace").replace("%2F", "~").replace("%", "_")
    if len(safe) > LONGEST_NAME:
        digest = hashlib.sha256(name.encode("utf-8", "surrogatepass")).hexdigest()
        safe = f"{safe[: LONGEST_NAME - 17]}-{digest[:16]}"
    return f"{safe}.html"


def _fit(value: object) -> object:
    """Untrusted text without control characters; Markup is our own."""
    return escape(value, LONGEST) if type(value) is str else value


def _moment(seconds: float) -> str:
    """Seconds since 1970 as a date and a time, in UTC."""
    return time.strftime("%Y-%m-%d %H:%M", time.gmtime(seconds))
