# SPDX-License-Identifier: MIT
"""Processes that read damaged inputs, with limits of time and memory."""

import multiprocessing
import os
import random
import resource
import signal
import traceback
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from multiprocessing.connection import Connection
from multiprocessing.sharedctypes import Synchronized
from pathlib import Path
from tempfile import TemporaryDirectory

from harness.errors import HarnessError
from tests.fuzz.mutate import mutated
from tests.fuzz.targets import Target

SECONDS = 5
MEMORY = 500 << 20
_fork = multiprocessing.get_context("fork")


@dataclass(frozen=True)
class Finding:
    """An input with another outcome than a result or one of our errors.  ``what`` is equal for
    similar ones.
    """

    target: str
    number: int
    what: str


@dataclass
class Sums:
    """The outcomes of the inputs: results, and our errors."""

    results: int = 0
    errors: int = 0


def make_input(target: Target, seed: int, number: int) -> tuple[bytes, random.Random]:
    """The input with that number, and the random generator after it."""
    chance = random.Random(f"{seed}/{target.name}/{number}")
    return mutated(chance.choice(target.seeds), target.seeds, chance), chance


def fuzz(target: Target, seed: int, first: int, count: int, sums: Sums) -> Iterator[Finding]:
    """Let the target read the inputs with these numbers; returns the findings."""
    end = first + count
    with TemporaryDirectory(prefix="fuzz-") as directory:
        while first < end:
            at = _fork.Value("Q", first)
            reader, writer = _fork.Pipe(duplex=False)
            arguments = (target, seed, end, at, writer, Path(directory))
            child = _fork.Process(target=_read_inputs, args=arguments)
            child.start()
            writer.close()
            yield from _reports(reader, sums)
            child.join()
            first = int(at.value)
            if child.exitcode:
                late = child.exitcode == -signal.SIGALRM
                what = f"more than {SECONDS} s" if late else f"ended with {child.exitcode}"
                yield Finding(target.name, first, what)
                first += 1


def _reports(reader: Connection, sums: Sums) -> Iterator[Finding]:
    """The messages of a process until it ends.  If it dies, its counts are lost."""
    with suppress(EOFError):
        while True:
            said = reader.recv()
            if isinstance(said, Finding):
                yield said
            else:
                sums.results += said.results
                sums.errors += said.errors


def _read_inputs(
    target: Target,
    seed: int,
    end: int,
    at: "Synchronized[int]",
    out: Connection,
    directory: Path,
) -> None:
    """In a child process, which ends by an alarm, or with its parent."""
    parent = os.getppid()
    signal.signal(signal.SIGALRM, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    sums = Sums()
    for number in range(at.value, end):
        at.value = number
        if os.getppid() != parent:
            return
        data, chance = make_input(target, seed, number)
        signal.setitimer(signal.ITIMER_REAL, SECONDS)
        try:
            target.look(data, chance, directory)
            sums.results += 1
        except HarnessError:
            sums.errors += 1
        except Exception as error:
            out.send(Finding(target.name, number, _signature(error)))
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
    at.value = end
    out.send(sums)


def _signature(error: Exception) -> str:
    """The error, and the innermost line of our code in its traceback."""
    frames = traceback.extract_tb(error.__traceback__)
    ours = [one for one in frames if f"{os.sep}harness{os.sep}" in one.filename] or frames
    place = Path(ours[-1].filename)
    return f"{type(error).__name__} at {place.parent.name}/{place.name}:{ours[-1].lineno}"
