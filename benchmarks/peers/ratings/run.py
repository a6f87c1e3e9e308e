"""The comparison of predictions: one process a row and split, one at a time; finished runs are kept and reused."""

from __future__ import annotations

import json
import time
from dataclasses import dataclass
from pathlib import Path

from ..common import in_child, machine, say, write
from . import tables, tools

PACKAGES = ("spectraplex", "numpy", "scipy", "numba", "scikit-learn", "scikit-surprise", "lenskit", "libmf", "cornac")
SHOWN = ("set", "split", "repeat", "tool", "row", "place", "title", "settings", "threads", "threaded")
EMPTY = {"rmse": None, "seconds": None, "chosen": None, "tuning_seconds": None, "peak_mb": None}


@dataclass(frozen=True)
class Plan:
    folder: Path
    sets: tuple[str, ...]
    peers: tuple[str, ...]
    threads: int = 2
    long: bool = False  # what takes very long as well
    limit_seconds: float = 3600.0  # after which a process is killed
    only_kept: bool = False  # nothing new is run


def run(plan: Plan) -> dict:
    """Do what is not done yet; returns the document and writes it to ``folder/ratings.json``."""
    (plan.folder / "runs").mkdir(parents=True, exist_ok=True)
    document: dict = {"format": 1, "kind": "ratings", "machine": machine(plan.threads, PACKAGES)}
    document |= {"sets": {}, "runs": []}
    for name in plan.sets:
        try:
            document["sets"][name] = tables.known(name)
        except FileNotFoundError as missing:
            say(f"{name}: left out, {missing}")
    tasks = [task for name in document["sets"] for task in tasks_of(plan, name)]
    found = [_kept(plan, task) for task in tasks]
    if plan.only_kept:
        tasks = [task for task, each in zip(tasks, found, strict=True) if each is not None]
        found = [each for each in found if each is not None]
    else:
        found = _whole_pairs(tasks, found)
    say(f"{len(tasks)} runs, {sum(each is not None for each in found)} of them already done")
    for number, (task, each) in enumerate(zip(tasks, found, strict=True), 1):
        if each is None:
            say(f"[{number}/{len(tasks)}] {task['set']} {task['split']} · {task['title']}")
            began = time.perf_counter()
            each = in_child(["ratings", "child"], task, plan.threads, plan.limit_seconds)
            each = {key: task[key] for key in SHOWN} | {"warm_up_seconds": None} | EMPTY | each
            write(_path(plan, task), each, indent=1)
            say(f"        {_summary(each)}; {time.perf_counter() - began:.0f} s in all")
        document["runs"].append(each)
        write(plan.folder / "ratings.json", document)
    return document


def tasks_of(plan: Plan, name: str) -> list[dict]:
    """Split after split, and first on each those whose times are compared, beside each other."""
    rows = [(peer, row) for peer in plan.peers for row in tools.tool(peer).rows(name) if plan.long or not row.long]
    placed = sorted(enumerate(rows), key=lambda each: not each[1][1].timed)
    tasks = []
    for repeat in range(tables.SETS[name].repeats):
        for split in tables.SETS[name].splits:
            for place, (peer, row) in placed:
                if row.timed or repeat == 0:
                    task = {"set": name, "split": split, "repeat": repeat, "tool": peer, "row": row.name}
                    task |= {"place": place, "title": row.title, "settings": list(row.settings), "timed": row.timed}
                    tasks.append(task | {"threads": plan.threads, "threaded": tools.tool(peer).THREADED})
    return tasks


def _path(plan: Plan, task: dict) -> Path:
    name = f"{task['set']}--{task['split']}--{task['tool']}-{task['row']}--{task['repeat']}.json"
    return plan.folder / "runs" / name


def _kept(plan: Plan, task: dict) -> dict | None:
    """An earlier run of the same task; one without its tool, or that failed, or of another grid, is done again."""
    path = _path(plan, task)
    if not path.is_file():
        return None
    found = json.loads(path.read_text(encoding="utf-8"))
    same = all(found.get(key) == task[key] for key in ("settings", "threads"))
    if not same or found["status"] in ("missing", "failed"):
        return None
    return found | {key: task[key] for key in SHOWN}


def _whole_pairs(tasks: list[dict], found: list[dict | None]) -> list[dict | None]:
    """Times are compared within one run: where one of those that are compared is missing, all of them are."""

    def together(task: dict) -> tuple:
        return task["set"], task["split"], task["repeat"]

    broken = {together(task) for task, each in zip(tasks, found, strict=True) if task["timed"] and each is None}
    return [
        None if task["timed"] and together(task) in broken else each for task, each in zip(tasks, found, strict=True)
    ]


def _summary(found: dict) -> str:
    if found["rmse"] is None:
        return f"{found['status']}: {found['message']}"
    words = f"test RMSE {found['rmse']:.4f}, fit {found['seconds']:.2f} s"
    if found["tuning_seconds"] is not None:
        words += f", {len(found['settings'])} settings in {found['tuning_seconds']:.0f} s"
    return f"{words}, {found['peak_mb']:.0f} MB"
