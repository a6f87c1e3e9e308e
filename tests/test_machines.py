"""The driver that runs the tests on other machines: what it runs, how it counts, which versions are the oldest."""

from __future__ import annotations

import tomllib

import pytest

import machines
import oldest


def test_every_file_is_in_one_part():
    numerical, commands, everything = (set(machines.files((part,))) for part in ("numerical", "command line", "all"))
    assert not numerical & commands and numerical | commands <= everything
    assert everything - numerical - commands == {f"tests/{name}" for name in machines.WORDS}
    assert {"tests/test_solve.py", "tests/test_imputer.py", "tests/test_certificates.py"} <= numerical


def test_counts_are_read_from_the_report(tmp_path):
    report = tmp_path / "report.xml"
    report.write_text(
        """<testsuites><testsuite>
        <testcase file="tests/test_a.py" name="good"/>
        <testcase file="tests/test_a.py" name="bad"><failure message="no"/></testcase>
        <testcase file="tests/test_a.py" name="broken"><error message="no"/></testcase>
        <testcase file="tests/test_a.py" name="absent"><skipped type="pytest.skip"/></testcase>
        <testcase file="tests/test_a.py" name="known"><skipped type="pytest.xfail"/></testcase>
        </testsuite></testsuites>""",
        encoding="utf-8",
    )
    outcome = machines.read(report, 1.0, "the words")
    assert (outcome.passed, outcome.skipped, outcome.words) == (2, 1, "the words")
    assert outcome.failed == ["tests/test_a.py::bad", "tests/test_a.py::broken"]


def test_a_kernel_that_is_not_taken_is_a_word():
    other = machines.Machine("none such", settings={"OPENBLAS_CORETYPE": "None such"}, kernel="None such")
    assert "in its place" in machines.probe(other)
    assert "is not there" in machines.probe(machines.Machine("absent", python="no/such/python"))


def test_every_requirement_has_a_lower_end():
    project = tomllib.loads((oldest.ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    pins = dict(pin.split("==") for pin in oldest.pins(project))
    assert {"numpy", "scipy", "narwhals", "typer", "matplotlib", "pandas", "pytest"} <= set(pins)
    with pytest.raises(ValueError, match="numpy has no lower end; write numpy>=VERSION"):
        oldest.pins({**project, "dependencies": ["numpy"]})
