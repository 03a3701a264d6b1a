# SPDX-License-Identifier: MIT
"""Reference ports with faults."""

import shutil

import pytest

from harness.config import load_config, load_port
from harness.conformance.run import conform
from harness.conformance.variants import suite_spec
from harness.mutation.mutants import load


@pytest.fixture
def judged(tmp_path):
    """Judges a copy of a reference port with mutants planted; its directory and findings.

    ``edits`` are further faults: the text to replace and the new one, by file.
    """

    def judge(config, mutants, clauses, edits=None):
        original = load_port(load_config(config).port)
        port = tmp_path / "port"
        shutil.copytree(original.directory, port)
        for mutant in load(original.name).mutants:
            if mutant.id in mutants:
                for name, text in mutant.edits(original).items():
                    (port / name).write_text(text)
        for name, (old, new) in (edits or {}).items():
            text = (port / name).read_text()
            assert text.count(old) == 1
            (port / name).write_text(text.replace(old, new))
        [report] = conform([suite_spec(config, str(port))], clauses)
        return port, report.findings

    return judge


@pytest.fixture
def has_line(judged):
    """Judges planted mutants, whose only finding must be this one, at a line with this text."""

    def judge(config, mutants, clauses, clause, function, line, edits=None):
        port, findings = judged(config, mutants, clauses, edits)
        [finding] = findings
        assert finding.place is not None, finding
        assert (finding.clause, finding.place.function) == (clause, function), finding
        source = (port / finding.place.file).read_text().splitlines()
        assert line in source[finding.place.line - 1], finding

    return judge
