#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judge the reference ports several times, and report all differences from the first time.

    .venv/bin/python tools/false_alarms.py --runs 20 [-o DIRECTORY] [CONFIG...]

Every config is judged `--runs` times by `harness conform`; without names these are all configs.  A
reference port breaks nothing: each failure is a false alarm.  A verdict, and the checks of it,
must be the same each time.  A line for each failure or difference says the config, the
number of the run and the clause.  The exit status is 1 if there is any.  With `-o` the whole
report of such a run is kept as CONFIG-RUN.json: the next one may not fail again.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness.config import list_configs
from harness_command import harness, only_report

Clauses = dict[str, dict[str, Any]]


def judged(config: str, report: Path) -> Clauses:
    """The clauses of one run, by their ids."""
    harness("conform", "-c", config, "--json", report, quiet=True)
    return {clause["clause"]: clause for clause in only_report(report)["clauses"]}


def alarms(clauses: Clauses, first: Clauses) -> list[str]:
    """The failures of a run, and its differences from the first one."""
    told = [
        f"{name}: {failure['check']} ({failure['build']}): {failure['message']}"
        for name, clause in clauses.items()
        for failure in clause["failures"]
    ]
    for name in sorted(clauses.keys() | first.keys()):
        now, before = clauses.get(name, {}), first.get(name, {})
        told += [
            f"{name}: {key} was {before.get(key)}, and is {now.get(key)}"
            for key in ("verdict", "reason", "checks")
            if now.get(key) != before.get(key)
        ]
    return told


def alarms_of(config: str, runs: int, directory: Path) -> int:
    """Judge a config several times; print the alarms, and return their number."""
    first: Clauses | None = None
    number = 0
    for run in range(1, runs + 1):
        report = directory / f"{config}-{run}.json"
        clauses = judged(config, report)
        first = clauses if first is None else first
        told = alarms(clauses, first)
        number += len(told)
        for line in told:
            print(f"{config}, run {run}: {line}", flush=True)
        if not told:
            report.unlink()
    print(f"{config}: {runs} runs", flush=True)
    return number


def main() -> None:
    """Run the requested number of times."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("-o", dest="directory", type=Path, help="keep the reports with alarms")
    parser.add_argument("configs", nargs="*", metavar="CONFIG")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        kept = options.directory or Path(scratch)
        kept.mkdir(parents=True, exist_ok=True)
        number = sum(
            alarms_of(config, options.runs, kept) for config in options.configs or list_configs()
        )
    print(f"{number} false alarms and differences")
    sys.exit(bool(number))


if __name__ == "__main__":
    main()
