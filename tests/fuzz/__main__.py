# SPDX-License-Identifier: MIT
"""Fuzz everything that reads untrusted input (docs/hostile-input.rst)."""

import argparse
import sys
import time
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "tests" / "unit"), str(ROOT / "tests")]

from tests.fuzz.targets import Target, targets  # noqa: E402
from tests.fuzz.worker import Finding, Sums, fuzz, make_input  # noqa: E402

ROUND = 2000
"""Inputs of a target that one process reads, before it is the turn of the next."""


def main(arguments: list[str]) -> int:
    """Exit status 0 if every input gave a result or one of our errors, else 1."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="all, unless given")
    parser.add_argument("--inputs", type=int, default=1000, help="inputs of each target")
    parser.add_argument("--first", type=int, default=0, help="the number of the first input")
    parser.add_argument("--seed", type=int, default=1, help="another one damages otherwise")
    parser.add_argument("--corpus", type=Path, help="a directory of files to damage too")
    parser.add_argument("--keep", type=Path, help="where inputs go that were found out")
    options = parser.parse_args(arguments)
    with TemporaryDirectory() as directory:
        known = [_with_corpus(one, options.corpus) for one in targets(Path(directory))]
    names = [one.name for one in known]
    if wrong := sorted(set(options.targets) - set(names)):
        parser.error(f"there is no target {wrong[0]!r}; there are: {', '.join(names)}")
    chosen = [one for one in known if not options.targets or one.name in options.targets]
    sums = {one.name: Sums() for one in chosen}
    found: dict[tuple[str, str], int] = {}
    began = time.monotonic()
    for first in range(options.first, options.first + options.inputs, ROUND):
        count = min(ROUND, options.first + options.inputs - first)
        for target in chosen:
            for finding in fuzz(target, options.seed, first, count, sums[target.name]):
                key = finding.target, finding.what
                if key not in found:
                    _tell(target, finding, options.seed, options.keep)
                found[key] = found.get(key, 0) + 1
        print(_line("so far", sums, found, time.monotonic() - began), flush=True)
    for name, one in sums.items():
        print(_line(name, {name: one}, {k: n for k, n in found.items() if k[0] == name}))
    for (name, what), number in sorted(found.items()):
        print(f"{name}: {what}: {number} inputs")
    return 1 if found else 0


def _with_corpus(target: Target, corpus: Path | None) -> Target:
    """The target with the files of a corpus that begin like its inputs."""
    if corpus is None or not target.begins:
        return target
    files = [path.read_bytes() for path in sorted(corpus.iterdir()) if path.is_file()]
    taken = [data for data in files if data.startswith(target.begins)]
    return replace(target, seeds=(*target.seeds, *taken))


def _tell(target: Target, finding: Finding, seed: int, keep: Path | None) -> None:
    print(f"{finding.target}, seed {seed}, input {finding.number}: {finding.what}", flush=True)
    if keep is not None:
        keep.mkdir(parents=True, exist_ok=True)
        data, _ = make_input(target, seed, finding.number)
        (keep / f"{finding.target}-{seed}-{finding.number}").write_bytes(data)


def _line(
    title: str,
    sums: dict[str, Sums],
    found: dict[tuple[str, str], int],
    seconds: float | None = None,
) -> str:
    results = sum(one.results for one in sums.values())
    errors = sum(one.errors for one in sums.values())
    bad = sum(found.values())
    took = "" if seconds is None else f", {seconds:.0f} s"
    inputs = results + errors + bad
    return (
        f"{title}: {inputs} inputs, {results} read, {errors} refused, "
        f"{bad} of {len(found)} kinds that must not be{took}"
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
