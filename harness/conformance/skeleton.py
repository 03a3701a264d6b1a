# SPDX-License-Identifier: MIT
"""A new port, which builds and does nothing, with the clauses of each function in comments.

Templates for all architectures are in ``guests/ports/template``, the rest in
``guests/arch/ARCH/port``.
"""

from collections.abc import Iterator
from pathlib import Path

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from harness.config import MachineConfig, resources
from harness.conformance.catalogue import BuildKind, Clause, load_catalogue
from harness.errors import UsageError
from harness.isa import Form
from harness.units import escape

SUFFIX = ".jinja"


def write_port(directory: Path, config: MachineConfig) -> list[Path]:
    """Write a port for a machine config; returns its files, by their paths in the directory.

    Raises:
        UsageError: the directory is not empty, or cannot be written.
    """
    shown = escape(str(directory), 500)
    files = dict(_rendered(config))
    try:
        directory.mkdir(parents=True, exist_ok=True)
        if any(directory.iterdir()):
            raise UsageError(f"{shown} is not empty", "Name a directory that is not there yet.")
        for name, text in files.items():
            (directory / name).parent.mkdir(parents=True, exist_ok=True)
            (directory / name).write_text(text, encoding="utf-8")
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(f"{shown} cannot be written: {reason}", "Name another one.") from error
    return list(files)


def _rendered(config: MachineConfig) -> Iterator[tuple[Path, str]]:
    guests = resources.guests_directory()
    clauses = [clause for clause in load_catalogue().clause if _concerns(clause, config)]

    def asks(*names: str) -> str:
        """The clauses named, or of a named subject, each as a line of a comment."""
        return "\n".join(
            f" * {one.id:5}{one.title}" for one in clauses if {one.id, one.stem} & set(names)
        )

    def clause(name: str) -> str:
        return f"{name}: {load_catalogue()[name].title}"

    values = {"architecture": config.architecture, "form": str(config.build.form)}
    for place in (guests / "ports" / "template", guests / "arch" / config.architecture / "port"):
        environment = Environment(
            loader=FileSystemLoader(place),
            undefined=StrictUndefined,
            trim_blocks=True,
            keep_trailing_newline=True,
            autoescape=False,
        )
        for name in environment.list_templates():
            text = environment.get_template(name).render(asks=asks, clause=clause, **values)
            yield Path(name.removesuffix(SUFFIX)), text


def _concerns(clause: Clause, config: MachineConfig) -> bool:
    static = clause.builds == (BuildKind.STATIC,)
    no_static = config.build.form is Form.PATCHABLE_ENTRY
    return clause.applies_to(config) and not (static and no_static)
