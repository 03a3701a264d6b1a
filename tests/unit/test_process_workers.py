# SPDX-License-Identifier: MIT
"""Workers: what they answer, how they end, and that none outlives who started it."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
import uuid

import pytest

from harness.errors import HostError
from harness.process import find_program, workers
from support.processes import MARK, all_gone, marked

COMMAND = """\
import time
from harness.process import workers
with workers() as pool:
    for future in [pool.submit(time.sleep, 600) for _ in range(2)]:
        future.result()
"""


@pytest.mark.parametrize("moment", [0.0, 0.005, 0.01, 0.02, 0.05, 0.1])
@pytest.mark.parametrize("born", [1, 2, 3])
def test_none_outlives_a_command_that_is_killed(born, moment):
    """Killed when so many processes are there, or a moment later: while its workers start."""
    mark = uuid.uuid4().hex
    command = subprocess.Popen(
        [sys.executable, "-c", COMMAND], env={**os.environ, MARK: mark}, stderr=subprocess.DEVNULL
    )
    while len(marked(mark)) < born and command.poll() is None:
        pass
    time.sleep(moment)
    command.kill()
    command.wait()
    try:
        assert all_gone(mark)
    finally:
        for pid in marked(mark):
            os.kill(pid, signal.SIGKILL)


def test_an_answer_and_an_error_come_back():
    with workers() as pool:
        assert pool.submit(divmod, 7, 2).result(30) == (3, 1)
        with pytest.raises(HostError, match="nothing is not installed"):
            pool.submit(find_program, "nothing", "").result(30)
        with pytest.raises(ZeroDivisionError) as caught:
            pool.submit(divmod, 7, 0).result(30)
        assert "Traceback" in str(caught.value.__cause__)
        with pytest.raises(TypeError, match="cannot pickle"):
            pool.submit(threading.Lock).result(30)


def test_all_workers_have_imported_what_is_preloaded():
    with workers("colorsys") as pool:
        asked = [pool.submit(eval, "'colorsys' in __import__('sys').modules") for _ in range(8)]
        assert all(future.result(30) for future in asked)


def test_what_a_function_prints_or_reads_is_not_taken_for_an_answer():
    with workers() as pool:
        assert pool.submit(print, "x" * 100_000).result(30) is None
        assert pool.submit(os.read, 0, 1).result(30) == b""


def test_a_worker_that_dies_is_the_hosts_fault_and_another_takes_its_place():
    with workers() as pool:
        dead = [pool.submit(os._exit, 3) for _ in range(4)]
        for future in dead:
            with pytest.raises(HostError, match="ended with exit status 3"):
                future.result(30)
        assert pool.submit(divmod, 7, 2).result(30) == (3, 1)


def _interrupted():
    with workers() as pool:
        for _ in range(8):
            pool.submit(time.sleep, 600)
        raise KeyboardInterrupt


def test_an_interrupted_command_ends_what_its_workers_do():
    with pytest.raises(KeyboardInterrupt):
        _interrupted()


def test_a_worker_takes_modules_from_where_we_do_and_not_from_where_it_stands(
    tmp_path, monkeypatch
):
    for name in ("pickle", "traceback", "json"):
        (tmp_path / f"{name}.py").write_text("raise SystemExit('a stranger')")
    monkeypatch.chdir(tmp_path)
    with workers() as pool:
        assert pool.submit(json.dumps, 7).result(30) == "7"
