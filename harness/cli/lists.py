# SPDX-License-Identifier: MIT
"""harness list"""

from collections.abc import Callable, Sequence

import click

from harness.cli.options import json_option, port_option, print_table, progress, workload_option
from harness.errors import UsageError

Table = tuple[Sequence[str], Sequence[Sequence[str]]]


@click.command("list")
@click.argument(
    "what",
    type=click.Choice(
        ["configs", "functions", "sites", "tracers", "events", "workloads", "clauses"]
    ),
)
@click.option("-c", "--config", metavar="CONFIG", help="The machine config, where it matters.")
@workload_option
@port_option
@json_option
def list_(what: str, config: str | None, workload: str, port: str | None, as_json: bool) -> None:
    """List configs, functions, sites, tracers, events, workloads or clauses.

    functions and sites are those of a guest, so they need -c and build the guest if it is not in
    the cache; with -c events has those of its system calls too.  clauses are those of the
    specification; with -c those that apply to the config, and whether the tests of the harness
    check them there.
    """
    header, rows = TABLES[what](config, workload, port)
    print_table(header, rows, as_json)


def _configs(config: str | None, workload: str, port: str | None) -> Table:
    from harness.config import list_configs, load_config

    loaded = [load_config(name) for name in list_configs()]
    return (
        ("name", "architecture", "form", "description"),
        [(one.name, one.architecture, one.build.form, one.description) for one in loaded],
    )


def _functions(config: str | None, workload: str, port: str | None) -> Table:
    image = _image(config, workload, port)
    digits = image.bits // 4
    return (
        ("address", "function"),
        [(f"{site.function_address:0{digits}x}", site.function) for site in image.sites],
    )


def _sites(config: str | None, workload: str, port: str | None) -> Table:
    image = _image(config, workload, port)
    isa, digits = image.isa, image.bits // 4
    rows = []
    for site in image.sites:
        code = isa.words_to_bytes(site.as_built)
        text = "; ".join(one.text for one in isa.disassemble(code, site.address))
        rows.append((f"{site.address:0{digits}x}", site.function, site.form, "boot", text))
    return ("address", "function", "form", "state", "disassembly"), rows


def _tracers(config: str | None, workload: str, port: str | None) -> Table:
    from harness.tracer import TRACERS

    return ("tracer",), [(name,) for name in TRACERS]


def _events(config: str | None, workload: str, port: str | None) -> Table:
    from harness.trace import event_formats
    from harness.tracer import declared_syscalls

    events = event_formats(8)
    if config is not None:
        for call in declared_syscalls(_image(config, workload, port)):
            events += call.formats(8)
    return ("system", "event", "id"), [(one.system, one.name, str(one.id)) for one in events]


def _workloads(config: str | None, workload: str, port: str | None) -> Table:
    from harness.build import list_workloads

    return ("workload",), [(name,) for name in list_workloads()]


def _clauses(config: str | None, workload: str, port: str | None) -> Table:
    from harness.config import load_config
    from harness.conformance import covered, load_catalogue, load_checks

    header = ["id", "feature", "source", "title"]
    rows = [
        [one.id, " + ".join(one.features), f"{one.source}, {one.section}", one.title]
        for one in load_catalogue().clause
    ]
    if config is None:
        return header, rows
    machine, checks = load_config(config), load_checks()
    rows = [
        [*row, covered(one, machine, checks)]
        for one, row in zip(load_catalogue().clause, rows, strict=True)
        if one.applies_to(machine)
    ]
    return [*header, "covered"], rows


TABLES: dict[str, Callable[[str | None, str, str | None], Table]] = {
    "configs": _configs,
    "functions": _functions,
    "sites": _sites,
    "tracers": _tracers,
    "events": _events,
    "workloads": _workloads,
    "clauses": _clauses,
}


def _image(config: str | None, workload: str, port: str | None):  # type: ignore[no-untyped-def]
    if config is None:
        raise UsageError("which guest? functions and sites are those of one", "Name it: -c CONFIG.")
    from harness.build import build_guest
    from harness.config import load_config
    from harness.image import Image

    with progress() as tell:
        kernel = build_guest(load_config(config), workload, port=port, progress=tell)
    return Image(kernel.read_bytes(), str(kernel))
