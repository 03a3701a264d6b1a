#!/usr/bin/env python3
# SPDX-License-Identifier: MIT
"""What the suite executes of the reference ports, and what of its checks runs on them.

    .venv/bin/python tools/suite_coverage.py [--missing] CONFIG...

Every check runs on every build of the configs' ports.  QEMU logs the code that it translates, which
it does in front of the first execution of each block.  For each build a line has the port's
instructions that were executed, and all of them.  A line of a port's sources is missing if no build
of any config has executed an instruction of it.

Of the checks the branches are counted, with the package `coverage`.  What has not run there is for
failures, or for what these configs do not have.  ``--missing`` lists lines and branches.
"""

import argparse
import re
import tempfile
from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import coverage

from harness.conformance import checks
from harness.conformance.engine import checks_for, run_checks
from harness.conformance.places import port_file
from harness.conformance.run import BUILDS, Job, jobs_for
from harness.conformance.under_test.build_guest import Variant
from harness.conformance.variants import build_variant, suite_spec
from harness.image import Image, ModuleImage
from harness.kbuild import module_beside

CHECKS = Path(checks.__file__).parent
TRANSLATED = re.compile(rb"^0x([0-9a-f]+):", re.MULTILINE)

Line = tuple[str, str, int]
"""A port, a file of it, and a line."""


def of_port(variant: Variant) -> dict[int, Line]:
    """The lines of the port's instructions in the kernel and in its modules, by address."""
    kernel, name = variant.kernel, variant.spec.port.name
    images = [Image(kernel.read_bytes(), str(kernel))]
    for module in variant.spec.modules:
        file = module_beside(kernel, module.stem)
        images.append(ModuleImage(file.read_bytes(), str(file)))
    found = {}
    for image in images:
        for function in image.functions:
            code = image.read(function.address, function.size)
            for one in image.isa.disassemble(code, function.address):
                line = image.source_line(one.address)
                file_name = None if line is None else port_file(line.file)
                if line is not None and file_name is not None:
                    found[one.address & image.isa.mask] = (name, file_name, line.line)
    return found


def ranges(addresses: dict[int, Line]) -> Iterator[str]:
    """Ranges for QEMU's ``-dfilter`` that have these addresses, with small gaps."""
    start = end = None
    for address in sorted(addresses):
        if end is None or address > end + 0x1000:
            if start is not None:
                yield f"{start:#x}..{end:#x}"
            start = address
        end = address
    yield f"{start:#x}..{end:#x}"


def executed(job: Job, directory: Path) -> tuple[set[int], dict[int, Line]]:
    """The port's instructions that all checks of a build have executed, and all of them."""
    built = build_variant(job.spec, job.variant)
    every = of_port(built)
    config = built.spec.config
    log = ("-d", "in_asm", "-dfilter", ",".join(ranges(every)), "-D", str(directory / "log-%d"))
    qemu = config.qemu.model_copy(update={"arguments": (*config.qemu.arguments, *log)})
    spec = replace(built.spec, config=config.model_copy(update={"qemu": qemu}))
    chosen = checks_for(job.spec.effective_config, job.variant, job.spec.features, job.clauses)
    found = run_checks(replace(built, spec=spec), chosen)
    for clause, failures in found.failures.items():
        print(f"! {clause} fails: {failures[0].message}", flush=True)
    ran: set[int] = set()
    for file in directory.iterdir():
        ran |= {int(address, 16) for address in TRANSLATED.findall(file.read_bytes())}
    return every.keys() & ran, every


def branches(measured: coverage.Coverage, missing: bool) -> None:
    """Print how many branches of the checks have been taken, and where the others are."""
    taken = possible = 0
    lines = []
    for file in sorted(CHECKS.glob("*_*.py")):
        statistics = measured.branch_stats(str(file))
        possible += sum(every for every, _ in statistics.values())
        taken += sum(some for _, some in statistics.values())
        lines += [
            f"{file.name}:{at}" for at, (every, some) in sorted(statistics.items()) if some < every
        ]
    print(f"branches of the checks: {taken} of {possible}")
    if missing:
        print(*lines, sep="\n")


def main() -> None:
    """Run the suite on the configs, and print what was executed."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("configs", nargs="+", metavar="CONFIG")
    options = parser.parse_args()
    lines: dict[bool, set[Line]] = defaultdict(set)
    measured = coverage.Coverage(data_file=None, branch=True, include=[f"{CHECKS}/*"])
    for config in options.configs:
        for job in jobs_for(suite_spec(config), ()):
            if job.variant == BUILDS:
                continue
            with tempfile.TemporaryDirectory() as directory, measured.collect():
                ran, every = executed(job, Path(directory))
            print(f"{config} {job.variant}: {len(ran)} of {len(every)} instructions", flush=True)
            for address, line in every.items():
                lines[address in ran].add(line)
    never = sorted(lines[False] - lines[True])
    print(f"lines of the ports: {len(lines[True])} of {len(lines[True]) + len(never)}")
    if options.missing:
        print(*(f"{port}/{file}:{at}" for port, file, at in never), sep="\n")
    branches(measured, options.missing)


if __name__ == "__main__":
    main()
