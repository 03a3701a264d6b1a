# SPDX-License-Identifier: MIT
"""A new port: its files say what is asked of them, and it builds."""

import re

import pytest

from harness.config import list_configs, load_config, load_port
from harness.conformance import load_catalogue
from harness.conformance.catalogue import BuildKind
from harness.conformance.skeleton import write_port
from harness.errors import UsageError
from harness.isa import Form
from harness.kbuild import OF_DYNAMIC, GuestSpec, build_guest
from support.command import harness

NOBODY = {
    *("C4k", "C4l", "C4m", "C6c", "C7a", "C7b", "C7c", "C7d", "C7e", "C7f", "C9h", "C9m", "C9o"),
    *("C12b", "C13a", "C13b", "C13h", "C14a", "C15a", "C15b", "C17a", "C17b", "M3a", "M3b"),
}
"""Clauses that no one function of a new port is asked for: the table's, the kernel's, all of it."""

OTHERWISE = {
    clause.id
    for clause in load_catalogue().clause
    if {*OF_DYNAMIC, "FUNCTION_GRAPH_RETVAL"} & {*clause.features, *clause.either}
}
"""Clauses of ports of another kind: a new one has two slots."""


def claiming(port, *features):
    """The port with these words of port.toml no longer behind a #."""
    file = port / "port.toml"
    text = file.read_text()
    for feature in features:
        text = text.replace(f'# "{feature}"', f'"{feature}"')
    file.write_text(text)
    return load_port(port)


@pytest.mark.parametrize("name", list_configs())
def test_its_files_say_what_is_asked_of_them(name, tmp_path):
    config = load_config(name)
    directory = tmp_path / "new" / "port"
    written = write_port(directory, config)
    text = "".join((directory / file).read_text() for file in written)
    assert "{" + "{" not in text
    assert load_port(directory).fits(config)
    applying = {clause.id for clause in load_catalogue().clause if clause.applies_to(config)}
    said = set(re.findall(r"\b[CM][0-9]+[a-z]\b", text))
    assert applying - said - _static(config) == (NOBODY | OTHERWISE) & applying
    assert said <= applying - _static(config)
    assert all(len(line.expandtabs(8)) <= 110 for line in text.splitlines())


def _static(config):
    """Clauses of static builds, where there are none."""
    if config.build.form is not Form.PATCHABLE_ENTRY:
        return set()
    every = load_catalogue().clause
    return {clause.id for clause in every if clause.builds == (BuildKind.STATIC,)}


def test_no_comment_is_empty(tmp_path):
    for name in list_configs():
        directory = tmp_path / name
        for file in write_port(directory, load_config(name)):
            assert " *\n\n */" not in (directory / file).read_text(), (name, file)


@pytest.mark.parametrize(
    "name", ["mips-malta", "mips64-malta-smp", "aarch64-virt", "aarch64-virt-bti-pac-patchable"]
)
def test_it_builds_with_all_that_it_may_claim(name, tmp_path):
    directory = tmp_path / "port"
    config = load_config(name)
    write_port(directory, config)
    assert build_guest(GuestSpec.of(config, port=load_port(directory))).is_file()
    full = claiming(
        directory,
        *("DYNAMIC_FTRACE", "FUNCTION_GRAPH_TRACER", "FUNCTION_GRAPH_FP_TEST"),
        *("FUNCTION_GRAPH_RET_ADDR_PTR", "SYSCALL_TRACEPOINTS"),
    )
    assert len(full.features) == 7
    assert build_guest(GuestSpec.of(config, port=full)).is_file()


def test_what_is_there_is_not_written_over(tmp_path):
    (tmp_path / "mine").write_text("mine")
    with pytest.raises(UsageError, match="is not empty"):
        write_port(tmp_path, load_config("mips-malta"))
    assert [path.name for path in tmp_path.iterdir()] == ["mine"]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["x"], "Missing option '-c'"),
        (["x", "-c", "nosuch"], "There is no config 'nosuch'"),
        (["file", "-c", "mips-malta"], "file cannot be written: File exists"),
        (["/proc/x", "-c", "mips-malta"], "/proc/x cannot be written: No such file or directory"),
        ([".", "-c", "mips-malta"], ". is not empty"),
    ],
)
def test_a_bad_option(arguments, says, tmp_path):
    (tmp_path / "file").touch()
    done = harness("port", "new", *arguments, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert [path.name for path in tmp_path.iterdir()] == ["file"]


def test_the_command_says_what_comes_next(tmp_path):
    done = harness("port", "new", "mine", "-c", "mips-malta", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "mine/ftrace.c" in done.stdout
    assert "harness conform -c mips-malta --port ./mine --next" in done.stdout
