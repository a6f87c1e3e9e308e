"""python -m benchmarks.peers clicks: one process a tool and split, one at a time; finished runs are kept and reused."""

from __future__ import annotations

import argparse
import json
from pathlib import Path

from ..common import forget, in_child, machine, say, write
from . import tables
from .page import report
from .tools import TOOLS

RESULTS = Path("benchmarks/results")
PACKAGES = ("spectraplex", "numpy", "scipy", "numba", "scikit-learn", "implicit")
LIMIT = 3600.0  # seconds after which a process is killed


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["child"]:
        from .child import main as child

        return child(*arguments[1:])
    names = tuple(tool.name for tool in TOOLS)
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers clicks", description="compare rankings")
    parser.add_argument("--peers", nargs="+", choices=names, default=names)
    parser.add_argument("--sets", nargs="+", choices=tuple(tables.SETS), default=None)
    parser.add_argument("--threads", type=int, default=2, help="for everybody")
    parser.add_argument("--out", type=Path, default=None, help="folder of the results")
    parser.add_argument("--fresh", action="store_true", help="throw finished runs away")
    parser.add_argument("--quick", action="store_true", help="a smoke test on a generated table, a minute")
    chosen = parser.parse_args(arguments)
    folder = chosen.out or RESULTS / ("peers-clicks-quick" if chosen.quick else "peers-clicks")
    if chosen.fresh:
        forget(folder)
    document = run(folder, chosen.sets or (("quick",) if chosen.quick else tables.FULL), chosen.peers, chosen.threads)
    print("\n".join(report(document)))
    print(f"\nthe page: python -m benchmarks.peers page {folder / 'clicks.json'}")
    return 0


def run(folder: Path, sets: tuple[str, ...], peers: tuple[str, ...], threads: int) -> dict:
    """Do what is not done yet; returns the document and writes it to ``folder/clicks.json``."""
    (folder / "runs").mkdir(parents=True, exist_ok=True)
    document: dict = {"format": 1, "kind": "clicks", "machine": machine(threads, PACKAGES), "sets": {}, "runs": []}
    for name in sets:
        try:
            train, test = tables.load(name, 0)
        except FileNotFoundError as missing:
            say(f"{name}: left out, {missing}")
            continue
        held = {"title": tables.SETS[name].title, "shape": list(train.shape), "splits": list(tables.SETS[name].splits)}
        document["sets"][name] = held | {"train": int(train.nnz), "test": int(test.nnz)}
    for name in document["sets"]:
        for split in tables.SETS[name].splits:
            for tool in TOOLS:
                if tool.name in peers:
                    task = {"set": name, "split": split, "tool": tool.name, "title": tool.title, "threads": threads}
                    task |= {"settings": tool.settings(name), "threaded": tool.threaded}
                    document["runs"].append(_done(folder, task))
                    write(folder / "clicks.json", document)
    return document


def _done(folder: Path, task: dict) -> dict:
    """An earlier run of the same task, or a new one."""
    path = folder / "runs" / f"{task['set']}--{task['split']}--{task['tool']}.json"
    if path.is_file():
        found = json.loads(path.read_text(encoding="utf-8"))
        if found["status"] == "done" and all(found[key] == task[key] for key in ("settings", "threads")):
            return found
    found = task | in_child(["clicks", "child"], task, task["threads"], LIMIT)
    write(path, found, indent=1)
    figures = f"NDCG@10 {found['ndcg']:.4f}" if found["status"] == "done" else f"{found['status']}: {found['message']}"
    say(f"{task['set']} {task['split']} · {task['title']}: {figures}")
    return found
