"""The runner: hands out (class, seed) pairs to worker processes, counts, and says how to see each miss again."""

from __future__ import annotations

import math
import multiprocessing
import tempfile
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from dataclasses import dataclass, field
from itertools import count, islice
from pathlib import Path
from typing import Any

from .attack import Report, attack
from .classes import CLASSES
from .elsewhere import elsewhere

CHUNK = 25


@dataclass(frozen=True)
class Plan:
    """What to run: from which seed, how many problems, how long, which classes, on how many processes."""

    seed: int = 0
    problems: int | None = 1000
    minutes: float | None = None
    names: tuple[str, ...] = ()
    workers: int = 2
    place: str = "here"

    def end(self) -> float:
        """When to hand out no more, by the clock."""
        return math.inf if self.minutes is None else time.monotonic() + 60 * self.minutes

    def jobs(self) -> Iterator[tuple[str, int]]:
        """(class, seed): each class as often as it should come, in every share of the campaign."""
        unknown = [name for name in self.names if name not in CLASSES]
        if unknown:
            raise SystemExit(f"no class {unknown[0]!r}; known: {', '.join(CLASSES)}")
        turns = list(self.names) or mixed({name: often for name, (often, _) in CLASSES.items()})
        return islice(((turns[n % len(turns)], self.seed + n) for n in count()), self.problems)


def mixed(often: dict[str, int]) -> list[str]:
    """Names as often as they should come, spread evenly."""
    places = [((k + 0.5) / times, name) for name, times in often.items() for k in range(times)]
    return [name for _, name in sorted(places)]


@dataclass
class Tally:
    """Counts by class, and the first few reproductions of every kind of miss."""

    problems: Counter[str] = field(default_factory=Counter)
    missed: Counter[str] = field(default_factory=Counter)
    loose: Counter[str] = field(default_factory=Counter)
    seconds: Counter[str] = field(default_factory=Counter)
    kinds: dict[str, list[Report]] = field(default_factory=lambda: defaultdict(list))
    slowest: Report | None = None

    def add(self, report: Report) -> None:
        self.problems[report.name] += 1
        self.loose[report.name] += report.loose
        self.seconds[report.name] += report.seconds
        self.missed[report.name] += bool(report.misses)
        for word in dict.fromkeys(word for word, _ in report.misses):
            self.kinds[word].append(report)
        if self.slowest is None or report.seconds > self.slowest.seconds:
            self.slowest = report

    def late(self, miss: dict[str, Any]) -> None:
        """What another process found wrong with a result that was counted already."""
        self.missed[miss["name"]] += 1
        self.kinds[miss["word"]].append(Report(miss["name"], miss["seed"], misses=[(miss["word"], miss["detail"])]))

    def words(self, most: int) -> str:
        lines = [f"{'class':<14}{'problems':>10}{'missed':>8}{'gap not reached':>17}{'ms each':>9}"]
        for name in self.problems:
            mean = 1e3 * self.seconds[name] / self.problems[name]
            counts = f"{self.problems[name]:>10}{self.missed[name]:>8}{self.loose[name]:>17}{mean:>9.1f}"
            lines.append(f"{name:<14}{counts}")
        lines.append(f"{'all':<14}{self.problems.total():>10}{self.missed.total():>8}{self.loose.total():>17}")
        if self.slowest is not None:
            lines.append(f"slowest: {self.slowest.seconds:.1f} s, {reproduction(self.slowest)}  # {self.slowest.words}")
        for word, reports in sorted(self.kinds.items(), key=lambda item: -len(item[1])):
            lines.append(f"\n{word}: {len(reports)}")
            for report in sorted(reports, key=lambda each: each.seed)[:most]:
                detail = next(detail for kind, detail in report.misses if kind == word)
                lines.append(f"  {reproduction(report)}  # {report.words}: {detail[:200]}")
        return "\n".join(lines)


def reproduction(report: Report) -> str:
    place = "" if report.place == "here" else f" --place {report.place}"
    return f'python -m tests.campaign --one "{report.name}:{report.seed}"{place}'


def run(plan: Plan) -> Tally:
    """All of the plan's problems, in chunks, on its processes; the answers do not hang on how many these are."""
    tally = Tally()
    with tempfile.TemporaryDirectory() as folder:
        spool = Path(folder)
        for report in _alone(plan, spool) if plan.workers <= 1 else _together(plan, spool):
            tally.add(report)
        for miss in elsewhere(spool):
            tally.late(miss)
    return tally


def _alone(plan: Plan, spool: Path) -> Iterator[Report]:
    end = plan.end()
    for job in plan.jobs():
        yield attack(*job, spool=spool, place=plan.place)
        if time.monotonic() > end:
            return


def _together(plan: Plan, spool: Path) -> Iterator[Report]:
    jobs, end = plan.jobs(), plan.end()
    with ProcessPoolExecutor(plan.workers, multiprocessing.get_context("spawn")) as pool:
        waiting: set[Future[list[Report]]] = set()
        while True:
            while len(waiting) < 2 * plan.workers and time.monotonic() < end:
                chunk = list(islice(jobs, CHUNK))
                if not chunk:
                    break
                waiting.add(pool.submit(_chunk, chunk, spool, plan.place))
            if not waiting:
                return
            done, waiting = wait(waiting, return_when=FIRST_COMPLETED)
            for future in done:
                yield from future.result()


def _chunk(jobs: list[tuple[str, int]], spool: Path, place: str) -> list[Report]:
    return [attack(*job, spool=spool, place=place) for job in jobs]


def campaign(plan: Plan, most: int = 5) -> int:
    tally = run(plan)
    print(tally.words(most))
    return 1 if tally.kinds else 0


def one(asked: str, place: str = "here") -> int:
    """A single case by CLASS:SEED, with every attack, and every miss in full."""
    name, _, seed = asked.rpartition(":")
    if name not in CLASSES or not seed.isdigit():
        raise SystemExit(f"--one is CLASS:SEED with a class of {', '.join(CLASSES)}; got {asked!r}")
    with tempfile.TemporaryDirectory() as folder:
        report = attack(name, int(seed), thorough=True, spool=Path(folder), place=place)
        for miss in elsewhere(Path(folder)):
            report.miss(miss["word"], miss["detail"])
    print(report.words)
    for word, detail in report.misses:
        print(f"  {word}: {detail}")
    print(f"{len(report.misses)} misses, {report.seconds:.2f} s")
    return 1 if report.misses else 0
