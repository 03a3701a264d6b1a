# SPDX-License-Identifier: MIT
"""The documents parse, and what they name exists."""

import re
from pathlib import Path

import click
import docutils.core
import docutils.utils
import pytest

from harness.cli.command import harness

ROOT = Path(__file__).parents[2]
DOCUMENTS = sorted([*ROOT.glob("docs/*.rst"), ROOT / "README.rst"])


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
