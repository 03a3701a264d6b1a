# SPDX-License-Identifier: MIT
"""``python -m harness.image.recordmcount ELF -o FILE.S``, a step of the guests' Makefile."""

import argparse
import sys
from pathlib import Path

from harness.errors import HarnessError
from harness.image.recordmcount import assembly, recordmcount


def main(arguments: list[str] | None = None) -> int:
    """Write the table of call sites of an ELF file as assembler; exit status 0, or 2 on error."""
    parser = argparse.ArgumentParser(prog="recordmcount", description=__doc__)
    parser.add_argument("elf", type=Path, metavar="ELF", help="final link with --emit-relocs")
    parser.add_argument("-o", dest="output", type=Path, required=True, metavar="FILE.S")
    parser.add_argument("-v", dest="verbose", action="store_true", help="say all that is ignored")
    options = parser.parse_args(arguments)
    try:
        records = recordmcount(options.elf.read_bytes(), str(options.elf))
        # Without the directory, for reproducible builds.
        write(options.output, assembly(records, options.elf.name))
    except HarnessError as error:
        print(f"recordmcount: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"recordmcount: {error.filename}: {error.strerror}", file=sys.stderr)
        return 2
    for address, reason in records.ignored:
        if options.verbose or address in records.suspicious:
            message = f"{options.elf}: 0x{address:x} is no call site: {reason}"
            print(f"recordmcount: {message}", file=sys.stderr)
    return 0


def write(path: Path, text: str) -> None:
    """Write all of ``text`` or remove the file, so that make never finds an incomplete table."""
    try:
        path.write_text(text, encoding="ascii")
    except OSError as error:
        if path.is_file():  # and no device, such as /dev/stdout
            path.unlink()
        error.filename = str(path)
        raise


if __name__ == "__main__":
    sys.exit(main())
