"""python -m benchmarks.peers ratings: the flags."""

from __future__ import annotations

import argparse
from pathlib import Path

from ..common import forget
from . import run, tables, tools
from .verdict import report

RESULTS = Path("benchmarks/results")


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["child"]:
        from .child import main as child

        return child(*arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers ratings", description="compare predictions")
    parser.add_argument("--peers", nargs="+", choices=tools.names(), default=tools.names())
    parser.add_argument("--sets", nargs="+", choices=tuple(tables.SETS), default=None)
    parser.add_argument("--threads", type=int, default=2, help="for everybody")
    parser.add_argument("--out", type=Path, default=None, help="folder of the results")
    parser.add_argument("--fresh", action="store_true", help="throw finished runs away")
    parser.add_argument("--kept", action="store_true", help="run nothing, put together what earlier runs kept")
    parser.add_argument("--long", action="store_true", help="SVD++ on MovieLens-1M as well (very long)")
    parser.add_argument("--quick", action="store_true", help="a smoke test on a generated table, a minute")
    chosen = parser.parse_args(arguments)
    folder = chosen.out or RESULTS / ("peers-ratings-quick" if chosen.quick else "peers-ratings")
    if chosen.fresh:
        forget(folder)
    sets = tuple(chosen.sets or (("quick",) if chosen.quick else tables.FULL))
    document = run.run(run.Plan(folder, sets, tuple(chosen.peers), chosen.threads, chosen.long, only_kept=chosen.kept))
    print("\n".join(report(document)))
    print(f"\nthe page: python -m benchmarks.peers page {folder / 'ratings.json'}")
    return 0
