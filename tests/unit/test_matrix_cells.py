# SPDX-License-Identifier: MIT
"""From the declaration to cells, their names, and parts of them."""

import os
import shlex
import shutil
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from harness.config import list_configs, load_config, resources
from harness.errors import UsageError
from harness.isa import Form, Property
from harness.matrix import Cell, expand, load_matrix, pick, shard
from harness.matrix.changed import concerned, concerned_elsewhere
from harness.matrix.declared import Declared
from harness.matrix.versions import versions
from matrix_drafts import AXES, CELL, cells, declared

WHY = "a reason that says enough"


def names(found):
    return [one.name for one in found]


def test_every_square_is_a_cell_or_has_a_reason():
    every = expand(declared())
    squares = 2 * 3 * 1 * 2 * 1 * 2
    assert len(every.cells) + len(every.excluded) == squares
    assert len({*names(every.cells), *names(every.excluded)}) == squares
    # Patchable entries are there only in dynamic guests, which nobody has to declare.
    out = {one.name for one in every.excluded}
    assert out == {n for n in out if n.startswith("aarch64-virt-patchable/static/")}
    assert len(out) == 4
    assert all(one.reason for one in every.excluded)


def test_a_cell_knows_all_that_decides_what_it_does():
    cell = next(
        c for c in expand(declared()).cells if c.name == "mips-malta/static/gcc-O0-fp/calls"
    )
    assert cell.cflags == ("-O0", "-fno-omit-frame-pointer")
    assert "DYNAMIC_FTRACE" not in cell.features
    assert "FUNCTION_TRACER" in cell.features
    assert (cell.tracer, cell.subject, cell.port) == ("function", "calls", "mips")
    assert Cell.from_json(cell.as_json()) == cell


def test_an_exclude_takes_out_and_an_include_puts_in_again():
    matrix = declared(
        exclude=[{"work": ["conform"], "reason": WHY}],
        include=[{"work": ["conform"], "config": ["mips-*"], "mode": ["graph"], "reason": WHY}],
    )
    every = expand(matrix)
    conform = [cell for cell in every.cells if cell.kind == "conform"]
    assert names(conform) == [
        "mips-malta/graph/gcc-O0-fp/conform",
        "mips-malta/graph/gcc-O2-fp/conform",
    ]
    assert {one.reason for one in every.excluded if one.rule == 1} == {WHY}


@pytest.mark.parametrize("kind", ["exclude", "include"])
def test_a_rule_about_nothing_is_a_slip_of_the_pen(kind):
    rule = {"config": ["mips-malta"], "work": ["clals"], "reason": WHY}
    with pytest.raises(UsageError, match=rf"\[\[{kind}\]\] number 1"):
        expand(declared(**{kind: [rule]}))


def test_a_glob_of_configs_that_matches_none_is_an_error():
    with pytest.raises(UsageError, match="no machine config"):
        expand(declared(configs=["mips-mlata"]))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("x = ", "is not TOML"),
        ("nonsense = 1", "there is no such key"),
        ('[work.a]\nkind = "workload"', "workload with the kinds"),
        ('[work.a]\nkind = "conform"\nworkload = "calls"', "workload with the kinds"),
        ('[optimise]\nO2 = ["-O2; rm"]', "compiler flags"),
        ('[optimise]\n"a/b" = ["-O2"]', "a/b"),
        ('[[exclude]]\nreason = "short"', "reason"),
        ('[compiler]\ntcc = { program = "tcc" }', "tcc"),
    ],
)
def test_a_wrong_declaration_says_where(tmp_path, text, message):
    file = tmp_path / "matrix.toml"
    file.write_text(text)
    with pytest.raises(UsageError, match=message) as caught:
        load_matrix(file)
    assert str(file) in caught.value.message


def test_a_c_file_is_meant_from_where_the_declaration_lies(tmp_path, monkeypatch):
    monkeypatch.chdir("/")
    (tmp_path / "mine.c").write_text("int workload(void) { return 0; }\n")
    file = tmp_path / "matrix.toml"
    small = f'{AXES}c = {{ kind = "workload", workload = "WORKLOAD" }}\n'
    file.write_text(small.replace("WORKLOAD", "mine.c"))
    assert {cell.subject for cell in expand(load_matrix(file)).cells} == {str(tmp_path / "mine.c")}
    for wrong in ("clals", "no.c"):
        file.write_text(small.replace("WORKLOAD", wrong))
        with pytest.raises(UsageError):
            expand(load_matrix(file))


@pytest.fixture
def mine(tmp_path):
    """A directory with a port and a config of somebody's own."""
    ports = resources.guests_directory() / "ports"
    shutil.copytree(ports / "mips", tmp_path / "port")
    own = (resources.configs_directory() / "mips-malta.toml").read_text()
    (tmp_path / "board.toml").write_text(own.replace('"mips"\n\n', '"./port"\n\n'))
    return tmp_path


def own_matrix(directory, text):
    file = directory / "matrix.toml"
    file.write_text(f'{text}\n{AXES}m = {{ kind = "mutants" }}\nc = {{ kind = "conform" }}\n')
    return expand(load_matrix(file), file)


def test_a_config_of_ones_own_is_named_by_its_file(mine, monkeypatch):
    monkeypatch.chdir("/")
    every = own_matrix(mine, 'configs = ["./board.toml", "mips64*"]\nmodes = ["graph"]')
    board = [cell for cell in every.cells if cell.config == "board"]
    assert names(board) == ["board/graph/gcc-O2-auto/c"]
    assert board[0].config_file == str(mine / "board.toml")
    assert board[0].machine.port == board[0].port == str(mine / "port")
    # No fault is planted in a port that nobody here knows.
    assert [one.name for one in every.excluded] == ["board/graph/gcc-O2-auto/m"]
    assert {cell.config for cell in every.cells} == {
        "board",
        *(name for name in list_configs() if name.startswith("mips64")),
    }
    assert all(cell.machine.name == cell.config for cell in every.cells)


def test_a_port_of_ones_own_is_built_on_every_config_that_it_is_for(mine):
    every = own_matrix(mine, 'port = "port"')
    assert {cell.config for cell in every.cells} == {
        name for name in list_configs() if name.startswith("mips")
    }
    assert {cell.machine.port for cell in every.cells} == {str(mine / "port")}
    assert {cell.kind for cell in every.cells} == {"conform"}


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('configs = ["./bord.toml"]', "bord.toml cannot be read"),
        ('configs = ["./board.toml", "sub/board.toml"]', "more than one is called board"),
        ('port = "prot"', "not a port directory"),
        ('port = "port"\nconfigs = ["aarch64*"]', "no cell: the port mips is not for"),
        ('port = ""', "port: "),
    ],
)
def test_ports_and_configs_of_ones_own_that_do_not_go(mine, text, message):
    (mine / "sub").mkdir()
    shutil.copy(mine / "board.toml", mine / "sub")
    shutil.copytree(mine / "port", mine / "sub" / "port")
    with pytest.raises(UsageError, match=message):
        own_matrix(mine, text)


def test_versions_of_tools_are_chosen_and_cells_keep_their_names(tmp_path):
    own, chosen = Declared(None, None), Declared(None, None, tmp_path, ("gcc-13", "clang-19"))
    every = chosen.expand().cells
    assert names(every) == names(own.expand().cells)
    machines = {name: cell.machine for name, cell in {one.compiler: one for one in every}.items()}
    assert set(machines) == {"gcc", "clang"}
    assert machines["clang"].build.compiler_program == "clang-19"
    assert machines["gcc"].build.compiler_program.endswith("-linux-gnu-gcc-13")
    assert Path(machines["gcc"].qemu.binary).parent == tmp_path
    assert shlex.split(chosen.repeat(every[0]))[3:-1] == [
        *("--qemu", str(tmp_path)),
        *("--compiler", "gcc-13", "--compiler", "clang-19"),
    ]
    one = own.expand().cells[0].machine
    assert one.qemu.binary == load_config(one.name).qemu.binary


def test_what_a_run_records_is_called_as_ever(tmp_path):
    """Or no report could say that it is the version that is another."""
    for program in ("qemu-system-mips", "mips-linux-gnu-gcc-13"):
        (tmp_path / program).write_text(f"#!/bin/sh\necho {program} 1.2\n")
        (tmp_path / program).chmod(0o755)
    cell = replace(CELL, qemu=str(tmp_path), program="gcc-13")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PATH", str(tmp_path), prepend=os.pathsep)
        found = versions(cell)
    assert found["qemu-system-mips"] == "qemu-system-mips 1.2"
    assert found["mips-linux-gnu-gcc"] == "mips-linux-gnu-gcc-13 1.2"


def test_a_declaration_may_name_the_directory_of_qemu(mine, monkeypatch):
    monkeypatch.chdir("/")
    assert {cell.qemu for cell in own_matrix(mine, 'qemu = "bin"').cells} == {str(mine / "bin")}


@pytest.mark.parametrize("name", ["tcc", "gcc-", "gcc-13; rm", "../gcc", "clang-19"])
def test_a_compiler_that_is_none_of_the_matrix(tmp_path, name):
    file = tmp_path / "matrix.toml"
    file.write_text(f'{AXES}c = {{ kind = "conform" }}\n')
    with pytest.raises(UsageError, match="no compiler"):
        Declared(file, None, None, (name,)).expand()


def test_a_rule_about_everything_is_refused(tmp_path):
    file = tmp_path / "matrix.toml"
    file.write_text(f'{AXES}c = {{ kind = "conform" }}\n[[exclude]]\nreason = "{WHY}"\n')
    with pytest.raises(UsageError, match="names no axis"):
        load_matrix(file)


def test_the_nightly_matrix_has_each_config_under_all_flags_and_judged():
    every = expand(load_matrix())
    assert {cell.config for cell in every.cells} == set(list_configs())
    assert {cell.config for cell in every.cells if cell.kind == "conform"} == set(list_configs())
    for config in list_configs():
        own = [c for c in every.cells if c.config == config and c.work == "returns"]
        assert {c.optimise for c in own} == {"O0", "O1", "O2", "O3", "Os"}
        # With and without a frame pointer, where the compiler knows both.
        machine = load_config(config)
        keeps = Property.FRAME_RECORDS in machine.properties
        both = not keeps or machine.build.form is Form.PATCHABLE_ENTRY
        assert (len({c.frame for c in own if c.optimise == "O2"}) == 2) == both
        assert {c.mode for c in own} >= {"dynamic", "graph"}
    assert len(set(names(every.cells))) == len(every.cells)


def test_globs_cross_slashes_and_one_that_matches_nothing_is_an_error():
    every = cells("a", "b", "c")
    assert names(pick(every, ["mips*/b", "*/c"])) == names(every[1:])
    assert pick(every, []) == every
    with pytest.raises(UsageError, match="no cell"):
        pick(every, ["mips*/b", "mpis*"])


@given(st.integers(0, 60), st.integers(1, 20), st.randoms())
def test_shards_are_a_partition_of_any_order(number, count, random):
    kinds = ("workload", "soak", "conform", "mutants")
    every = [replace(CELL, work=f"w{n}", kind=kinds[n % 4]) for n in range(number)]
    shuffled = random.sample(every, len(every))
    parts = [shard(shuffled, index, count) for index in range(1, count + 1)]
    assert sorted(cell for part in parts for cell in part) == sorted(every)
    assert max(map(len, parts)) - min(map(len, parts)) <= 1
    assert parts == [shard(every, index, count) for index in range(1, count + 1)]


@pytest.mark.parametrize(("index", "count"), [(0, 2), (3, 2), (1, 0), (-1, 2)])
def test_there_is_no_part_outside(index, count):
    with pytest.raises(UsageError):
        shard([], index, count)


ARM = replace(CELL, config="aarch64-virt", architecture="aarch64", port="aarch64")
CONFORM = replace(CELL, work="conform", kind="conform", subject="")
MUTANTS = replace(CELL, work="mutants", kind="mutants", subject="all")
THREADS = replace(CELL, work="t", subject="recursion_threads")
EVERY = [CELL, ARM, CONFORM, MUTANTS, THREADS]


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("guests/arch/aarch64/head.S", [ARM]),
        ("guests/ports/mips/mcount.S", [CELL, CONFORM, MUTANTS, THREADS]),
        ("guests/workloads/calls.c", [CELL, ARM]),
        ("guests/workloads/recursion.c", [THREADS]),
        ("guests/workloads/returns.c", [CONFORM, MUTANTS]),
        ("guests/kernel/trace/ring.c", EVERY),
        ("qemu-configs/aarch64-virt.toml", [ARM]),
        ("harness/isa/aarch64/abi.py", [ARM]),
        ("harness/isa/base.py", EVERY),
        ("harness/conformance/engine.py", [CONFORM, MUTANTS]),
        ("harness/tracer/control.py", EVERY),
        ("guests/ports/mips/mutants/a.toml", [MUTANTS]),
        ("harness/mutation/operators.py", [MUTANTS]),
        ("tests/unit/test_x.py", []),
        ("docs/matrix.rst", []),
        ("something-new", EVERY),
    ],
)
def test_a_change_concerns_what_it_has_a_part_in(file, expected):
    sources = {"recursion_threads.c": b'#define x\n#include "recursion.c"\n', "recursion.c": b""}
    assert concerned(EVERY, [file], sources) == expected
    assert concerned(EVERY, [], sources) == []


OWN = replace(CELL, config="board", config_file="/x/board.toml", port="/x/port")
OTHER = replace(
    CELL, config="other", config_file="/x/other.toml", port="/x/other", subject="/x/a.c"
)


@pytest.mark.parametrize(
    ("file", "expected"),
    [
        ("/x/port/mcount.S", [OWN]),
        ("/x/other.toml", [OTHER]),
        ("/x/a.c", [OTHER]),
        ("/x/portly.h", [OWN, OTHER]),
    ],
)
def test_a_change_of_another_tree_concerns_its_port_or_everything(file, expected):
    assert concerned_elsewhere([OWN, OTHER], [Path(file)]) == expected
    assert concerned_elsewhere([OWN, OTHER], []) == []
