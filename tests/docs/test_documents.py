# SPDX-License-Identifier: MIT
"""The documents parse, and the files and commands in them exist."""

import re
import tomllib
from pathlib import Path

import click
import docutils.core
import docutils.utils
import pytest

from harness.cli.command import harness
from harness.config import list_configs
from harness.doctor.versions import TESTED

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("docs/*.rst"), *ROOT.glob("*.rst")])


def name(path):
    return path.name


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_it_parses_without_a_warning(document):
    settings = {"report_level": docutils.utils.Reporter.WARNING_LEVEL, "halt_level": 2}
    docutils.core.publish_string(document.read_text(), writer="html5", settings_overrides=settings)


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_command_and_option_it_shows_exists(document):
    for line in document.read_text().splitlines():
        shown = re.match(r" {4}(?:\$ )?(?:\.venv/bin/)?harness ([a-z]+)(.*)", line)
        if shown is None:
            continue
        command = harness.commands.get(shown[1])
        assert command is not None, line
        if isinstance(command, click.Group):
            command = command.commands.get(shown[2].split()[0])
            assert command is not None, line
        known = {option for parameter in command.params for option in parameter.opts}
        for option in re.findall(r"(?<![\w-])--?[a-z][a-z-]*", shown[2]):
            assert option in known, f"{option} in: {line}"


@pytest.mark.parametrize("document", DOCUMENTS, ids=name)
def test_every_file_it_names_exists(document):
    for path in re.findall(
        r"``((?:docs|harness|guests|tests|benchmarks)/[\w./-]+)``", document.read_text()
    ):
        assert (ROOT / path).exists(), path


def test_the_manual_describes_every_command_and_option():
    manual = (ROOT / "docs" / "harness.rst").read_text()
    every = [(title, command, "===") for title, command in harness.commands.items()]
    for title, group, _ in every:
        if isinstance(group, click.Group):
            every += [(f"{title} {name}", one, "---") for name, one in group.commands.items()]
    for title, command, rule in every:
        assert f"\nharness {title}\n{rule}" in manual
        for parameter in command.params:
            for option in parameter.opts if parameter.param_type_name == "option" else ():
                assert option in manual, f"harness {title} {option}"


@pytest.mark.parametrize(
    ("document", "section"),
    [("README.rst", "\nMachines\n========\n"), ("docs/configs.rst", "\nMachine configs\n")],
)
def test_the_table_of_configs_lists_all(document, section):
    """The first table of the section: its first column has names without blanks."""
    table = (ROOT / document).read_text().split(section, 1)[1].split("\n==", 3)
    rows = next(part for part in table if "mips-malta" in part).splitlines()[1:]
    assert sorted(row.split()[0] for row in rows) == sorted(list_configs())


def test_what_is_supported_is_what_was_tried():
    section = (ROOT / "README.rst").read_text().split("\nSupported versions\n", 1)[1]
    table = section.split("\n=", 4)[2]
    rows = [line.split() for line in table.splitlines()[1:]]
    assert rows == [[name, one.oldest, "to", one.newest] for name, one in TESTED.items()]


def test_the_project_declares_the_pythons_that_were_tried():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    python = TESTED["Python"]
    assert project["requires-python"] == f">={python.oldest}"
    minors = range(int(python.oldest.split(".")[1]), int(python.newest.split(".")[1]) + 1)
    known = "Programming Language :: Python :: 3."
    declared = [text for text in project["classifiers"] if text.startswith(known)]
    assert declared == [f"{known}{minor}" for minor in minors]
