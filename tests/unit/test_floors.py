# SPDX-License-Identifier: MIT
"""The house rules: rooms look only down, low floors are pure, only isa knows architectures."""

import ast
import re
from collections.abc import Callable, Iterator, Mapping
from functools import cache
from graphlib import CycleError, TopologicalSorter
from pathlib import Path

import pytest

import harness
from harness.isa import architectures
from tests.unit.isa_kinds import every_isa

PACKAGE = Path(harness.__file__).parent

FLOORS = {
    "errors": -1,
    "version": -1,
    "units": 0,
    "isa": 1,
    "ring": 1,
    "image": 2,
    "trace": 2,
    "config": 3,
    "process": 3,
    "files": 3,
    "pages": 4,
    "report": 5,
    "machine": 4,
    "debugger": 4,
    "linux": 4,
    "kbuild": 4,
    "oracle": 4,
    "dump": 5,
    "patcher": 5,
    "readout": 5,
    "kernels": 5,
    "tracer": 6,
    "guest": 7,
    "replay": 8,
    "record": 9,
    "doctor": 8,
    "tracefs": 8,
    "conformance": 9,
    "mutation": 10,
    "mount": 9,
    "matrix": 11,
    "shell": 11,
    "cli": 12,
    "pytest_plugin": 12,
}
PURE = 2
"""The highest floor that does no input or output."""
COMMANDS = {Path("image/recordmcount/__main__.py")}
"""Command-line entries on a pure floor: all that they may do is to read and to write files."""

SIDE_EFFECTS = {
    *("asyncio", "ctypes", "fcntl", "glob", "http", "logging", "mmap", "multiprocessing"),
    *("os", "pathlib", "select", "selectors", "shutil", "signal", "socket", "subprocess"),
    *("tempfile", "threading", "time", "urllib"),
}
IO_CALLS = {"open", "print", "input", "eval", "exec", "breakpoint"}
# Names of variables that say which architecture something is for.
ARCHITECTURE_VARIABLES = {"arch", "architecture", "e_machine"}

MNEMONICS = {
    *("jal", "jalr", "jr", "bal", "lui", "addiu", "daddiu", "addu", "daddu", "dsll", "dsll32"),
    *("synci", "mtc0", "mfc0", "bnez", "beqz"),
    *("bl", "blr", "br", "bti", "hint", "adrp", "ldr", "str", "ldp", "stp", "cbz", "cbnz"),
    *("msr", "mrs", "isb", "dmb", "dsb", "eret", "paciasp", "autiasp", "svc", "wfi"),
    *("push", "pop", "blx", "bx", "ldm", "stm", "ldmia", "stmdb", "movw", "movt", "vpush", "vpop"),
    *("cpsid", "cpsie", "mcr", "mrc", "rfeia", "srsdb"),
    *("auipc", "sret", "mret", "csrr", "csrw", "addi", "ecall", "ebreak"),
    *("callq", "retq", "iretq", "jmp", "endbr64", "int3", "lea", "mov", "movabs", "pushfq"),
    *("popfq", "sti", "hlt", "swapgs", "rdmsr", "wrmsr", "rip"),
}
WORDS = {"sp", "at", "zero", "hi", "lo", "bad", "cause", "str", "hint", "s8", "v1"}
"""English, Python's, a type of the kernel's, a version."""


def sources() -> list[Path]:
    """Every Python file of the package, relative to it; data in a wheel is not ours to judge."""
    found = (path.relative_to(PACKAGE) for path in PACKAGE.rglob("*.py"))
    return sorted(path for path in found if path.parts[0] != "data")


def room_of(path: Path) -> str:
    """The room that a file belongs to; empty for the package's own ``__init__``."""
    room = path.parts[0].removesuffix(".py")
    return "" if room == "__init__" else room


def imported(path: Path, tree: ast.AST) -> Iterator[str]:
    """Absolute names of all modules, or names in modules, that a file imports anywhere."""
    package = ("harness", *path.parent.parts)
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else ()
            module = ".".join((*base, *([node.module] if node.module else [])))
            yield from (f"{module}.{alias.name}" for alias in node.names)


def looks_up(path: Path, tree: ast.AST) -> list[str]:
    """Imports from the room's own floor or a higher one."""
    room = room_of(path)
    if not room:
        return []
    found = []
    for name in imported(path, tree):
        parts = name.split(".")
        if parts[0] != "harness":
            continue
        other = parts[1] if len(parts) > 1 else ""
        if other != room and FLOORS.get(other, 99) >= FLOORS[room]:
            found.append(name)
    return found


def does_io(path: Path, tree: ast.AST) -> list[str]:
    """Imports and calls with side effects, in a file that must be pure."""
    if FLOORS.get(room_of(path), 99) > PURE or path in COMMANDS:
        return []
    found = [name for name in imported(path, tree) if name.split(".")[0] in SIDE_EFFECTS]
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            found += [node.func.id] * (node.func.id in IO_CALLS)
    return found


def asks_architecture(path: Path, tree: ast.AST) -> list[str]:
    """Branches on which architecture something is for, outside ``isa``.

    That two things are for the same architecture, or that a name is one of those supported, may
    be asked anywhere; what may not is to know one of them by name.
    """
    if room_of(path) == "isa":
        return []
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            suspect = any(is_constant(side) for side in sides) and any(map(is_variable, sides))
            suspect = suspect or any(map(is_name_of_one, sides))
        elif isinstance(node, ast.Match):
            suspect = is_variable(node.subject)
        else:
            suspect = isinstance(node, ast.MatchValue) and is_name_of_one(node.value)
        if suspect:
            found.append(f"line {node.lineno}: {ast.unparse(node)}")
    return found


@cache
def machine_words() -> frozenset[str]:
    """Mnemonics and the names of registers, but for words that mean something else too."""
    names: set[str] = set()
    for abi in (isa.abi for isa in every_isa()):
        names |= {abi.return_register, abi.current_register, *abi.status_registers}
        names |= {*abi.general_registers, *abi.scratch, *abi.float_scratch, *abi.float_saved}
        names |= set(abi.float_status)
    return frozenset(names | MNEMONICS) - {""} - WORDS


def names_machine(path: Path, tree: ast.AST) -> list[str]:
    """Mnemonics and registers in strings outside ``isa``; docstrings may explain with them."""
    if room_of(path) == "isa":
        return []
    explained = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    found = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = set(re.findall(r"(?<![\\\w])[A-Za-z_]\w*", node.value)) & machine_words()
            if words and id(node) not in explained:
                found.append(f"line {node.lineno}: {', '.join(sorted(words))}")
    return found


def is_constant(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(is_constant, node.elts))
    return isinstance(node, ast.Constant) or (isinstance(node, ast.Name) and node.id.isupper())


def is_name_of_one(node: ast.expr) -> bool:
    if isinstance(node, ast.Tuple | ast.List | ast.Set):
        return any(map(is_name_of_one, node.elts))
    names = tuple(architectures())
    return (
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.startswith(names)
    )


def is_variable(node: ast.expr) -> bool:
    return getattr(node, "id", getattr(node, "attr", "")) in ARCHITECTURE_VARIABLES


def of_itself(_path: Path, module: str) -> str:
    """A module counts by itself."""
    return module


def of_folder(path: Path, module: str) -> str:
    """All modules of a folder in a room count as one; the face of a folder is its own."""
    return str(path.parent) if len(path.parts) > 2 and path.name != "__init__.py" else module


def circle(
    trees: Mapping[Path, ast.AST], part: Callable[[Path, str], str] = of_itself
) -> list[str]:
    """Parts that import one another in a circle, anywhere in them; empty if none do."""
    modules = {}
    for path in trees:
        parts = path.with_suffix("").parts
        name = ".".join(("harness", *parts[: len(parts) - (parts[-1] == "__init__")]))
        modules[name] = path
    graph: dict[str, set[str]] = {}
    for module, path in modules.items():
        found = graph.setdefault(part(path, module), set())
        for name in imported(path, trees[path]):
            while name and name not in modules:
                name = name.rpartition(".")[0]
            if name:
                found.add(part(modules[name], name))
        found.discard(part(path, module))
    try:
        TopologicalSorter(graph).prepare()
    except CycleError as error:
        return list(error.args[1])
    return []


@pytest.mark.parametrize("part", [of_itself, of_folder])
def test_no_import_goes_round(part: Callable[[Path, str], str]) -> None:
    read = {path: (PACKAGE / path).read_text(encoding="utf-8") for path in sources()}
    assert circle({path: ast.parse(text) for path, text in read.items()}, part) == []


@pytest.mark.parametrize(
    ("files", "found"),
    [
        ({"a/x.py": "from harness.a.y import f", "a/y.py": "def f():\n    import harness.a.x"}, 3),
        (
            {
                "a/__init__.py": "from harness.a.x import X",
                "a/x.py": "if TYPE_CHECKING:\n    from ..b import Y",
                "b.py": "from harness.a import X",
            },
            4,
        ),
        ({"a/x.py": "from harness import b", "b.py": "", "__init__.py": ""}, 0),
        ({"__init__.py": "from harness.b import f", "b.py": "from harness import __version__"}, 3),
    ],
)
def test_a_circle_is_found(files: dict[str, str], found: int) -> None:
    assert len(circle({Path(path): ast.parse(text) for path, text in files.items()})) == found


def test_a_circle_of_folders_is_found() -> None:
    files = {
        "a/b/x.py": "from harness.a.c.y import Y",
        "a/c/y.py": "",
        "a/c/z.py": "from harness.a.b import w",
        "a/b/w.py": "",
    }
    trees = {Path(path): ast.parse(text) for path, text in files.items()}
    assert circle(trees) == []
    assert len(circle(trees, of_folder)) == 3


@pytest.mark.parametrize("path", sources(), ids=str)
def test_file_keeps_the_house_rules(path: Path) -> None:
    tree = ast.parse((PACKAGE / path).read_text(encoding="utf-8"))
    room = room_of(path)
    assert not room or room in FLOORS, f"{room} has no floor: give it one in {Path(__file__).name}"
    assert looks_up(path, tree) == []
    assert does_io(path, tree) == []
    assert asks_architecture(path, tree) == []
    assert names_machine(path, tree) == []


@pytest.mark.parametrize(
    ("path", "source", "rule"),
    [
        ("isa/x.py", "from harness.image import Image", looks_up),
        ("isa/x.py", "from harness import ring", looks_up),
        ("isa/x.py", "import harness.ring.pages", looks_up),
        ("image/x.py", "from ..trace import events", looks_up),
        ("image/x.py", "from ...harness import trace", looks_up),
        ("image/x.py", "import harness", looks_up),
        ("image/x.py", "from harness import __version__", looks_up),
        ("ring/x.py", "def f():\n    import os.path", does_io),
        ("trace/x.py", "from pathlib import Path", does_io),
        ("units.py", "open('x')", does_io),
        ("guest/x.py", "if config.architecture == 'mips': pass", asks_architecture),
        ("cli/x.py", "x = arch in ('a', 'b')", asks_architecture),
        ("cli/x.py", "x = name in ('mips64', 'b')", asks_architecture),
        ("cli/x.py", "x = elf.e_machine == EM_MIPS", asks_architecture),
        ("cli/x.py", "match arch:\n    case _: pass", asks_architecture),
        ("cli/x.py", "match x:\n    case 'aarch64': pass", asks_architecture),
        ("oracle/x.py", "x = mnemonic == 'lui'", names_machine),
        ("oracle/x.py", "x = text.startswith(('bti', 'nop'))", names_machine),
        ("oracle/x.py", "x = text.split()[0] in ('push', 'vpush')", names_machine),
        ("oracle/x.py", "x = text.startswith('endbr64')", names_machine),
        ("guest/x.py", "debugger.read_register('x30')", names_machine),
        ("guest/x.py", "debugger.read_register('d8')", names_machine),
        ("guest/x.py", "debugger.read_register('rax')", names_machine),
        ("guest/x.py", "x = f'${n} = ra'", names_machine),
    ],
)
def test_rule_catches(path: str, source: str, rule) -> None:
    assert rule(Path(path), ast.parse(source))


@pytest.mark.parametrize(
    ("path", "source"),
    [
        ("image/x.py", "from harness.image.elf import Elf\nfrom .elf import Elf"),
        ("image/x.py", "from harness.isa import Isa\nimport struct"),
        ("machine/x.py", "import os\nfrom harness.config import MachineConfig"),
        ("trace/x.py", "from harness.version import __version__"),
        ("isa/x.py", "x = arch == 'mips'"),
        ("cli/x.py", "x = port.architecture != config.architecture"),
        ("cli/x.py", "x = port.architecture in architectures()"),
        ("isa/x.py", "x = mnemonic == 'lui'"),
        ("oracle/x.py", "def f():\n    'A call is jal, bl or bal.'\n    return 'nop'"),
    ],
)
def test_rules_allow(path: str, source: str) -> None:
    tree = ast.parse(source)
    assert not looks_up(Path(path), tree)
    assert not does_io(Path(path), tree)
    assert not asks_architecture(Path(path), tree)
    assert not names_machine(Path(path), tree)
