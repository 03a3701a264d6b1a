# SPDX-License-Identifier: MIT
"""harness top"""

import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import TYPE_CHECKING

import click

from harness.cli.options import (
    GuestOptions,
    cflags_option,
    config_option,
    features_option,
    finite,
    guest_options,
    port_option,
    workload_option,
)
from harness.cli.progress import progress
from harness.cli.signals import orderly_end

if TYPE_CHECKING:
    from harness.trace import Statistics

TRACERS = ("function", "function_graph")


@click.command()
@config_option
@click.option(
    "-p",
    "tracer",
    type=click.Choice(TRACERS),
    default="function",
    show_default=True,
    help="function_graph also shows times.",
)
@click.option("-l", "filters", multiple=True, metavar="GLOB", help="Count only these functions.")
@click.option("-n", "notrace", multiple=True, metavar="GLOB", help="Do not count these functions.")
@guest_options(workload_option, port_option, cflags_option, features_option)
@click.option(
    "--interval",
    type=click.FloatRange(min=0, min_open=True),
    callback=finite,
    default=1.0,
    show_default=True,
    help="Seconds of the host between updates.",
)
@click.option("--count", type=click.IntRange(1), help="End after this many updates.")
@click.option(
    "--functions", type=click.IntRange(1), default=20, show_default=True, help="Functions shown."
)
def top(
    config: str,
    tracer: str,
    filters: tuple[str, ...],
    notrace: tuple[str, ...],
    guest: GuestOptions,
    interval: float,
    count: int | None,
    functions: int,
) -> None:
    """Show the functions of a running guest by number of calls, live.

    Rates are calls per second of the guest's clock, which is stopped while events are read.  Ends
    with the workload, or with Ctrl-C.

    Example: harness top -c mips-malta --workload sort
    """
    from harness.guest import Outcome, start
    from harness.record.live import Rates

    with ExitStack() as stack:
        with progress() as tell:
            running = stack.enter_context(start(guest.startable(config), progress=tell))
        running.tracer.set_filter(*filters)
        running.tracer.set_notrace(*notrace)
        running.tracer.current = tracer
        rates = Rates(running)
        running.on_drain = rates.drained
        with orderly_end() as arm, _screen() as show:
            wake, shown = arm(), 0
            while count is None or shown < count:
                outcome = running.run("workload_done", seconds=interval, wake=wake)
                if outcome is Outcome.REACHED:
                    running.drain()
                    rates.drained()
                sums, lost = rates.take()
                show(_lines(running.name, sums, lost, functions))
                shown += 1
                if outcome is not Outcome.ELAPSED:
                    break


def _lines(name: str, sums: "Statistics", lost: int, functions: int) -> list[str]:
    seconds = sums.span / 1e9
    rate = "" if sums.rate is None else f", {sums.rate:.0f}/s"
    lines = [f"{name}: {sums.events} events{rate}, {lost} lost", ""]
    timed = any(totals.own is not None for totals in sums.functions.values())
    lines.append(f"{'calls/s':>12} {'calls':>10} {'self %' if timed else '':>7}  function")
    for function, totals in sums.hottest(functions):
        often = f"{totals.calls / seconds:.0f}" if seconds else ""
        share = f"{100 * (totals.own or 0) / sums.span:.1f}" if timed and sums.span else ""
        lines.append(f"{often:>12} {totals.calls:>10} {share:>7}  {function}")
    return lines


@contextmanager
def _screen() -> Iterator[Callable[[list[str]], None]]:
    """On a terminal update in place, elsewhere print one after the other."""
    if not sys.stdout.isatty():
        yield lambda lines: click.echo("\n".join(lines) + "\n")
        return
    from rich.console import Console
    from rich.live import Live
    from rich.text import Text

    with Live(console=Console(), auto_refresh=False) as live:
        yield lambda lines: live.update(Text("\n".join(lines)), refresh=True)
