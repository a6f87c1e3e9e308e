"""python -m tests.campaign --minutes 20 --seed 0: attack the library, count by class, print a command for each miss."""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is loaded: two workers must not fight over the cores


def main() -> int:
    from .elsewhere import look
    from .places import PLACES
    from .runner import Plan, campaign, one

    parser = argparse.ArgumentParser(prog="python -m tests.campaign", description=__doc__)
    parser.add_argument("--minutes", type=float, help="stop after so many minutes")
    parser.add_argument("--problems", type=int, help="stop after so many problems (1,000 if no minutes are given)")
    parser.add_argument("--seed", type=int, default=0, help="of the first problem; the others follow")
    parser.add_argument("--only", help="one class (or several, with commas)")
    parser.add_argument("--one", metavar="CLASS:SEED", help="a single problem, with every attack on it")
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--place", choices=PLACES, default="here", help="where problems are solved; torch needs Torch")
    parser.add_argument("--most", type=int, default=5, help="reproductions printed for each kind of miss")
    parser.add_argument("--elsewhere", metavar="FOLDER", help=argparse.SUPPRESS)  # the process that looks at results
    asked = parser.parse_args()
    if asked.elsewhere:
        look(Path(asked.elsewhere))
        return 0
    if asked.one:
        return one(asked.one, asked.place)
    problems = asked.problems if asked.problems or asked.minutes else 1000
    names = tuple(asked.only.split(",")) if asked.only else ()
    return campaign(Plan(asked.seed, problems, asked.minutes, names, asked.workers, asked.place), asked.most)


if __name__ == "__main__":
    sys.exit(main())
