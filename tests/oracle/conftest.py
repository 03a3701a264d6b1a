# SPDX-License-Identifier: MIT
"""Live guests with the oracle in their QEMU, once for each machine config."""

import functools
import random
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

import pytest

from harness import boot
from harness.config import list_configs
from harness.guest import Guest
from harness.image import Image
from harness.kbuild import GuestSpec, build_guest
from harness.oracle import Call, Oracle, Return
from harness.oracle.compare import Settings, compare, expect
from support.event_checks import check_threads, check_times

WORKLOADS = Path(__file__).parent / "workloads"

GRAPH = Settings()
"""function_graph with all its controls as they are at first."""


def pytest_generate_tests(metafunc):
    """``config`` is each machine config in turn, unless the module has its own hook."""
    if "config" in metafunc.fixturenames and not hasattr(metafunc.module, "pytest_generate_tests"):
        metafunc.parametrize("config", list_configs())


STATIC = [
    "FUNCTION_TRACER",
    "FTRACE_MCOUNT_RECORD",
    "FUNCTION_GRAPH_TRACER",
    "FUNCTION_GRAPH_FP_TEST",
    "FUNCTION_GRAPH_RET_ADDR_PTR",
]
"""The features of a static guest."""


def pytest_addoption(parser):
    parser.addoption(
        "--soak", default="1e8", metavar="N", help="tests/oracle: instructions of the soak"
    )


@dataclass
class Watched:
    """A guest, stopped before its workload, and the oracle in its QEMU."""

    guest: Guest
    oracle: Oracle

    @property
    def executed(self):
        """The oracle's record: (site, caller) in order."""
        return [(call.site, call.parent) for call in self.oracle.records()]

    @property
    def running(self):
        """The CPUs that were stopped anywhere: their last event may be incomplete."""
        return {thread.id - 1 for thread in self.guest.debugger.threads()} - {
            self.guest.debugger.stop.thread - 1
        }

    def check_function(self, wanted=None, traced=lambda call: True):
        """The ``function`` events are those of the executed call sites; returns them by CPU.

        ``wanted`` has the names of traced functions, None for all; ``traced`` says it of a call.
        """
        records = (
            record
            for record in self.oracle.everything()
            if not isinstance(record, Call | Return) or traced(record)
        )
        model = expect(records, Settings(graph_tracer=False, filter=wanted))
        compared, _ = self._check(model)
        for one, event in zip(compared.expected, compared.events, strict=True):
            # A thread's first function has no caller.
            assert one.call.parent in (0, self.guest.image.isa.pointed_to(event.parent_ip))
        return compared.events

    def check_graph(self, settings=GRAPH):
        """The graph events are those of the executed calls and returns.

        Returns all events by time, and the model (`harness.oracle.compare.Expectation`).
        """
        model = expect(self.oracle.everything(), settings)
        _, events = self._check(model)
        check_times(events)
        return events, model

    def _check(self, model):
        running = self.running
        self.guest.settle()
        events = list(self.guest.tracer.events())
        compared = compare(model, events, running)
        assert compared.same, compared.shown(self.guest.image.symbolize)
        check_threads(
            (event.pid, one.call.thread)
            for one, event in zip(compared.expected, compared.events, strict=True)
        )
        return compared, events

    def switch(self, tracer, *globs):
        """Switch the tracer and the window together; the caller knows about filters.  A CPU inside
        of a site is moved out before the change, so both agree on it.
        """
        if globs:
            self.guest.tracer.set_filter(*globs)
        self.guest.tracer.current = tracer
        self.oracle.window(tracer != "nop")

    def go_on(self, function, most=150):
        """Run to a function, and some instructions further: an arbitrary moment.

        Counted by instructions of the guest: the host may be busy for longer than a workload takes.
        """
        self.guest.run(until=function)
        steps = random.randrange(most)
        print(f"{steps} instructions behind {function}")
        for _ in range(steps):
            inside = self.guest.image.function_at(self.guest.debugger.stop.address)
            # It may be about to wait for an interrupt, and none comes while a CPU is stepped.
            if inside and inside.name == "cpu_idle":
                break
            self.guest.debugger.step_instruction()

    def load(self, *modules):
        """Load modules, whose sites the oracle watches from then on; returns their images."""
        images = []
        for module in self.guest.modules.find(*modules):
            self.oracle.add_module(module.image)
            self.guest.load_module(module)
            images.append(module.image)
        return images

    @property
    def traced(self):
        """The tracer's events: (site, caller) in order."""
        plain = self.guest.image.isa.pointed_to
        return [(event.ip, plain(event.parent_ip)) for event in self.guest.tracer.events()]


@pytest.fixture
def image_of(config):
    """A function: the image of a workload of the guests or of these tests."""
    return lambda workload: _image(config, workload)


@pytest.fixture
def watch(config, tmp_path):
    """A function: boot a workload under the oracle, whose window is closed."""

    @contextmanager
    def start(
        workload,
        *,
        deterministic=False,
        capacity=1_000_000,
        cflags=(),
        static=False,
        counting=False,
        tick=None,
    ):
        build = {"cflags": cflags, "features": STATIC if static else None}
        source = _source(workload)
        image = _image(config, workload, **build)
        with (
            Oracle(image, tmp_path, capacity=capacity, counting=counting) as oracle,
            boot(
                config,
                source,
                plugins=[oracle.argument],
                deterministic=deterministic,
                tick=tick,
                **build,
            ) as guest,
        ):
            oracle.reset()
            yield Watched(guest, oracle)

    return start


def _source(workload):
    own = WORKLOADS / f"{workload}.c"
    return str(own) if own.exists() else workload


def _image(config, workload, **build):
    return _read_image(build_guest(GuestSpec.of(config, _source(workload), **build)))


@functools.lru_cache(maxsize=16)
def _read_image(kernel):
    """An image, which several tests have: the oracle disassembles each but once."""
    return Image(kernel.read_bytes(), str(kernel))
