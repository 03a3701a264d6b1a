# SPDX-License-Identifier: MIT
"""What ``harness conform`` refuses before it builds anything: one sentence each, and status 2."""

import shutil

import pytest

from harness.config import load_port
from harness.units import escape
from page_checks import check_pages
from support.command import harness

NEVER = ["-c", "mips-malta", "--clause", "C13a"]
"""A clause that no check judges: nothing is built."""


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--clause", "C99"], "there is no clause 'C99'"),
        (["--clause", ""], "there is no clause ''"),
        (["-c", "nosuch"], "There is no config 'nosuch'"),
        (["-c", "mips-malta", "--clause", "C5f"], "none of the clauses C5f applies to mips-malta"),
        (["-c", "mips-malta", "--mutant", "nosuch"], "there is no mutant nosuch for mips-malta"),
        (["--mutant", "all", "--clause", "C1a"], "--mutant goes with"),
        (["--mutant", "all", "--cflags", "-O1"], "--mutant goes with"),
        (["--mutant", "all", "--expect", "x"], "--mutant goes with"),
        (["--mutant", "all", "--write-expect", "x"], "--mutant goes with"),
        ([*NEVER, "--expect", "x"], "x cannot be read: No such file or directory"),
        ([*NEVER, "--expect", "x", "--write-expect", "y"], "do not go together"),
        ([*NEVER, "-c", "aarch64-virt", "--write-expect", "x"], "is for one port"),
        ([*NEVER, "--write-expect", "x", "--json", "./x"], "two reports would be written to ./x"),
        ([*NEVER, "--next", "--json", "x"], "--next goes with"),
        (["--next", "--mutant", "all"], "--next goes with"),
        ([*NEVER, "--next", "--write-expect", "x"], "--next goes with"),
        (["--cflags", "'"], "No closing quotation"),
        ([*NEVER, "--json", "/nonexistent/x"], "/nonexistent/x cannot be written"),
        ([*NEVER, "--junit", "/"], "/ is not a regular file"),
        ([*NEVER, "--json", "x", "--junit", "./x"], "two reports would be written to x"),
        ([*NEVER, "--json", "-", "--junit", "-"], "two reports would be written to -"),
        ([*NEVER, "--html", "/proc/x"], "/proc/x cannot be used for pages: No such file"),
        ([*NEVER, "--html", "/etc/passwd"], "/etc/passwd is not a directory"),
        ([*NEVER, "--html", "/etc/passwd/x"], "/etc/passwd/x cannot be used for pages"),
        ([*NEVER, "--html", "-"], "pages are a directory, and not standard output"),
        ([*NEVER, "--html", "x", "--json", "x"], "x is not a regular file"),
        (["-c", "mips-malta", "--mutant", "nosuch", "--html", "x"], "there is no mutant nosuch"),
        ([*NEVER, "--next", "--html", "x"], "--next goes with"),
        ([*NEVER, "--port", "/nonexistent"], "/nonexistent is not a port directory"),
    ],
)
def test_a_bad_option(arguments, says, tmp_path):
    done = harness("conform", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stdout
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert list(tmp_path.iterdir()) == []


def change(file, old, new):
    text = file.read_text()
    assert old in text
    file.write_text(text.replace(old, new))


@pytest.mark.parametrize(
    ("old", "new", "config", "says"),
    [
        ("features = [", "features = [] #", "mips-malta", "is not TOML"),
        ('architecture = "mips"', 'architecture = "vax"', "mips-malta", 'found "vax"'),
        ('"FUNCTION_TRACER",', "", "mips-malta", "does not claim FUNCTION_TRACER"),
        ("name", "name", "aarch64-virt", "is for mips, and the config aarch64-virt is for aarch64"),
    ],
    ids=["no TOML", "no such architecture", "no tracer", "another architecture"],
)
def test_a_bad_port(old, new, config, says, tmp_path):
    port = tmp_path / "port"
    shutil.copytree(load_port("mips").directory, port)
    change(port / "port.toml", old, new)
    done = harness("conform", "-c", config, "--port", port, "--clause", "C9a")
    assert done.returncode == 2, done.stdout
    assert says in done.stderr, escape(done.stderr, 2000)
    assert "Traceback" not in done.stderr


def test_a_port_that_a_form_of_call_site_is_not_for(tmp_path):
    port = tmp_path / "port"
    shutil.copytree(load_port("aarch64").directory, port)
    change(port / "port.toml", '"DYNAMIC_FTRACE",', "")
    done = harness("conform", "-c", "aarch64-virt-patchable", "--port", port)
    assert done.returncode == 2, done.stdout
    assert "are for DYNAMIC_FTRACE, which it does not claim" in done.stderr


@pytest.mark.parametrize("kind", ["--json", "--junit"])
def test_a_report_on_standard_output_has_it_alone(kind):
    done = harness("conform", *NEVER, kind, "-")
    assert done.returncode == 0, done.stderr
    assert done.stdout[0] == {"--json": "{", "--junit": "<"}[kind]
    assert "C13a" in done.stdout


def test_pages_go_with_everything_else(tmp_path):
    page = tmp_path / "new" / "pages"
    more = ["--junit", tmp_path / "junit.xml", "--write-expect", tmp_path / "expect.toml"]
    done = harness("conform", *NEVER, "--html", page, "--json", "-", *more)
    assert done.returncode == 0, done.stderr
    assert done.stdout[0] == "{"
    assert "pages:" not in done.stdout
    pages = check_pages(page)
    assert set(pages) == {"index.html", "configs/mips-malta.html"}
    assert "harness conform -c mips-malta --clause C13a" in pages["index.html"].text
    done = harness("conform", *NEVER, "--html", page)
    assert done.stdout.endswith(f"pages: {page}/index.html\n")
    assert [path.name for path in page.iterdir() if path.name.startswith("harness")] == []


def test_expected_failures_are_written_and_read(tmp_path):
    port = tmp_path / "port"
    shutil.copytree(load_port("mips").directory, port)
    change(port / "port.toml", 'name = "mips"', 'name = "mine"')
    file = port / "expect.toml"
    done = harness("conform", *NEVER, "--port", port, "--write-expect", file)
    assert done.returncode == 0, done.stderr
    assert file.read_text().endswith('port = "mine"\n')
    # It is found there, and named on another port.
    assert harness("conform", *NEVER, "--port", port).returncode == 0
    done = harness("conform", *NEVER, "--expect", file)
    assert done.returncode == 2
    assert "is about the port mine, and this is mips" in done.stderr
    file.write_text("port = 1")
    done = harness("conform", *NEVER, "--port", port)
    assert done.returncode == 2
    assert "expect.toml: port: found 1; allowed: the name of the port" in done.stderr
    done = harness("conform", *NEVER, "--port", port, "--write-expect", file)
    assert done.returncode == 2
    assert file.read_text() == "port = 1"
