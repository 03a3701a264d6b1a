#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Undo fixes of Linux's ports, one at a time, and see whether the suite finds each.

    .venv/bin/python tools/undone_fixes.py LINUX-6.1-TREE -o DIRECTORY [GLOB...]

The ports are imported from the tree as they are (`harness port import`), and judged; what fails
then is expected afterwards (`--write-expect`, `--expect`).  Each bug of tools/undone_fixes.toml is
then made in a copy and judged on its config.  A line for each says which findings of required
clauses are new, and whether the first one is for a clause that the bug breaks.  Reports stay in the
directory, and are not made again.  The exit status is 1 if a bug was not found.
"""

import argparse
import shutil
import sys
import tomllib
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

from harness_command import harness, only_report

FIXES = Path(__file__).with_suffix(".toml")


def port_of(tree: Path, arch: str, directory: Path) -> Path:
    """The port of an architecture, as Linux has it."""
    port = directory / f"port-{arch}"
    if not port.exists():
        harness("port", "import", tree, "--arch", arch, "-o", port)
    return port


def known_failures(port: Path, config: str, directory: Path) -> Path:
    """What fails on a config without any change."""
    file = directory / f"{config}.expect.toml"
    if not file.exists():
        report = directory / f"{config}.json"
        harness("conform", "-c", config, "--port", port, "--write-expect", file, "--json", report)
    return file


def judge(fix: dict[str, Any], config: str, port: Path, directory: Path) -> dict[str, Any]:
    """The report of a port with one fix undone."""
    report = directory / f"{fix['id']}-{config}.json"
    if not report.exists():
        # Expectations name the port, and its directory is its name.
        changed = directory / fix["id"] / port.name
        if changed.exists():
            shutil.rmtree(changed)
        shutil.copytree(port, changed)
        file = changed / fix["file"]
        text = file.read_text()
        count = fix.get("count", 1)
        if text.count(fix["old"]) != count:
            sys.exit(f"{fix['id']}: {fix['file']} has the text {text.count(fix['old'])} times")
        file.write_text(text.replace(fix["old"], fix["new"]))
        expected = known_failures(port, config, directory)
        harness("conform", "-c", config, "--port", changed, "--expect", expected, "--json", report)
    return only_report(report)


def main() -> None:
    """Judge the chosen fixes, and print a line for each."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("tree", type=Path)
    parser.add_argument("-o", dest="directory", type=Path, required=True)
    parser.add_argument("globs", nargs="*", default=["*"])
    options = parser.parse_intermixed_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    total = found = right = 0
    for fix in tomllib.loads(FIXES.read_text())["fix"]:
        if not any(fnmatchcase(fix["id"], glob) for glob in options.globs):
            continue
        port = port_of(options.tree, fix["arch"], options.directory)
        for config in fix["configs"]:
            report = judge(fix, config, port, options.directory)
            advised = {clause["clause"] for clause in report["clauses"] if clause["advised"]}
            new = [
                finding
                for finding in report["findings"]
                if not finding["expected"] and finding["clause"] not in advised
            ]
            first = new[0] if new else {}
            total, found = total + 1, found + bool(new)
            right += first.get("clause") in fix["clauses"]
            where = f"{first.get('function') or '-'} {first.get('file')}:{first.get('line')}"
            others = " ".join(finding["clause"] for finding in new[1:])
            columns = f"{fix['id']:34} {config:18} {first.get('clause', 'NOT FOUND'):9}"
            print(f"{columns} {where}  {others}", flush=True)
    print(f"{total} fixes undone: {found} found, {right} with the right clause first")
    sys.exit(found < total)


if __name__ == "__main__":
    main()
