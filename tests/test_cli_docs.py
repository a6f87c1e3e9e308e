"""docs/command-line.md: every command on the page runs, and prints what the page says."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from pages import agrees
from spectraplex.cli.app import app

PAGE = Path(__file__).parent.parent / "docs" / "command-line.md"
BLOCK = re.compile(r"```(csv|toml|sh|text)(?: (\S+))?\n(.*?)```", re.DOTALL)


def test_the_page(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    printed, commands = "", set()
    for kind, name, text in BLOCK.findall(PAGE.read_text(encoding="utf-8")):
        if kind in ("csv", "toml"):
            Path(name).write_text(text, encoding="utf-8")
        elif kind == "text":
            assert agrees(printed, text), printed
        else:
            for line in text.splitlines():
                words = shlex.split(line)
                assert words[0] == "spectraplex"
                commands.add(words[1])
                done = CliRunner().invoke(app, words[1:])
                assert done.exit_code == 0, (line, done.stderr)
                printed = done.stdout
    assert commands >= {
        "complete",
        "predict",
        "recommend",
        "impute",
        "certify",
        "verify",
        "info",
        "methods",
        "tomography",
    }
    assert sorted(path.name for path in tmp_path.iterdir()) == [
        *("counts.csv", "films", "films.csv", "full.csv", "later.csv", "pairs.csv", "plants", "plants.csv"),
        *("settings.toml", "state", "years.csv"),
    ]
