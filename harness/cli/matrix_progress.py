# SPDX-License-Identifier: MIT
"""The progress of a matrix run."""

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from harness.matrix.result import Result
    from harness.matrix.runner import Progress


@contextmanager
def shown(total: int) -> Iterator[Callable[["Progress"], None]]:
    """On a terminal a progress bar with the running cells, elsewhere a line per cell; failures on
    both.
    """
    from harness.matrix.result import CellOutcome
    from harness.units import KIB, one_line

    def said(result: "Result") -> Iterator[str]:
        yield f"{result.outcome} {result.cell} {result.seconds:.1f} s"
        if result.outcome is not CellOutcome.PASS:
            yield f"    {one_line(result.message)}"
            yield f"    {one_line(result.command, 64 * KIB)}"

    def plain(progress: "Progress") -> None:
        if progress.result is not None:
            first, *rest = said(progress.result)
            click.echo("\n".join([f"[{progress.done}/{progress.total}] {first}", *rest]))

    if not sys.stdout.isatty():
        yield plain
        return
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeElapsedColumn
    from rich.progress import Progress as Bar
    from rich.table import Column

    # The names of running cells take the remaining width.
    rest = Column(ratio=1, no_wrap=True, overflow="ellipsis")
    columns: list[Any] = [BarColumn(20), MofNCompleteColumn(), TimeElapsedColumn()]
    columns.append(TextColumn("{task.description}", markup=False, table_column=rest))
    with Bar(*columns, expand=True) as bar:
        task = bar.add_task("", total=total)

        def live(progress: "Progress") -> None:
            running = ", ".join(progress.running[:4]) + ", ..." * (len(progress.running) > 4)
            bar.update(task, completed=progress.done, description=running)
            if progress.result is not None and progress.result.outcome is not CellOutcome.PASS:
                # A command stays on one line, for copying.
                text = "\n".join(said(progress.result))
                bar.console.print(text, markup=False, highlight=False, soft_wrap=True)

        yield live
