"""python -m benchmarks.peers [run | ratings | clicks | page | targets]: compare, write the page, print the targets."""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from . import problems, run, solvers
from .common import forget

RESULTS = Path("benchmarks/results")
# one setting each, a table so small that a second is plenty: does everything work at all?
QUICK = {
    "ours": [{"relative_gap": 1e-3}],
    "frank_wolfe": [{"tolerance": 0.0}],
    "frank_wolfe_open_loop": [{"tolerance": 0.1}],
    "projected_gradient": [{"decomposition": "svd"}],
    "soft_impute": [{"rank": 60, "start": "cold"}],
    "cvxpy_scs": [{"eps": 1e-3}],
    "cvxpy_clarabel": [{"tol": 1e-3}],
}


def main(arguments: list[str]) -> int:
    if arguments[:1] == ["child"]:
        from .child import main as child

        return child(*arguments[1:])
    if arguments[:1] == ["ratings"]:
        from .ratings.command import main as ratings

        return ratings(arguments[1:])
    if arguments[:1] == ["clicks"]:
        from .clicks.command import main as clicks

        return clicks(arguments[1:])
    parser = argparse.ArgumentParser(prog="python -m benchmarks.peers", description=__doc__)
    commands = parser.add_subparsers(dest="command")
    comparing = commands.add_parser("run", help="compare (the default)")
    comparing.add_argument("--peers", nargs="+", choices=solvers.names(), default=solvers.names())
    comparing.add_argument("--problems", nargs="+", choices=tuple(problems.SPECS), default=None)
    comparing.add_argument(
        "--limit", type=float, default=None, help="seconds of each run, instead of the problem's own"
    )
    comparing.add_argument("--threads", type=int, default=2, help="for everybody")
    comparing.add_argument("--out", type=Path, default=None, help="folder of the results")
    comparing.add_argument("--fresh", action="store_true", help="throw finished runs away")
    comparing.add_argument("--kept", action="store_true", help="run nothing, put together what earlier runs kept")
    comparing.add_argument("--quick", action="store_true", help="a smoke test, under a minute")
    commands.add_parser("ratings", help="compare predictions of ratings instead; flags of its own", add_help=False)
    commands.add_parser("clicks", help="compare rankings of clicks instead; flags of its own", add_help=False)
    for name, words in (("page", "write the page and its pictures"), ("targets", "print the ratios and targets")):
        reading = commands.add_parser(name, help=words)
        reading.add_argument("results", type=Path)
        if name == "page":
            reading.add_argument("--out", type=Path, default=Path("docs"))
    known = ("run", "page", "targets", "-h", "--help")
    chosen = parser.parse_args(arguments if arguments[:1] and arguments[0] in known else ["run", *arguments])
    from .verdict import report

    if chosen.command == "run":
        document = run.run(_plan(chosen))
        print("\n".join(report(document)))
        print(f"\nthe page: python -m benchmarks.peers page {_folder(chosen) / 'peers.json'}")
        return 0
    try:
        document = json.loads(chosen.results.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        print(
            f"{chosen.results} cannot be read ({error}); name the peers.json, ratings.json or clicks.json that a run "
            "has written.",
            file=sys.stderr,
        )
        return 2
    if document.get("kind") == "ratings":
        from .ratings.page import write
        from .ratings.verdict import report
    elif document.get("kind") == "clicks":
        from .clicks.page import report, write
    else:
        from .page import write
    if chosen.command == "targets":
        print("\n".join(report(document)))
        return 0

    for path in write(document, chosen.out):
        print(path)
    return 0


def _plan(chosen: argparse.Namespace) -> run.Plan:
    folder = _folder(chosen)
    if chosen.fresh:
        forget(folder)
    names = tuple(chosen.problems or (("quick",) if chosen.quick else problems.FULL))
    grids, limit = (QUICK, chosen.limit or 1.0) if chosen.quick else ({}, chosen.limit)
    return run.Plan(folder, names, tuple(chosen.peers), limit, chosen.threads, grids, only_kept=chosen.kept)


def _folder(chosen: argparse.Namespace) -> Path:
    return chosen.out or RESULTS / ("peers-quick" if chosen.quick else "peers")


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
