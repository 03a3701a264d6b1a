# SPDX-License-Identifier: MIT
"""Generated faults in C: what each operation makes of a piece of code, and the faults' names."""

import sys

import pytest

from harness.conformance.variants import suite_spec
from harness.errors import UsageError
from harness.mutation import c_builds, c_operators, kill_table
from harness.mutation.c_operators import CFault, c_faults
from harness.mutation.mutants import Collection, Equivalent, Stub
from harness.mutation.operators import SAME_CODE

pytest.importorskip("tree_sitter_c", reason="the extra mutants is not installed")


def made(text):
    return {fault.name.partition("/")[2]: fault.text for fault in c_faults("f.c", text)}


def in_function(body):
    """The faults in a function's body: what each makes of it, as one line."""
    start, end = "int f(int a)\n{\n", "\n}\n"
    found = made(f"{start}{body}{end}")
    assert all(text.startswith(start) and text.endswith(end) for text in found.values())
    return {name: " ".join(text[len(start) : -len(end)].split()) for name, text in found.items()}


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        ("a = b < c;", {"<-to-<=@1": "a = b <= c;", "dropped@1": ";"}),
        ("x(a == b);", {"==-to-!=@1": "x(a != b);", "dropped@1": ";"}),
        ("x(a & b);", {"&-to-|@1": "x(a | b);", "mask-dropped@1": "x(a);", "dropped@1": ";"}),
        ("a += -b;", {"+=-to--=@1": "a -= -b;", "--dropped@1": "a += b;", "dropped@1": ";"}),
        ("return (s16)a;", {"return-0@1": "return 0;", "cast-dropped@1": "return a;"}),
        # Casts of pointers only please the compiler.
        ("return *(u32 *)a;", {"return-0@1": "return 0;"}),
        ("return 7;", {"+1@1": "return (7 + 1);", "-1@1": "return (7 - 1);", "0@1": "return 0;"}),
        ("return 1u;", {"+1@1": "return (1u + 1);", "-1@1": "return (1u - 1);"}),
        ("return true;", {"true-to-false@1": "return false;"}),
        ("if (a)\n\t\treturn 0u;", {"negated@1": "if (!((a))) return 0u;", "if-dropped@1": ";"}),
        ("if (!a)\n\t\tb();", {"!-dropped@1": "if (a) b();", "if-dropped@1": ";"}),
        ("if (a != b)\n\t\tb();", {"!=-to-==@1": "if (a == b) b();", "if-dropped@1": ";"}),
        ("x(a ? b : c);", {"negated@1": "x((!(a)) ? b : c);", "dropped@1": ";"}),
        (
            "while (a)\n\t\tbreak;",
            {"negated@1": "while (!((a))) break;", "dropped@1": "while (a) ;"},
        ),
        (
            "a();\n\tb();",
            {"dropped@1": "; b();", "dropped@2": "a(); ;", "swapped@1": "b(); a();"},
        ),
    ],
)
def test_every_operation(body, expected):
    found = in_function(body)
    assert {name: found.get(name) for name in expected} == expected
    assert found.keys() - expected.keys() <= {"+1@1", "-1@1", "0@1"}


def test_else_keeps_what_belongs_to_it():
    found = in_function("if (a)\n\t\tx();\n\telse\n\t\ty();")
    assert found == {
        "negated@1": "if (!((a))) x(); else y();",
        "dropped@1": "if (a) ; else y();",
        "dropped@2": "if (a) x(); else ;",
    }


def test_macros_are_changed_and_conditions_of_the_preprocessor_are_not():
    found = {
        fault.name
        for fault in c_faults("f.h", "#if A > 1\n#define RS(w)\t((w) >> 21 & 31)\n#endif\n")
    }
    assert found == {
        *(f"f.h:RS/{operation}@1" for operation in ("&-to-|", "mask-dropped", ">>-to-<<")),
        *(f"f.h:RS/{operation}@{n}" for operation in ("+1", "-1", "0") for n in (1, 2)),
    }


def test_lines_stay_where_they_are():
    text = "int f(void)\n{\n\tif (a)\n\t\treturn 3;\n\treturn b(1,\n\t\t 2);\n}\nint last;\n"
    for name, changed in made(text).items():
        assert changed.splitlines().index("int last;") == 7, name


def test_a_fault_is_told_by_its_lines():
    (fault,) = (
        one
        for one in c_faults("f.c", "int f(void)\n{\n\treturn  a <\tb;\n}\n")
        if "<-to-<=" in one.name
    )
    assert fault.name == "f.c:f/<-to-<=@1"
    assert fault.about == "return a < b; => return a <= b;"


def test_names_do_not_depend_on_other_functions():
    text = "bool f(void)\n{\n\treturn a == b;\n}\n"
    before = {fault.name for fault in c_faults("f.c", text)}
    more = "static __always_inline bool g(void)\n{\n\treturn c == d;\n}\n"
    after = {fault.name for fault in c_faults("f.c", more + text)}
    assert before < after
    assert "f.c:g/==-to-!=@1" in after


def test_without_the_parser_the_user_is_told_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tree_sitter_c", None)
    c_operators._parser.cache_clear()
    try:
        with pytest.raises(UsageError, match="need a parser"):
            list(c_faults("f.c", "int a;"))
    finally:
        c_operators._parser.cache_clear()


def fault(name):
    return CFault(f"f.c:f/{name}", "f.c", "f", name, f"int {name};")


class Compiled:
    """What the compiler makes of faults in a build."""

    def __init__(self, **made_of):
        self.made_of = made_of

    def compile_port(self, edits):
        texts = [edit.get("f.c", "the port's own") for edit in edits]
        made = [self.made_of.get(text.removeprefix("int ").rstrip(";"), "same") for text in texts]
        return [{"f.c": one} if one else {} for one in made]


def test_a_fault_is_planted_in_the_first_build_that_it_changes(monkeypatch):
    builds = {"dynamic": Compiled(a="other", b="other", e=""), "static": Compiled(c="other")}
    monkeypatch.setattr(c_builds, "_builds", lambda _spec: [(name, name) for name in builds])
    monkeypatch.setattr(c_builds, "plan_build", builds.__getitem__)
    found = c_builds.first_builds(suite_spec("mips-malta"), [fault(name) for name in "abcde"])
    # b is a, once compiled; d is the port; e does not compile.
    assert [(one.about, build) for one, build in found] == [
        ("a", "dynamic"),
        ("e", "dynamic"),
        ("c", "static"),
        ("d", ""),
    ]


def planted(monkeypatch, names, equivalents=()):
    stub = Stub(labels=("f.c:f",), clauses=("C9",), modules=False)
    builds = {"a": "dynamic", "b": "", "c": c_builds.COMBINATIONS}
    faults = [fault(name) for name in builds]
    monkeypatch.setattr(kill_table, "port_faults", lambda _spec: faults)
    monkeypatch.setattr(
        kill_table, "first_builds", lambda _spec, some: [(one, builds[one.about]) for one in some]
    )
    monkeypatch.setattr(kill_table, "_of_assembly", lambda *_: [])
    collection = Collection((), (stub,), tuple(equivalents))
    tasks = kill_table._generated(suite_spec("mips-malta"), names, collection)
    return {task.name: task for task in tasks}


def test_the_tasks_of_faults_in_c(monkeypatch):
    record = Equivalent(faults=("c/f.c:f/c",), reason="of no use")
    tasks = planted(monkeypatch, ["all"], [record])
    assert tasks.keys() == {"c/f.c:f/a", "c/f.c:f/b", "c/f.c:f/c"}
    own = tasks["c/f.c:f/a"]
    assert own.variants == ("dynamic", "modules")
    assert "C9a" in own.clauses
    assert own.edits == {"f.c": "int a;"}
    same = tasks["c/f.c:f/b"]
    assert (same.equivalent, same.edits) == (SAME_CODE, {})
    assert tasks["c/f.c:f/c"].clauses == ("C4m",)
    assert tasks["c/f.c:f/c"].equivalent == "of no use"


def test_only_those_that_are_asked_for_are_compiled(monkeypatch):
    assert planted(monkeypatch, ["c/*/a"]).keys() == {"c/f.c:f/a"}
    assert planted(monkeypatch, ["dynamic/*"]) == {}
