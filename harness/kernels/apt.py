# SPDX-License-Identifier: MIT
"""Download Debian packages without root; nothing is installed.

For a foreign architecture apt uses its own state directory below the cache, so that dpkg's
architectures and the system's lists stay unchanged.
"""

import os
import re
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from harness.config import resources
from harness.errors import HostError
from harness.kbuild.cache import host_errors
from harness.kbuild.make import Progress
from harness.process import NotRun, find_program, run, stream
from harness.units import MIB, escape

_UPDATE_DEADLINE = 600.0
_DOWNLOAD_DEADLINE = 3600.0
_QUERY_DEADLINE = 60.0
_UNPACKED = 6
"""The largest factor between the size of a package and of its unpacked files."""


@dataclass(frozen=True, slots=True)
class DebianPackage:
    """A package that can be downloaded."""

    name: str
    version: str
    size: int
    """Bytes."""
    depends: str

    def dependency(self, pattern: str) -> str | None:
        """The first dependency whose whole name matches."""
        names = (one.split("(")[0].split("|")[0].strip() for one in self.depends.split(","))
        return next((name for name in names if re.fullmatch(pattern, name)), None)


class Apt:
    """apt for the system's own architecture or a foreign one."""

    def __init__(self, foreign: str | None = None) -> None:
        """``foreign`` is Debian's name of an architecture.  HostError if apt is missing."""
        for program, package in (("apt-get", "apt"), ("apt-cache", "apt"), ("dpkg-deb", "dpkg")):
            find_program(program, package)
        self.foreign = foreign
        self._environment = {**os.environ, "LC_ALL": "C"}

    def update(self, report: Progress) -> None:
        """Download the lists of a foreign architecture; the system's own are not updated."""
        if self.foreign is None:
            return
        state = resources.cache_directory() / "apt" / self.foreign
        with host_errors(state):
            for directory in ("lists/partial", "cache/archives/partial"):
                (state / directory).mkdir(parents=True, exist_ok=True)
            (state / "status").touch()
            config = state / "apt.conf"
            config.write_text(_config(state, self.foreign))
        self._environment["APT_CONFIG"] = str(config)
        report(f"getting Debian's lists of packages for {self.foreign}")
        self._run(["apt-get", "-q", "update"], _UPDATE_DEADLINE, state, report)

    def show(self, name: str) -> DebianPackage:
        """The newest version of a package; HostError if the lists have none."""
        command = ["apt-cache", "show", "--no-all-versions", name]
        try:
            result = run(command, _QUERY_DEADLINE, environment=self._environment)
        except NotRun as error:
            raise HostError(f"apt-cache cannot be run: {error}.", "") from error
        text = result.stdout.decode(errors="replace")
        fields = dict(re.findall(r"^(\w[\w-]*): (.*)$", text, re.MULTILINE))
        if result.returncode != 0 or fields.get("Package") != name:
            of = f" for {self.foreign}" if self.foreign else ""
            raise HostError(
                f"apt knows no package {name}{of}.",
                "Run apt-get update, and look at the sources in /etc/apt.",
            )
        return DebianPackage(
            name, fields["Version"], int(fields["Size"]), fields.get("Depends", "")
        )

    def download(
        self, packages: Sequence[DebianPackage], directory: Path, report: Progress
    ) -> list[Path]:
        """Download packages into a directory; their files, in the order given.

        HostError if there is no room for them and their contents, or if apt fails.
        """
        size = sum(package.size for package in packages)
        free = shutil.disk_usage(directory).free
        if free < _UNPACKED * size:
            raise HostError(
                f"There is no room for {size // MIB} MiB of packages, unpacked, in "
                f"{escape(str(directory), 500)}.",
                f"Make room for {_UNPACKED * size // MIB} MiB, or set XDG_CACHE_HOME.",
            )
        names = [f"{package.name}={package.version}" for package in packages]
        report(f"downloading {size // MIB} MiB: {' '.join(names)}")
        self._run(["apt-get", "-q", "download", *names], _DOWNLOAD_DEADLINE, directory, report)
        found = []
        for package in packages:
            files = sorted(directory.glob(f"{package.name}_*.deb"))
            if not files:
                raise HostError(f"apt-get downloaded no {package.name}.", "Try again.")
            found.append(files[0])
        return found

    def _run(
        self, command: Sequence[str], deadline: float, directory: Path, report: Progress
    ) -> None:
        lines: list[str] = []

        def tell(line: str) -> None:
            lines.append(escape(line))
            del lines[:-10]
            report(f"  {escape(line)}")

        # apt-get download writes to the current directory.
        moved = ["env", "-C", str(directory), *command]
        try:
            status = stream(moved, deadline, tell, environment=self._environment)
        except NotRun as error:
            raise HostError(f"{command[0]} cannot be run: {error}.", "Try again.") from error
        if status != 0:
            shown = "\n".join(lines)
            raise HostError(
                f"{' '.join(command)} ended with status {status}:\n{shown}",
                "Look at the network and at the sources in /etc/apt.",
            )


def extract(package: Path, pattern: str, directory: Path, report: Progress) -> Path:
    """Unpack the one file of a package that matches a wildcard of tar; returns its path."""
    report(f"unpacking {package.name}")
    script = 'dpkg-deb --fsys-tarfile "$1" | tar -x -C "$2" --wildcards --no-anchored "$3"'
    directory.mkdir()
    command = ["sh", "-c", script, "sh", str(package), str(directory), pattern]
    lines: list[str] = []
    try:
        status = stream(command, _DOWNLOAD_DEADLINE, lines.append)
    except NotRun as error:
        raise HostError(f"tar cannot be run: {error}.", "") from error
    files = [path for path in sorted(directory.rglob("*")) if path.is_file()]
    if status != 0 or len(files) != 1 or files[0].is_symlink():
        shown = escape("\n".join(lines[-5:]), 1000)
        raise HostError(f"{package.name} has no {pattern}:\n{shown}", "This may be a new layout.")
    return files[0]


def _config(state: Path, architecture: str) -> str:
    settings = {
        "APT::Architecture": architecture,
        "APT::Architectures::": architecture,
        "APT::Sandbox::User": "",
        "Acquire::Languages": "none",
        "Dir::State": str(state),
        "Dir::State::lists": str(state / "lists"),
        "Dir::State::status": str(state / "status"),
        "Dir::Cache": str(state / "cache"),
    }
    cleared = "#clear APT::Architectures;\n"
    return cleared + "".join(f'{key} "{value}";\n' for key, value in settings.items())
