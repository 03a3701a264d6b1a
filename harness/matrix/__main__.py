# SPDX-License-Identifier: MIT
"""One cell: ``python -m harness.matrix CELL.json DIRECTORY``; exit status as of a command."""

import sys
from pathlib import Path

from harness.errors import HarnessError, HostError
from harness.matrix.cells import Cell
from harness.matrix.result import TEXT, CellFindings, CellVerdict, read_json, write_findings
from harness.matrix.work import do_cell
from harness.units import escape


def main(file: Path, directory: Path) -> int:
    """Run the cell; errors go to standard output, and their message to the findings."""
    try:
        return 0 if do_cell(Cell.from_json(read_json(file)), directory) else 1
    except HarnessError as error:
        print(escape(str(error), 64 * 1024), flush=True)
        # A UsageError here is a build that fails, not a wrong command line.
        verdict = "error" if isinstance(error, HostError) else "fail"
        first = escape(" ".join(error.message.split()), TEXT)
        write_findings(directory, CellFindings((CellVerdict("end", verdict, first),)))
        return error.exit_status if isinstance(error, HostError) else 1
    except OSError as error:
        print(escape(f"{type(error).__name__}: {error}"), flush=True)
        return HostError.exit_status


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1]), Path(sys.argv[2])))
