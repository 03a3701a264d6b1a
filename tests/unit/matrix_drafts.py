# SPDX-License-Identifier: MIT
"""Cells, results and declarations that tests of the matrix begin with."""

from dataclasses import replace

from harness.matrix.cells import Cell
from harness.matrix.model import MatrixFile
from harness.matrix.result import CellOutcome, CellVerdict, Result

AXES = """
[compiler]
gcc = { program = "gcc" }
[optimise]
O2 = ["-O2"]
[frame]
auto = []
[work]
"""
"""Of a declaration what stands between its first keys and its kinds of work."""

CELL = Cell(
    config="mips-malta",
    config_file="",
    mode="dynamic",
    compiler="gcc",
    program="gcc",
    qemu="",
    optimise="O2",
    frame="nofp",
    work="calls",
    kind="workload",
    subject="calls",
    architecture="mips",
    port="mips",
    features=("FUNCTION_TRACER", "DYNAMIC_FTRACE"),
    cflags=("-O2",),
)

RESULT = Result(
    id="a1",
    cell=CELL.name,
    run="r1",
    revision="1111",
    outcome=CellOutcome.PASS,
    message="",
    started=1000.0,
    seconds=2.0,
    peak=1 << 20,
    command=f"harness matrix cell {CELL.name}",
    versions={"gcc": "gcc 12"},
    verdicts=(CellVerdict("answer", "pass"), CellVerdict("events", "pass", "79 events")),
    instructions=30655,
)


def cells(*works):
    """A cell for each name of work."""
    return [replace(CELL, work=work) for work in works]


def failed(result=RESULT, name="answer", message="wrong", **changes):
    """The same attempt, where one verdict is that it fails."""
    verdicts = tuple(
        CellVerdict(one.name, "fail", message) if one.name == name else one
        for one in result.verdicts
    )
    told = {"outcome": CellOutcome.FAIL, "message": message, "instructions": None}
    return replace(result, verdicts=verdicts, **told | changes)


def declared(**changes):
    """A small matrix: two configs, three modes, one compiler, two optimisations, two works."""
    data = {
        "configs": ["mips-malta", "aarch64-virt-patchable"],
        "compiler": {"gcc": {"program": "gcc"}},
        "optimise": {"O0": ["-O0"], "O2": ["-O2"]},
        "frame": {"fp": ["-fno-omit-frame-pointer"]},
        "work": {
            "calls": {"kind": "workload", "workload": "calls"},
            "conform": {"kind": "conform"},
        },
    }
    return MatrixFile.model_validate(data | changes)
