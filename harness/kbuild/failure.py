# SPDX-License-Identifier: MIT
"""The error for a failed run of make: whose fault it is, and why."""

import re
from collections.abc import Sequence

from harness.config import MachineConfig, Port, list_configs, load_config, resources
from harness.errors import HarnessError, HostError, UsageError
from harness.isa import mcount_of
from harness.kbuild.spec import GuestSpec, default_features
from harness.units import escape

GIVEN_BY_PORTS = {
    "FUNCTION_TRACER": ("ftrace_stub",),
    "DYNAMIC_FTRACE": (
        *("ftrace_caller", "ftrace_call", "ftrace_make_nop", "ftrace_make_call"),
        "ftrace_update_ftrace_func",
    ),
    "FUNCTION_GRAPH_TRACER": (
        *("ftrace_graph_caller", "ftrace_graph_call", "return_to_handler"),
        *("ftrace_enable_ftrace_graph_caller", "ftrace_disable_ftrace_graph_caller"),
        "ftrace_graph_func",
    ),
}
"""The functions of a port that the kernel calls, by feature; without the one of ``-pg``."""

_UNDEFINED = re.compile(r"undefined reference to `(\w+)'")


class NotDefined(UsageError):
    """The port claims a feature and does not define all of its functions, ``names``."""

    def __init__(
        self, message: str, advice: str = "", evidence: str = "", names: Sequence[str] = ()
    ) -> None:
        super().__init__(message, advice, evidence)
        self.names = tuple(names)

    def __reduce__(self) -> tuple[object, ...]:
        return type(self), (self.message, self.advice, self.evidence, self.names)


def failure(spec: GuestSpec, text: str, command_line: str) -> HarnessError:
    """The error for a guest whose build failed with the output ``text``.

    UsageError for the user's files and choices, HostError for the host and the harness's own files.
    """
    name = spec.config.name
    if "No space left on device" in text:
        return HostError(
            f"The guest does not build for {name}:\n{text}",
            "Make room on the disk, then try again.",
        )
    workload = f"The workload {escape(str(spec.workload), 500)}"
    port = f"The port {escape(str(spec.port.directory), 500)}"
    if "undefined reference to `workload'" in text:
        return UsageError(
            f"{workload} does not define workload().", "Add a function: int workload(void)."
        )
    if lacking := _lacking(spec.port, text):
        return NotDefined(
            f"{port} claims {lacking[0]} and does not define {', '.join(lacking[1:])}",
            "Define it, or take the feature out of port.toml.",
            names=lacking[1:],
        )
    # (what, where, the prefix in the linker's messages: the guests' Makefile maps paths)
    brought = [
        (what, path, mapped)
        for what, path, mapped in (
            (workload, spec.workload, f"workload/{spec.workload.name}"),
            *(
                (f"The module {escape(str(path), 500)}", path, f"module/{path.name}")
                for path in spec.module_sources
            ),
            (port, spec.port.directory, "port/"),
        )
        if not path.is_relative_to(resources.guests_directory())
    ]
    advice = f"Repeat the build by hand with:\n{command_line}"
    for what, path, mapped in brought:
        if str(path) in text or mapped in text:
            return UsageError(f"{what} does not build for {name}:\n{text}", advice)
    message = f"The guest does not build for {name}:\n{text}"
    chosen = spec.cflags or spec.features != default_features(spec.port)
    if brought or chosen or not _is_shipped(spec.config):
        return UsageError(message, advice)
    return HostError(message, advice)


def _lacking(port: Port, text: str) -> list[str]:
    """A feature that the port claims, and its functions that are not defined; empty if all are."""
    missing = set(_UNDEFINED.findall(text))
    for feature, functions in GIVEN_BY_PORTS.items():
        if feature == "FUNCTION_TRACER":
            functions = (mcount_of(port.architecture), *functions)
        lacking = [function for function in functions if function in missing]
        if lacking and feature in port.features:
            return [feature, *lacking]
    return []


def _is_shipped(config: MachineConfig) -> bool:
    return config.name in list_configs() and load_config(config.name) == config
