"""One row of the table on one split, in a process of its own: warm up, load, choose where there is a choice, fit."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..common import hand_back
from ..recorder import forget_peak, resident_mb
from . import tables
from .tools import tool as tool_module


def main(task_path: str, out_path: str) -> int:
    task = json.loads(Path(task_path).read_text(encoding="utf-8"))
    return hand_back(out_path, run(task, tool_module(task["tool"])))


def run(task: dict, tool: Any) -> Iterator[dict]:
    began = time.perf_counter()
    settings, threads = task["settings"], task["threads"]
    small = getattr(tool, "warm_up", tables.small)()
    # the last setting: where a grid goes from plain to elaborate, it needs the most kernels
    tool.predict(tool.fit(tool.prepare(small), settings[-1], threads), small.rows, small.cols)
    warm_up = time.perf_counter() - began
    train, test = tables.load(task["set"], task["split"])
    forget_peak()
    before = resident_mb(peak=False)
    tuning_seconds: float | None = None
    if len(settings) == 1:
        chosen, data = settings[0], tool.prepare(train)
        model, seconds = _timed(tool, data, chosen, threads)
    elif hasattr(tool, "tune"):
        model, chosen, tuning_seconds, seconds = tool.tune(tool.prepare(train), task["set"])
    else:
        chosen, tuning_seconds = choose(tool, train, settings, threads)
        model, seconds = _timed(tool, tool.prepare(train), chosen, threads)
    peak = resident_mb(peak=True) - before  # read before predicting: some tools predict pair by pair
    yield {
        "status": "done",
        "message": "",
        "rmse": tables.error(tool.predict(model, test.rows, test.cols), test),
        "seconds": seconds,
        "chosen": chosen,
        "tuning_seconds": tuning_seconds,
        "peak_mb": max(peak, 0.0),
        "warm_up_seconds": warm_up,
    }


def choose(tool: Any, train: Any, settings: list[dict], threads: int) -> tuple[dict, float]:
    """The setting with the least error on a tenth of the training ratings, and the seconds it took to find."""
    began = time.perf_counter()
    part, rest = tables.inner(train)
    data = tool.prepare(part)
    errors = [
        tables.error(tool.predict(tool.fit(data, setting, threads), rest.rows, rest.cols), rest) for setting in settings
    ]
    return settings[errors.index(min(errors))], time.perf_counter() - began


def _timed(tool: Any, data: Any, setting: dict, threads: int) -> tuple[Any, float]:
    began = time.perf_counter()
    model = tool.fit(data, setting, threads)
    return model, time.perf_counter() - began
