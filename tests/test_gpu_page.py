"""docs/gpu.md is what the figures of the benchmark make: no number in it was written by hand."""

from __future__ import annotations

import json
from pathlib import Path

from benchmarks.gpus import page as gpu_page

FIGURES = Path(gpu_page.__file__).parents[1] / "gpu.json"


def test_the_page_is_made_from_the_figures(tmp_path, monkeypatch):
    written = gpu_page.PAGE.read_text()
    monkeypatch.setattr(gpu_page, "PAGE", tmp_path / "gpu.md")
    gpu_page.write(json.loads(FIGURES.read_text()))
    assert (tmp_path / "gpu.md").read_text() == written


def test_a_figure_that_changes_changes_the_page(tmp_path, monkeypatch):
    figures = json.loads(FIGURES.read_text())
    figures["kernels"]["64"]["product"] *= 2.0
    monkeypatch.setattr(gpu_page, "PAGE", tmp_path / "gpu.md")
    before = Path(gpu_page.__file__).resolve().parents[2] / "docs" / "gpu.md"
    gpu_page.write(figures)
    assert (tmp_path / "gpu.md").read_text() != before.read_text()
