# SPDX-License-Identifier: MIT
"""``python -m harness.conformance``: make what is made from the catalogue and the tests' markers.

Writes harness/conformance/coverage.toml, docs/clauses.rst and docs/support.rst of the source tree
that it runs from.
"""

import sys
from pathlib import Path

from harness.conformance.catalogue import load_catalogue
from harness.conformance.coverage import COVERAGE_FILE, dump_checks
from harness.conformance.markers import collect
from harness.conformance.page import render
from harness.conformance.support import render_support
from harness.errors import HarnessError, UsageError

ROOT = Path(__file__).resolve().parents[2]


def main() -> int:
    """Write the files; the exit status."""
    try:
        if not (ROOT / "tests").is_dir():
            raise UsageError(f"{ROOT} has no tests.", "Run this from a source tree.")
        checks = collect(ROOT / "tests")
    except HarnessError as error:
        print(error, file=sys.stderr)
        return error.exit_status
    COVERAGE_FILE.write_text(dump_checks(checks), encoding="utf-8")
    catalogue = load_catalogue()
    pages = {"clauses.rst": render(catalogue), "support.rst": render_support(catalogue, checks)}
    for name, text in pages.items():
        (ROOT / "docs" / name).write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
