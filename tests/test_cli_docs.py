"""docs/command-line.md: every command on the page runs, and prints what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from spectraplex.cli.app import app

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"
BLOCK = re.compile(r"```(csv|toml|sh|text)(?: (\S+))?\n(.*?)```", re.DOTALL)


def alike(printed: str, shown: str) -> bool:
    """The same words, and numbers that agree in three digits: the rest is up to the machine's own arithmetic.

    Numbers are numbers however they are written: a gap of 0.000111 on one machine may be 4.89e-05 on another.
    """
    ours, theirs = (re.split(r"(-?\d+(?:\.\d+)?(?:e[-+]\d+)?)", text.strip()) for text in (printed, shown))
    if len(ours) != len(theirs):
        return False
    return all(
        float(a) == pytest.approx(float(b), rel=2e-3, abs=2e-3) if k % 2 else a == b
        for k, (a, b) in enumerate(zip(ours, theirs, strict=True))
    )


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed, commands = "", set()
    for kind, name, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind in ("csv", "toml"):
            Path(name).write_text(text, encoding="utf-8")
        elif kind == "text":
            assert alike(printed, text), printed
        else:
            for line in text.splitlines():
                words = shlex.split(line)
                assert words[0] == "spectraplex"
                commands.add(words[1])
                done = CliRunner().invoke(app, words[1:])
                assert done.exit_code == 0, (line, done.stderr)
                printed = done.stdout
    assert commands >= {"complete", "predict", "recommend", "impute", "certify", "verify", "info", "methods"}
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("films", "films.csv", "full.csv", "later.csv", "pairs.csv", "plants", "plants.csv", "settings.toml"),
    ]


def test_alike_can_say_no():
    assert (
        alike("a 1.0001 b\n", "a 1.0002 b")
        and alike("a 0.000111", "a 4.89e-05")
        and not alike("a 1.1 b", "a 1.2 b")
        and not alike("a 1.1", "b 1.1")
    )
