# SPDX-License-Identifier: MIT
"""harness list"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import click

from harness.cli.options import (
    GuestOptions,
    features_option,
    guest_options,
    json_option,
    module_option,
    port_option,
    print_table,
    workload_option,
)
from harness.cli.progress import progress
from harness.errors import UsageError

if TYPE_CHECKING:
    from harness.image import RunningImage
    from harness.isa import CallSite
    from harness.kbuild import GuestSpec

Table = tuple[Sequence[str], Sequence[Sequence[str]]]


@dataclass(frozen=True)
class Wanted:
    """The options of ``harness list``."""

    config: str | None
    guest: GuestOptions
    as_built: bool
    unreadable: list[UsageError] = field(default_factory=list)
    """What is wrong with configs that have no row."""


@click.command("list")
@click.argument(
    "what",
    type=click.Choice(
        ["configs", "functions", "sites", "tracers", "events", "workloads", "modules", "clauses"]
    ),
)
@click.option("-c", "--config", metavar="CONFIG", help="The machine config, if needed.")
@guest_options(workload_option, port_option, features_option, module_option)
@click.option("--as-built", is_flag=True, help="sites: those of the image; no guest is booted.")
@json_option
def list_(
    what: str, config: str | None, guest: GuestOptions, as_built: bool, as_json: bool
) -> None:
    """List configs, functions, sites, tracers, events, workloads, modules or clauses.

    functions and sites are those of a guest, so they need -c and build the guest if it is not in
    the cache; with -c events also has those of system calls.  For sites the guest is booted up to
    its workload with its modules, and the current state of each is shown.  clauses are those of the
    specification; with -c those that apply to the config, and whether checks of the harness cover
    them there.
    """
    wanted = Wanted(config, guest, as_built)
    header, rows = TABLES[what](wanted)
    print_table(header, rows, as_json)
    if wanted.unreadable:
        raise wanted.unreadable[0]


def _configs(wanted: Wanted) -> Table:
    from harness.config import list_configs, load_config

    loaded = []
    for name in list_configs():
        try:
            loaded.append(load_config(name))
        except UsageError as error:
            wanted.unreadable.append(error)
    return (
        ("name", "architecture", "form", "description"),
        [(one.name, one.architecture, one.build.form, one.description) for one in loaded],
    )


def _functions(wanted: Wanted) -> Table:
    from harness.tracer import title

    image = _image(wanted)
    digits = image.bits // 4
    return (
        ("address", "function"),
        [(f"{site.function_address:0{digits}x}", title(image, site)) for site in image.sites],
    )


def _sites(wanted: Wanted) -> Table:
    from harness.guest import start
    from harness.isa import SiteState

    header = ("address", "function", "form", "state", "disassembly")
    if wanted.as_built:
        image = _image(wanted)
        return header, [_site(image, s, SiteState.BOOT, s.as_built) for s in image.sites]
    with progress() as tell, start(_spec(wanted), progress=tell) as guest:
        return header, [
            _site(guest.image, now.site, now.state, now.code) for now in guest.tracer.sites()
        ]


def _site(image: "RunningImage", site: "CallSite", state: str, code: bytes) -> Sequence[str]:
    from harness.tracer import title

    text = "; ".join(one.text for one in image.isa.disassemble(code, site.address))
    return (f"{site.address:0{image.bits // 4}x}", title(image, site), site.form, state, text)


def _tracers(wanted: Wanted) -> Table:
    from harness.tracer import TRACERS

    return ("tracer",), [(name,) for name in TRACERS]


def _events(wanted: Wanted) -> Table:
    from harness.trace import event_formats
    from harness.tracer import declared_syscalls

    events = event_formats(8)
    if wanted.config is not None:
        for call in declared_syscalls(_image(wanted)):
            events += call.formats(8)
    return ("system", "event", "id"), [(one.system, one.name, str(one.id)) for one in events]


def _workloads(wanted: Wanted) -> Table:
    from harness.config import list_workloads

    return ("workload",), [(name,) for name in list_workloads()]


def _modules(wanted: Wanted) -> Table:
    from harness.config import list_modules

    return ("module",), [(name,) for name in list_modules()]


def _clauses(wanted: Wanted) -> Table:
    from harness.conformance import load_catalogue

    header = ["id", "feature", "source", "title"]
    rows = [
        [one.id, " + ".join(one.features), f"{one.source}, {one.section}", one.title]
        for one in load_catalogue().clause
    ]
    if wanted.config is None:
        return header, rows
    from harness.conformance.coverage import covered, judged
    from harness.conformance.variants import suite_spec

    spec = suite_spec(wanted.config)
    by_checks = judged(spec)
    rows = [
        [*row, covered(one, spec.config, spec.port, by_checks)]
        for one, row in zip(load_catalogue().clause, rows, strict=True)
        if one.applies_to(spec.config)
    ]
    return [*header, "covered"], rows


TABLES: dict[str, Callable[[Wanted], Table]] = {
    "configs": _configs,
    "functions": _functions,
    "sites": _sites,
    "tracers": _tracers,
    "events": _events,
    "workloads": _workloads,
    "modules": _modules,
    "clauses": _clauses,
}


def _spec(wanted: Wanted) -> "GuestSpec":
    if wanted.config is None:
        raise UsageError("functions and sites need a guest", "Choose it: -c CONFIG.")
    return wanted.guest.spec(wanted.config)


def _image(wanted: Wanted) -> "RunningImage":
    """The guest's image with its modules."""
    from harness.image import Image, RunningImage
    from harness.kbuild import build_guest, module_beside

    spec = _spec(wanted)
    with progress() as tell:
        kernel = build_guest(spec, tell)
    image = RunningImage(kernel.read_bytes(), str(kernel))
    for source in spec.modules:
        path = module_beside(kernel, source.stem) if source in spec.module_sources else source
        image.add_module(source.stem, Image(path.read_bytes(), str(path)))
    return image
