# SPDX-License-Identifier: MIT
"""The text of a guest's sources, by the names in its debug information."""

from harness.config import resources
from harness.image import SourceLine
from harness.kbuild import GuestSources, GuestSpec
from harness.kbuild.spec import load_port


def line(sources, name, number=1):
    return sources.at(SourceLine(name, number))


def spec_of(tmp_path):
    port = load_port("mips")
    directory = tmp_path / "a port"
    directory.mkdir()
    (directory / "mcount.S").write_text("/* the stub */\n\tnop\n")
    workload = tmp_path / "work" / "mine.c"
    workload.parent.mkdir()
    workload.write_text('#include "mine.h"\n\tint workload(void);\n')
    (workload.parent / "mine.h").write_text("/* a header */\n")
    module = tmp_path / "first" / "one.c"
    module.parent.mkdir()
    module.write_text("/* module one */\n")
    spec = GuestSpec.of("mips-malta", workload, port=port, modules=[module])
    return GuestSpec.of(
        spec.config,
        workload,
        port=port.model_copy(update={"directory": directory}),
        modules=[module],
    )


def test_each_kind_of_source_is_found(tmp_path):
    sources = GuestSources(spec_of(tmp_path))
    assert line(sources, "port/mcount.S", 2) == "nop"
    assert line(sources, "workload/mine.c", 2) == "int workload(void);"
    assert line(sources, "workload/mine.h") == "/* a header */"
    assert line(sources, "module/one.c") == "/* module one */"
    text = (resources.guests_directory() / "kernel" / "panic.c").read_text().splitlines()
    number = next(at for at, one in enumerate(text, 1) if "panic(" in one)
    assert line(sources, "guests/kernel/panic.c", number) == text[number - 1].strip()


def test_modules_of_several_directories(tmp_path):
    sources = GuestSources(spec_of(tmp_path))
    second = tmp_path / "second" / "two.c"
    second.parent.mkdir()
    second.write_text("/* module two */\n")
    (tmp_path / "first" / "one.h").write_text("/* of one */\n")
    sources.add_module(second)
    assert line(sources, "module/one.c") == "/* module one */"
    assert line(sources, "module/two.c") == "/* module two */"
    assert line(sources, "module/one.h") == "/* of one */"
    # gdb takes the first rule that fits.
    assert list(sources.paths)[-1] == "module"


def test_debug_information_names_no_other_files(tmp_path):
    spec = spec_of(tmp_path)
    (tmp_path / "secret").write_text("the key\n")
    (tmp_path / "work" / "link.h").symlink_to(tmp_path / "secret")
    sources = GuestSources(spec)
    for name in (
        "workload/../secret",
        "workload/link.h",
        "workloads/mine.c",
        str(tmp_path / "secret"),
        "/etc/passwd",
        "secret",
        "",
        "a\0b",
    ):
        assert line(sources, name) == "", name
    for number in (-1, 0, 3):
        assert line(sources, "workload/mine.c", number) == ""


def test_without_a_spec_the_own_sources_are_known():
    sources = GuestSources(None)
    assert "SPDX" in line(sources, "guests/kernel/panic.c")
    assert line(sources, "port/mcount.S") == ""
