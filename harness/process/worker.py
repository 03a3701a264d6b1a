# SPDX-License-Identifier: MIT
"""A worker: pickled calls on standard input, pickled answers on standard output."""

import gc
import os
import pickle
import sys
import traceback
from importlib import import_module

from harness.errors import HarnessError, HostError


def command() -> list[str]:
    """The command line of a worker; it imports from this process's ``sys.path`` only."""
    start = f"import sys; sys.path[:] = sys.argv[1:]; from {__name__} import main; main()"
    return [sys.executable, "-P", "-c", start, *sys.path]


def load(module: str) -> None:
    """Import a module, which later calls need.

    What it makes stays, so that the garbage collector need not look at it, then and later.
    """
    gc.disable()
    try:
        import_module(module)
        gc.freeze()
    finally:
        gc.enable()


def main() -> None:
    """Answer calls until end of file."""
    calls = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # A function's output goes to standard error; its input is empty.
    os.dup2(2, 1)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    while True:
        try:
            function, arguments = pickle.load(calls)
        except EOFError:
            return
        answers.write(_answer(function, arguments))
        answers.flush()


def _answer(function, arguments) -> bytes:  # type: ignore[no-untyped-def]
    """Whether the call succeeded, its result or exception, and the traceback of a bug."""
    try:
        return pickle.dumps((True, function(*arguments), ""))
    except HarnessError as error:
        return pickle.dumps((False, error, ""))
    except Exception as error:
        text = traceback.format_exc()
        try:
            return pickle.dumps((False, error, text))
        except Exception:
            return pickle.dumps((False, HostError("a worker cannot answer", "", text), text))
