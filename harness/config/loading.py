# SPDX-License-Identifier: MIT
"""Reads TOML files into models, and turns pydantic's errors into sentences."""

import difflib
import json
import os
import re
import stat
import tomllib
from pathlib import Path
from typing import Any, TypeVar, get_args, get_origin

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from harness.config import resources
from harness.config.models import (
    ConfigFile,
    LinuxConfig,
    LinuxFile,
    LinuxTable,
    MachineConfig,
    Port,
    PortFile,
)
from harness.config.names import is_path, list_configs, list_ports, unknown_name, user_path
from harness.errors import UsageError
from harness.isa import cpu_of
from harness.units import KIB, escape

FILE_LIMIT = 64 * KIB  # a config is a page of text
DOTS_LIMIT = 200  # in one line
CONFIG_ADVICE = "docs/configs.rst describes every key."
PORT_FILES = ("port.toml", "mcount.S", "ftrace.c", "include/asm/ftrace.h")

_Model = TypeVar("_Model", bound=BaseModel)
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*\.toml")


def load_config(name_or_path: str | Path) -> MachineConfig:
    """See :func:`harness.config.load_config`."""
    config = load_any_config(name_or_path)
    if isinstance(config, LinuxConfig):
        raise UsageError(
            f"The config {config.name} is of a Linux kernel, and this needs a guest that the "
            "harness builds.",
            "Choose a config with a table [build]; `harness list configs` has those.",
        )
    return config


def load_any_config(name_or_path: str | Path) -> MachineConfig | LinuxConfig:
    """See :func:`harness.config.load_any_config`."""
    file = _config_file(str(name_or_path))
    data = read_toml(file)
    shown = escape(str(file), 500)
    if not _FILE_NAME.fullmatch(file.name):
        raise UsageError(
            f"{shown}: the file's name is the config's name, and this one has "
            "characters that a name cannot have.",
            "Use letters, digits, dots, dashes, plus signs and underscores, and end in .toml.",
        )
    if ("linux" in data) == ("build" in data):
        both = "both a table [build] and" if "build" in data else "neither a table [build] nor"
        raise UsageError(f"{shown}: there is {both} a table [linux].", CONFIG_ADVICE)
    model: type[LinuxFile] | type[ConfigFile] = LinuxFile if "linux" in data else ConfigFile
    checked = validated(model, data, file)
    way = checked.qemu.inject
    # Without one, the architecture may be incomplete: it is added in steps, the config first.
    if way is not None and way not in (ways := cpu_of(checked.architecture).injections):
        found, allowed = (", ".join(map(json.dumps, one)) for one in ([way], ways))
        shown = escape(f"{file}: qemu.inject: found {found}; allowed: {allowed}", 1000)
        raise UsageError(shown, CONFIG_ADVICE)
    fields: dict[str, Any] = dict(checked)
    if isinstance(checked, LinuxFile):
        fields["linux"] = _with_files(checked.linux, file)
        return LinuxConfig(name=file.stem, **fields)
    if "/" in checked.port:
        # Relative to the file, so that a config works from any directory.
        fields["port"] = os.path.realpath(file.parent / user_path(checked.port))
    return MachineConfig(name=file.stem, **fields)


def _config_file(text: str) -> Path:
    if is_path(text):
        return user_path(text)
    known = list_configs()
    if text not in known:
        raise unknown_name("config", text, known, path_hint="A path to a config ends in .toml.")
    return resources.configs_directory() / f"{text}.toml"


def _with_files(linux: LinuxTable, file: Path) -> LinuxTable:
    """The table with absolute paths; those of the file are relative to its directory."""
    paths = {}
    for key in ("vmlinux", "image", "initrd"):
        given: Path | None = getattr(linux, key)
        if given is None:
            continue
        path = Path(os.path.realpath(file.parent / user_path(given)))
        if not path.is_file():
            raise UsageError(
                escape(f"{file}: linux.{key}: there is no file {path}.", 1000),
                "Paths are relative to the config's directory.",
            )
        paths[key] = path
    return linux.model_copy(update=paths)


def load_port(name_or_directory: str | Path) -> Port:
    """See :func:`harness.config.load_port`."""
    text = str(name_or_directory)
    if isinstance(name_or_directory, Path) or "/" in text or text in (".", ".."):
        directory = Path(os.path.realpath(user_path(text)))
    else:
        known = list_ports()
        if text not in known:
            raise unknown_name(
                "port",
                text,
                known,
                path_hint="A path to a port directory holds a slash.",
                here=Path(text),
            )
        directory = resources.guests_directory() / "ports" / text
    for required in PORT_FILES:
        if not (directory / required).is_file():
            raise UsageError(
                f"{escape(str(directory), 500)} is not a port directory: {required} is missing.",
                f"A port has {', '.join(PORT_FILES)}.",
            )
    file = directory / "port.toml"
    checked = validated(PortFile, read_toml(file), file)
    fields: dict[str, Any] = dict(checked)
    fields["name"] = checked.name or escape(directory.name, 100)
    return Port.model_construct(directory=directory, **fields)


def read_toml(file: Path, limit: int = FILE_LIMIT) -> dict[str, Any]:
    """The content of a TOML file of at most ``limit`` bytes; UsageError for any other."""
    shown = escape(str(file), 500)
    try:
        # Without O_NONBLOCK, opening a FIFO would wait for a writer.
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NONBLOCK), "rb") as stream:
            if not stat.S_ISREG(os.fstat(stream.fileno()).st_mode):
                raise UsageError(f"{shown} is not a regular file.", "Give the path of a TOML file.")
            content = stream.read(limit + 1)
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise UsageError(
            f"{shown} cannot be read: {reason}.", "Give the path of a TOML file."
        ) from error
    if len(content) > limit:
        raise UsageError(f"{shown} is longer than {limit} bytes.", "This is not a config.")
    for number, text in enumerate(content.split(b"\n"), 1):
        # tomllib takes hours for a key of ten thousand parts.
        if text.count(b".") > DOTS_LIMIT:
            raise UsageError(
                f"{shown}: line {number} has more than {DOTS_LIMIT} dots.", "This is not a config."
            )
    try:
        return tomllib.loads(content.decode())
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise UsageError(
            f"{shown}: line {line} is not UTF-8 text.", "TOML files are written in UTF-8."
        ) from error
    except (ValueError, RecursionError) as error:
        reason = escape(str(error), 300)
        raise UsageError(f"{shown} is not TOML: {reason}.", "See https://toml.io/.") from error


def validated(
    model: type[_Model],
    data: dict[str, Any],
    file: Path,
    advice: str = CONFIG_ADVICE,
) -> _Model:
    """The data of a file as a model; UsageError with a line for each problem, then ``advice``."""
    try:
        return model.model_validate(data)
    except ValidationError as error:
        shown = escape(str(file), 500)
        problems = [f"{shown}: {_problem(detail, model)}" for detail in error.errors()]
        raise UsageError("\n".join(problems[:10]), advice) from error


def _problem(detail: ErrorDetails, model: type[BaseModel]) -> str:
    """One error of pydantic as ``KEY: found VALUE; allowed: ...``."""
    key = ""
    allowed = ""
    keys: list[str] = []
    table: type[BaseModel] | None = model
    for part in detail["loc"]:
        if isinstance(part, int):
            key += f"[{part}]"
            continue
        key += f".{part}" if key else part
        if table is None:
            continue
        keys = list(table.model_fields)
        field = table.model_fields.get(part)
        allowed = (field.description or "") if field else ""
        inner = field.annotation if field else None
        # The tables of a list have the model of its items.
        inner = get_args(inner)[0] if get_origin(inner) is tuple else inner
        table = inner if isinstance(inner, type) and issubclass(inner, BaseModel) else None
    key = escape(json.dumps(key, ensure_ascii=False)[1:-1], 100)
    if detail["type"] == "extra_forbidden":
        word = str(detail["loc"][-1])
        close = difflib.get_close_matches(word, keys, n=1)
        hint = f', did you mean "{close[0]}"?' if close else ";"
        return f"{key}: there is no such key{hint} allowed here: {', '.join(keys)}"
    if detail["type"] == "missing":
        return f"{key}: the key is missing; allowed: {allowed}"
    if detail["type"] == "value_error":
        allowed = str(detail["ctx"]["error"])
    try:
        value = json.dumps(detail["input"], default=str, ensure_ascii=False)
    except (ValueError, RecursionError):
        value = f"a {type(detail['input']).__name__} that is too large to be shown"
    found = escape(value, 80)
    return f"{key}: found {found}; allowed: {allowed}"
