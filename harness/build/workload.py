# SPDX-License-Identifier: MIT
"""The C file that is meant by the name of a workload or a path."""

from pathlib import Path

from harness.config import list_workloads, resources
from harness.config.names import unknown_name
from harness.errors import UsageError
from harness.units import escape


def find_workload(name_or_file: str | Path) -> Path:
    """The absolute path of the workload: a name in ``guests/workloads/``, or a C file anywhere.

    A text that ends in ``.c`` or holds a slash is a path.  Raises UsageError for a name that is
    not there and for a path that is no readable C file.
    """
    text = str(name_or_file)
    if "/" not in text and not text.endswith(".c"):
        known = list_workloads()
        if text not in known:
            raise unknown_name(
                "workload",
                text,
                known,
                path_hint="A path to a workload ends in .c.",
                here=Path(f"{text}.c"),
            )
        return resources.guests_directory() / "workloads" / f"{text}.c"
    file = Path(text).expanduser().absolute()
    shown = escape(str(file), 500)
    if file.suffix != ".c":
        raise UsageError(
            f"The workload {shown} does not end in .c.",
            "A workload is one C file that defines int workload(void).",
        )
    if not file.is_file():
        what = "is not a file" if file.exists() else "does not exist"
        raise UsageError(f"The workload {shown} {what}.", "Give the path of a C file.")
    return file
