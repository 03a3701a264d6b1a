# SPDX-License-Identifier: MIT
"""``python tools/documents``: make docs/clauses.rst and docs/support.rst of this source tree."""

from pathlib import Path

from clauses_page import clauses_page
from support_page import support_page

DOCS = Path(__file__).resolve().parents[2] / "docs"


def main() -> None:
    """Write the pages."""
    for name, text in (("clauses.rst", clauses_page()), ("support.rst", support_page())):
        (DOCS / name).write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
