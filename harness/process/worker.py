# SPDX-License-Identifier: MIT
"""What a worker does: calls come on standard input, answers go to standard output, pickled."""

import os
import pickle
import sys
import traceback

from harness.errors import HarnessError, HostError


def command() -> list[str]:
    """What starts one; it finds modules where this process does and nowhere else."""
    start = f"import sys; sys.path[:] = sys.argv[1:]; from {__name__} import main; main()"
    return [sys.executable, "-P", "-c", start, *sys.path]


def main() -> None:
    """Answer calls until there are none."""
    calls = os.fdopen(os.dup(0), "rb")
    answers = os.fdopen(os.dup(1), "wb")
    # What a function prints is no answer, and it has nothing to read.
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
    """Whether it ended well, what it gave or raised, and the traceback of a fault of our own."""
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
