#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judge mutants with the whole suite, and compare the findings with the faults.

    .venv/bin/python tools/mutants_in_full.py -c mips-malta -o DIRECTORY [GLOB...]
    .venv/bin/python tools/mutants_in_full.py -c mips-malta -o DIRECTORY --generated 50 --seed 1

`harness conform --mutant` ends with the first failure of a mutant.  This judges each as a port of
its own: those written by hand, or as many generated ones, drawn at random from the faults in C and
from lines of assembly that are a nop instead, there twice or exchanged with the next one.

A line for each says whether the first finding is for a clause that the fault breaks, how
many findings there are, and how far the place is from the edit; findings after the first follow.
The last lines are the sums.  Reports stay in the directory, and are not made again.  The exit
status is 1 if a mutant has no finding, or the first one is for another clause.
"""

import argparse
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from drawn_faults import drawn
from harness.config import MachineConfig, Port, load_config, load_port
from harness.mutation.mutants import load
from harness_command import HarnessFailed, harness, only_report
from score_of_findings import Planted, Score, score, show, table

LIMIT = 600.0
"""Seconds for the judgement of one mutant."""


def written(config: MachineConfig, port: Port, globs: list[str]) -> Iterator[Planted]:
    """The mutants written by hand with such names."""
    for mutant in load(port.name).mutants:
        if mutant.applies_to(config) and any(Path(mutant.id).match(glob) for glob in globs):
            yield Planted(mutant.id, mutant.clauses, mutant.edits(port))


def judge(planted: Planted, config: MachineConfig, port: Port, report: Path) -> dict[str, Any]:
    """The report of a port that has this fault."""
    if not report.exists():
        with tempfile.TemporaryDirectory() as directory:
            changed = planted.plant(port, Path(directory))
            on_port = ("conform", "-c", config.name, "--port", changed)
            harness(*on_port, "--json", report, timeout=LIMIT)
    return only_report(report)


def sums(scores: list[Score]) -> Iterator[str]:
    """How many of the first findings are right, and in what."""
    for sentence, number in (
        ("have the right clause first", sum(found.right for found in scores)),
        ("have exactly one finding", sum(len(found.findings) == 1 for found in scores)),
        ("have the right function", sum(found.in_function for found in scores)),
    ):
        yield f"  {number} {sentence}"
    ones = [found for found in scores if found.one_line]
    yield f"{len(ones)} of the faults are one line"
    for sentence, number in (
        ("are in the line", sum(found.lines == 0 for found in ones)),
        (
            "are in the line, in one that calls it, or in a macro",
            sum(found.by_call for found in ones),
        ),
        (
            "are in one of these, or in the line beside one",
            sum(found.by_call or found.beside for found in ones),
        ),
    ):
        yield f"  {number} {sentence}"


def main() -> None:
    """Judge the chosen mutants, and print the table."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawTextHelpFormatter
    )
    parser.add_argument("-c", dest="config", required=True)
    parser.add_argument("-o", dest="directory", type=Path, required=True)
    parser.add_argument("--table", action="store_true", help="end with a table for a document")
    parser.add_argument("--generated", type=int, metavar="N", help="N generated ones")
    parser.add_argument("--seed", type=int, default=1, help="of those that are drawn")
    parser.add_argument("globs", nargs="*", default=["*"])
    options = parser.parse_intermixed_args()
    options.directory.mkdir(parents=True, exist_ok=True)
    config = load_config(options.config)
    port = load_port(config.port)
    scores: list[Score] = []
    unjudged: list[str] = []
    for planted in (
        written(config, port, options.globs)
        if options.generated is None
        else drawn(config, port, options.generated, options.seed)
    ):
        report = options.directory / f"{config.name}-{planted.name.replace('/', '-')}.json"
        try:
            findings = judge(planted, config, port, report)["findings"]
        except HarnessFailed as error:
            # Its port does not build.
            unjudged.append(planted.name)
            print(f"{planted.name:44} {error}", flush=True)
            continue
        scores.append(score(planted, port, findings))
        show(scores[-1])
    print(f"{len(scores)} mutants on {config.name}, {len(unjudged)} not judged")
    print(*sums(scores), sep="\n")
    if options.table:
        print(*table(scores), sep="\n")
    sys.exit(bool(unjudged) or not all(found.right for found in scores))


if __name__ == "__main__":
    main()
