# SPDX-License-Identifier: MIT
"""A later result than that of the drafts, and what a comparison of results says."""

from dataclasses import replace

from matrix_drafts import RESULT

NOW = replace(RESULT, id="b1", run="r2", revision="2222", started=2000.0)
QUIET = ("broke", "mended", "flaky", "failing", "slower", "faster", "unjudged", "missing", "new")


def said(found):
    """The lists that are not empty, and in them who it is about."""
    return {
        name: [f"{one.name or 'cell'}" if hasattr(one, "name") else one for one in entries]
        for name in QUIET
        if (entries := getattr(found, name))
    }


NEW_GCC = {"gcc": "gcc 13"}

EVIL = "<script>alert(`1`)</script> | *x* \x1b[31m\n# head ]]> \x00 \ud800"
