# SPDX-License-Identifier: MIT
"""``python tools/documents``: generate the pages of docs/ that are made from the source tree."""

from pathlib import Path

from clauses_page import clauses_page
from kernel_words_page import kernel_words_page
from support_page import support_page

DOCS = Path(__file__).resolve().parents[2] / "docs"


def main() -> None:
    """Write the pages."""
    pages = {
        "clauses.rst": clauses_page(),
        "kernel-words.rst": kernel_words_page(),
        "support.rst": support_page(),
    }
    for name, text in pages.items():
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
