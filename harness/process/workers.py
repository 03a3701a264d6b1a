# SPDX-License-Identifier: MIT
"""A pool of processes that call functions, one for each CPU."""

import os
import pickle
import subprocess
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import contextmanager, suppress
from typing import Any, TypeVar, TypeVarTuple, cast

from harness.errors import HostError
from harness.process.child import Child
from harness.process.worker import command, load

_Arguments = TypeVarTuple("_Arguments")
_Result = TypeVar("_Result")


class Workers:
    """Processes that call functions of importable modules.

    Each belongs to a thread, which replaces it when it dies.
    """

    def __init__(self, count: int) -> None:
        self._count = count
        self._threads = ThreadPoolExecutor(count)
        self._own = threading.local()
        self._starting = threading.Lock()
        self._started: list[_Worker] = []
        self._over = False

    def preload(self, module: str) -> None:
        """Start all workers now, and let each import a module meanwhile."""
        for _ in range(self._count):
            self.submit(load, module)

    def submit(
        self, function: Callable[[*_Arguments], _Result], *arguments: *_Arguments
    ) -> Future[_Result]:
        """Call a function in a worker.

        The future raises the function's exception, or HostError if the worker died.
        """
        return self._threads.submit(self._call, function, arguments)

    def end(self) -> None:
        """Wait until all submitted calls are done."""
        self._threads.shutdown()
        self._close()

    def abort(self) -> None:
        """Kill the workers."""
        with self._starting:
            self._over = True
        self._threads.shutdown(wait=False, cancel_futures=True)
        for worker in self._started:
            worker.child.end()
        self._threads.shutdown()
        self._close()

    def _close(self) -> None:
        for worker in self._started:
            worker.close()

    def _call(self, function: Callable[..., _Result], arguments: Sequence[Any]) -> _Result:
        worker: _Worker | None = getattr(self._own, "worker", None)
        if worker is None or not worker.child.alive:
            worker = self._own.worker = self._start()
        return cast(_Result, worker.call(function, arguments))

    def _start(self) -> "_Worker":
        with self._starting:
            if self._over:
                raise HostError("the workers have been ended")
            worker = _Worker()
            self._started.append(worker)
            return worker


class _Worker:
    def __init__(self) -> None:
        self.child = Child(command(), stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self._calls = os.fdopen(os.dup(self.child.stdin.fileno()), "wb")
        self._answers = os.fdopen(os.dup(self.child.stdout.fileno()), "rb")

    def call(self, function: Callable[..., object], arguments: Sequence[object]) -> object:
        try:
            pickle.dump((function, arguments), self._calls)
            self._calls.flush()
            well, result, traceback = pickle.load(self._answers)
        except (OSError, EOFError, pickle.UnpicklingError):
            self.child.end()
            raise HostError(
                f"a worker ended: {self.child.ending()}", "", self.child.report()
            ) from None
        if well:
            return result
        raise result from (RuntimeError(traceback) if traceback else None)

    def close(self) -> None:
        self._answers.close()
        # Flushing to a dead worker fails.
        with suppress(OSError):
            self._calls.close()
        self.child.close()


@contextmanager
def workers(preload: str = "") -> Iterator[Workers]:
    """As many workers as CPUs; they end with the block, and with this process.

    They start with their first call, or now, if they are to ``preload`` a module.
    """
    pool = Workers(len(os.sched_getaffinity(0)))
    if preload:
        pool.preload(preload)
    try:
        yield pool
    except BaseException:
        pool.abort()
        raise
    pool.end()
