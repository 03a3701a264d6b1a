# SPDX-License-Identifier: MIT
"""The machine configs of live tests: some of them, or all with ``--all-configs``; libkshark."""

import shutil
import subprocess
from collections import Counter, defaultdict
from pathlib import Path
from zlib import crc32

import pytest

from harness.config import list_configs, load_config
from harness.isa import Form

SHARE = 5
"""A config has every fifth of the tests with `every_config`, the next config the next ones."""

ARCHITECTURES = 2
"""So many have their share of a test file, and others of the next one."""

LISTED = 3
"""So many configs are not a choice from all of them: the test names each for a reason."""

MARKERS = [
    "every_config: each machine config runs a share of these tests",
    "builds: each case is run on one config, for it builds a guest of its own",
    # Where several CPUs run, the oracle counts whole blocks (`Oracle.instructions`): only one CPU's
    # count is exact to the instruction when something ends a block early.
    "one_cpu: not run on machines with several CPUs, unless with --all-configs",
    "unsliced: run on all configs that the test names",
]
"""What chooses other configs for a test than one of each of some architectures."""

KSHARK_SOURCE = Path(__file__).parent / "interop" / "kshark_dump.c"
KSHARK_HEADERS = Path("/usr/include/kernelshark")


def pytest_addoption(parser):
    parser.addoption(
        "--all-configs", action="store_true", help="live tests on every machine config"
    )
    parser.addoption(
        "--full", action="store_true", help="every build and instruction, not some of each kind"
    )


def pytest_configure(config):
    for marker in MARKERS:
        config.addinivalue_line("markers", marker)


def pytest_collection_modifyitems(config, items):
    """Choose for each test one config of each of some architectures, from those of the slice.

    Tests of one file have the same ones, for they share builds.
    """
    if config.getoption("--all-configs"):
        return
    known = {name: load_config(name) for name in list_configs()}
    chosen = slice_of(known.values())
    tests = defaultdict(list)
    for item in items:
        tests[item.path, item.originalname if hasattr(item, "originalname") else ""].append(item)
    left_out = set()
    turns = Counter({name: at for at, name in enumerate(known)})
    for (path, _), same in tests.items():
        first = same[0]
        if first.get_closest_marker("unsliced"):
            continue
        machines = {item: machine_of(item, known) for item in same}
        if len(set(machines.values())) <= LISTED:
            continue
        if first.get_closest_marker("builds"):
            left_out |= set(same) - set(one_config_for_each_case(machines))
            continue
        if first.get_closest_marker("every_config"):
            for item, name in machines.items():
                turns[name] += 1
                if name and turns[name] % SHARE:
                    left_out.add(item)
            continue
        candidates = [known[name] for name in chosen & set(machines.values())]
        if first.get_closest_marker("one_cpu"):
            candidates = [one for one in candidates if one.qemu.smp == 1]
        wanted = some_of(path.name, candidates)
        if wanted:
            left_out |= {item for item, name in machines.items() if name and name not in wanted}
    if left_out:
        config.hook.pytest_deselected(items=sorted(left_out, key=str))
        items[:] = [item for item in items if item not in left_out]


def machine_of(item, known):
    """The machine config among a test's parameters."""
    callspec = getattr(item, "callspec", None)
    values = callspec.params.values() if callspec else ()
    found = [value for value in values if isinstance(value, str) and value in known]
    return found[0] if found else None


def one_config_for_each_case(machines):
    """Of the items that differ in their config alone one, of the next ones on another config."""
    cases = defaultdict(list)
    for item, name in machines.items():
        others = {key: value for key, value in item.callspec.params.items() if value != name}
        cases[repr(others)].append(item)
    return [same[at % len(same)] for at, same in enumerate(cases.values())]


def some_of(file, configs):
    """Configs by the name of the test file, others in other files: one of each architecture, of
    `ARCHITECTURES`.
    """
    of = defaultdict(list)
    for config in configs:
        of[config.architecture].append(config.name)
    number = crc32(file.encode())
    first = number // 7 % len(of) if of else 0
    chosen = sorted(of)[first:] + sorted(of)[:first]
    return {sorted(of[name])[number % len(of[name])] for name in chosen[:ARCHITECTURES]}


def slice_of(configs):
    """For each architecture as few machine configs as cover all of its kinds.

    The simplest comes first, then always the one with most new kinds.
    """
    of = defaultdict(list)
    for config in sorted(configs, key=lambda one: (one.qemu.smp, len(one.name), one.name)):
        of[config.architecture].append(config)
    chosen = set()
    for same in of.values():
        shown = set()
        for _ in same:
            best = max(same, key=lambda one: len(kinds_of(one) - shown))
            if kinds_of(best) - shown:
                chosen.add(best.name)
            shown |= kinds_of(best)
    return chosen


def kinds_of(config):
    """The kinds of a config: word size and byte order by QEMU's name, form of sites, CPUs."""
    program = config.qemu.binary
    return {
        ("64 bits", "64" in program),
        ("little endian", program.endswith("el")),
        ("patchable", config.build.form is Form.PATCHABLE_ENTRY),
        ("several CPUs", config.qemu.smp > 1),
        config.properties,
    }


@pytest.fixture(scope="session")
def thorough(pytestconfig):
    """Whether nothing is left out: with ``--all-configs`` a test has all of its places."""
    return pytestconfig.getoption("--all-configs")


@pytest.fixture(scope="session")
def kshark_dump(tmp_path_factory):
    """A program that prints what KernelShark sees in a file."""
    if shutil.which("cc") is None:
        pytest.skip("no C compiler is installed (package gcc)")
    if not (KSHARK_HEADERS / "libkshark.h").exists() or not Path("/usr/include/json-c").exists():
        pytest.skip("libkshark is not installed (packages libkshark-dev and libjson-c-dev)")
    program = tmp_path_factory.mktemp("kshark") / "a.out"
    subprocess.run(
        [
            "cc",
            "-Wall",
            "-Wextra",
            "-Werror",
            KSHARK_SOURCE,
            "-isystem",
            KSHARK_HEADERS,
            "-lkshark",
        ],
        cwd=program.parent,
        check=True,
        timeout=60,
    )
    return program
