# SPDX-License-Identifier: MIT
"""The builds that are judged: what each has of a port, and copies of a port with a file changed."""

import pytest

from harness.conformance import variants
from harness.conformance.registry import MODULES, STATIC, VARIANTS
from harness.conformance.variants import LOADED, build_variant, suite_spec, variant_of
from harness.errors import UsageError
from harness.kbuild import MUTANTS


def test_variants_are_one_guest_with_other_features_and_modules():
    spec = suite_spec("mips-malta", cflags=["-O1"])
    built = {name: variant_of(spec, name) for name in VARIANTS}
    assert {(one.config, one.port, one.workload, one.cflags) for one in built.values()} == {
        (spec.config, spec.port, spec.workload, ("-O1",))
    }
    assert [path.stem for path in built[MODULES].modules] == list(LOADED)
    assert built[STATIC].modules == ()
    assert len({(one.features, one.modules) for one in built.values()}) == len(VARIANTS)
    assert variant_of(suite_spec("aarch64-virt-patchable"), STATIC) is None


def test_a_mutant_is_built_from_a_copy_and_kept_apart(monkeypatch):
    """What is said of it names the port that it is a copy of."""
    spec = variant_of(suite_spec("mips-malta"), STATIC)
    own = spec.port.directory
    seen = []

    class Build:
        def __init__(self, changed, cache):
            self.port = changed.port.directory
            seen.append((self.port, cache))

        def run(self):
            assert (self.port / "mcount.S").read_text() == "other"
            assert (self.port / "ftrace.c").read_bytes() == (own / "ftrace.c").read_bytes()
            raise UsageError(f"{self.port}/mcount.S:1: bad")

    monkeypatch.setattr(variants, "plan_build", Build)
    with pytest.raises(UsageError) as caught:
        build_variant(spec, STATIC, {"mcount.S": "other"})
    assert caught.value.message == f"{own}/mcount.S:1: bad"
    [(copy, cache)] = seen
    assert cache is MUTANTS
    assert not copy.exists()
    assert copy != own
