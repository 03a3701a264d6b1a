# SPDX-License-Identifier: MIT
"""A ``guest`` fixture for pytest, so that a port's own repository can test with the harness.

    @pytest.mark.guest(config="mips-malta", workload="calls", port="path/to/port")
    def test_leaf_is_traced(guest):
        guest.tracer.current = "function"
        guest.run(until="workload_done")
        assert "leaf" in [event.function for event in guest.tracer.events()]

The marker takes what `harness.boot` takes.  If the marker names no config, the fixture or parameter
``config`` of the test does.  A test that fails shows where the guest stood: registers, backtrace,
disassembly, the last events, and the tail of its console; its trace.dat is saved in the temporary
directory of pytest.  With ``--harness-shell`` it opens a prompt there.
"""

import os
from collections.abc import Generator, Iterator
from contextlib import AbstractContextManager, ExitStack, nullcontext
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from harness.guest import Guest

_DIRECTORIES = pytest.StashKey[pytest.TempPathFactory]()


def pytest_addoption(parser: pytest.Parser) -> None:
    """``--tick HZ``: the whole suite under timer interrupts.  ``--harness-shell``: look closer."""
    parser.addoption(
        "--tick",
        metavar="HZ",
        help="boot every guest with so many timer interrupts a second (sets HARNESS_TICK)",
    )

    parser.addoption(
        "--harness-shell",
        action="store_true",
        help="open the interactive session where a test with the fixture `guest` failed",
    )


def pytest_configure(config: pytest.Config) -> None:
    """Make the markers known, and tell `harness.boot`, here and in child processes, of a tick."""
    if config.getoption("--harness-shell") and getattr(config.option, "numprocesses", None):
        raise pytest.UsageError("--harness-shell needs the terminal: leave out -n")
    tick = config.getoption("--tick")
    if tick is not None:
        os.environ["HARNESS_TICK"] = tick
    config.addinivalue_line(
        "markers", "guest(config, workload, port, ...): boot this guest for the fixture `guest`"
    )


@pytest.fixture
def guest(request: pytest.FixtureRequest) -> "Iterator[Guest]":
    """A live guest, stopped in front of its workload; gone when the test ends."""
    from harness.errors import HarnessError
    from harness.guest import boot

    marker = request.node.get_closest_marker("guest")
    arguments = dict(marker.kwargs) if marker else {}
    if "config" not in arguments and "config" in request.fixturenames:
        arguments["config"] = request.getfixturevalue("config")
    if "config" not in arguments:
        pytest.fail(
            "the fixture `guest` needs a config: @pytest.mark.guest(config=...), "
            "or a parameter `config`",
            pytrace=False,
        )
    with ExitStack() as stack:
        try:
            running = stack.enter_context(boot(**arguments))
        except HarnessError as error:
            pytest.fail(str(error), pytrace=False)
        request.node.stash[_DIRECTORIES] = request.getfixturevalue("tmp_path_factory")
        yield running


def pytest_exception_interact(node: pytest.Item | pytest.Collector, call: Any, report: Any) -> None:
    """With ``--harness-shell``, a prompt on the guest of a test that has just failed."""
    running: Any = getattr(node, "funcargs", {}).get("guest")
    if not hasattr(running, "describe") or not node.config.getoption("--harness-shell"):
        return
    from harness.shell import Session, run_prompt

    capture = node.config.pluginmanager.getplugin("capturemanager")
    if capture:
        # The prompt wants standard input too, which pytest's own context leaves shut.
        capture.suspend(in_=True)
    try:
        print(f"\n{node.nodeid} failed; this is its guest")
        run_prompt(Session(partial(_once, [running])))
    finally:
        if capture:
            capture.resume()


def _once(left: "list[Guest]") -> "AbstractContextManager[Guest]":
    """The guest of a test, which only its test can boot again."""
    if not left:
        from harness.errors import UsageError

        raise UsageError(
            "the test has booted this guest, and a session cannot boot it again",
            "Leave the prompt, and run the test again.",
        )
    return nullcontext(left.pop())


def _saved_trace(item: pytest.Item, running: "Guest") -> tuple[Path | None, str]:
    """A trace.dat of the guest's events in pytest's temporary directory, and what to say of it."""
    from harness.errors import HarnessError

    file: Path = item.stash[_DIRECTORIES].mktemp("guest") / "trace.dat"
    text = f"\n\nIts trace: {file}"
    try:
        try:
            saved = running.save_trace(file)
        except HarnessError as error:
            # The guest may be dead, or hang.
            saved = running.save_trace(file, settled=False)
            text += f"\nThe last events may be missing: {error.message}"
    except HarnessError as error:
        return None, f"\n\nIts trace could not be saved: {error.message}"
    return (file, text) if saved else (None, "")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Add what is known of the guest to the report of a test that failed."""
    report = yield
    running: Any = getattr(item, "funcargs", {}).get("guest")
    if report.when == "call" and report.failed and hasattr(running, "describe"):
        title, text = "the guest at the failure", running.describe()
        path, where = _saved_trace(item, running)
        text += where
        if path is not None:
            # JUnit takes them from the last report of the test.
            item.user_properties.append(("trace.dat", str(path)))
        shown: Any = report.longrepr
        if hasattr(shown, "addsection"):
            # In the report of JUnit too, unlike the report's own sections.
            shown.addsection(title, text)
        else:
            report.sections.append((title, text))
    return report
