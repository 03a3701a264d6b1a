#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""Judge the reference ports several times, and report all differences from the first time.

    .venv/bin/python tools/false_alarms.py --runs 20 [-o DIRECTORY] [CONFIG...]

Every config is judged `--runs` times by `harness conform`, all of them once, then all of them
again; without names these are all configs.  A reference port breaks nothing: each failure is a
false alarm.  A verdict, and the checks of it, must be the same each time.  A line for each failure
or difference says the config, the number of the run and the clause.  The exit status is 1 if there
is any.

With `-o` the whole report of such a run is kept as CONFIG-RUN.json, for the next one may not fail
again; and `runs.json` is what was judged.  The same command goes on behind it after an
interruption, but only with the same harness, guests and configs: a run of others proves nothing.
"""

import argparse
import sys
import tempfile
from pathlib import Path
from typing import Any

from harness.config import list_configs
from harness.matrix.result import read_json, write_json
from harness.matrix.versions import git
from harness_command import harness, only_report

ROOT = Path(__file__).parents[1]

JUDGED = ("harness", "guests", "qemu-configs")
"""The directories that a verdict depends on."""

SAME = ("verdict", "reason", "checks")
"""What each run says of a clause as the first one did."""

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
            for key in SAME
            if now.get(key) != before.get(key)
        ]
    return told


class Runs:
    """What was judged so far: for each config the first verdicts, and the alarms of each run."""

    def __init__(self, file: Path, version: str) -> None:
        """Read the file if it is there; exits if it is of another version."""
        self.file = file
        self.version = version
        self.configs: dict[str, dict[str, Any]] = {}
        if file.exists():
            kept = read_json(file)
            if kept["version"] != version:
                sys.exit(f"{file}: runs of {kept['version']}, not of {version}: choose another -o")
            self.configs = kept["configs"]

    def of(self, config: str) -> list[list[str]]:
        """The alarms of each run of a config so far."""
        return self.configs[config]["runs"] if config in self.configs else []

    def add(self, config: str, clauses: Clauses) -> list[str]:
        """Keep one run's verdicts, and return its alarms."""
        said = {name: {key: one.get(key) for key in SAME} for name, one in clauses.items()}
        kept = self.configs.setdefault(config, {"first": said, "runs": []})
        told = alarms(clauses, kept["first"])
        kept["runs"].append(told)
        write_json(self.file, {"version": self.version, "configs": self.configs})
        return told


def version() -> str:
    """The contents of the directories that are judged, by git; exits if one has changes."""
    if git(ROOT, "status", "--porcelain", "--", *JUDGED):
        sys.exit(f"{ROOT}: {', '.join(JUDGED)}: commit the changes first")
    return " ".join(git(ROOT, "rev-parse", "--short", f"HEAD:{name}").strip() for name in JUDGED)


def main() -> None:
    """Run the requested number of times."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--runs", type=int, default=20)
    parser.add_argument("-o", dest="directory", type=Path, help="keep runs and reports; go on")
    parser.add_argument("configs", nargs="*", metavar="CONFIG")
    options = parser.parse_args()
    configs = options.configs or list_configs()
    with tempfile.TemporaryDirectory() as scratch:
        kept = options.directory or Path(scratch)
        kept.mkdir(parents=True, exist_ok=True)
        runs = Runs(kept / "runs.json", version() if options.directory else "")
        for run in range(1, options.runs + 1):
            for config in configs:
                if len(runs.of(config)) >= run:
                    continue
                report = kept / f"{config}-{run}.json"
                told = runs.add(config, judged(config, report))
                for line in told:
                    print(f"{config}, run {run}: {line}", flush=True)
                if not told:
                    report.unlink()
            print(f"{run} runs of each", flush=True)
        number = sum(len(told) for config in configs for told in runs.of(config))
    print(f"{number} false alarms and differences")
    sys.exit(bool(number))


if __name__ == "__main__":
    main()
