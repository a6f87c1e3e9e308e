"""What this library does, in half a minute: ``python -m spectraplex.demo --out FOLDER``.

Four methods race on a generated table of ratings, then a photograph with most of its pixels missing is filled in.
Everything is seeded; files are written inside the folder only.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from . import datasets, plots
from .arrays import Array
from .domains import NuclearBall
from .factors import Rectangular
from .objectives import Completion
from .problem import Problem
from .result import Result
from .solve import solve
from .stop import Status, Stop

#: name in ``spectraplex.METHODS`` → what a reader calls it.
RACERS = {
    "cg": "CG",
    "away": "Away-CG",
    "ror": "ROR-CG as printed",
    "ror-adaptive": "ROR-CG adaptive",
}
SEED = 0
MISSING = 0.6  # share of the photograph's pixels that is thrown away
HELD_OUT = 0.05  # share of the known pixels that only judges radii
WORTH = 0.25  # decibels on held-out pixels that a larger radius must bring


@dataclass(frozen=True)
class Race:
    """Four runs on one problem, and what the optimum can be: bound ≤ f* ≤ best."""

    results: dict[str, Result]
    gaps: dict[str, float]
    bound: float
    best: float
    radius: float
    steps: int
    table: datasets.Ratings

    def above(self, name: str) -> float:
        """Distance of a run's value above the best certified lower bound."""
        return self.results[name].value - self.bound


@dataclass(frozen=True)
class Filling:
    """A photograph with holes, filled in; the scores are PSNR in decibels on the missing pixels."""

    original: Array
    damaged: Array
    filled: Array
    tried: dict[float, float]
    radius: float
    rank: int
    result: Result
    mean_score: float
    score: float


# ------------------------------------------------------------------------------------------------------- the race


def race(quick: bool = False) -> Race:
    """CG, Away-CG and ROR-CG twice, over the same number of leading eigenvectors.

    Parameters
    ----------
    quick : a table of a few kilobytes and a few steps, for tests.
    """
    # At radius 750 the optimum fits about 40 directions of taste: neither one (which every method finds at once)
    # nor so many that the table is reproduced with its noise.
    table = datasets.ratings_like(60, 90, 1500) if quick else datasets.ratings_like()
    radius, steps, more = (60.0, 25, 25) if quick else (750.0, 300, 500)
    objective = Completion(table.rows, table.cols, table.values - table.values.mean(), table.shape)
    problem = Problem(objective, NuclearBall(table.shape, radius))
    _say("  compiling,")
    _solve(problem, "ror-adaptive", Stop(max_steps=25))  # numba's first call, kept out of everybody's seconds
    results: dict[str, Result] = {}
    certified: dict[str, Result] = {}
    for name in RACERS:
        _say(f" {name},")
        results[name] = _solve(problem, name, Stop(max_steps=steps), certify=False)
        # Certified afterwards, so that products and seconds count the method alone.
        certified[name] = _solve(problem, name, Stop(max_steps=0), start=results[name])
    _say(" and one long run for a sharp bound ...")
    longer = _solve(problem, "ror-adaptive", Stop(relative_gap=2e-4, max_steps=more), start=certified["ror-adaptive"])
    _say(" done\n\n")
    everything = [*certified.values(), longer]
    return Race(
        results,
        gaps={name: result.gap / abs(result.value) for name, result in certified.items()},
        bound=max(result.lower_bound for result in everything),
        best=min(result.value for result in everything),
        radius=radius,
        steps=steps,
        table=table,
    )


def race_table(run: Race) -> str:
    """One aligned line for each method."""
    lines = [
        f"  {'method':<13} {'':<18} {'value':>10} {'above bound':>12} {'own gap':>9} {'atoms':>6} {'products':>9} {'seconds':>8}"
    ]
    for name, label in RACERS.items():
        result = run.results[name]
        lines.append(
            f"  {name:<13} {label:<18} {result.value:10.1f} {run.above(name):12.1f} {100 * run.gaps[name]:7.2f} % "
            f"{result.trace[-1].atoms:6d} {result.products:9.0f} {result.seconds:8.1f}"
        )
    return "\n".join(lines)


def race_picture(run: Race, path: Path) -> Path:
    """Distance above the certified bound, against eigenvectors and against products."""
    traces = {label: run.results[name].trace for name, label in RACERS.items()}
    m, n = run.table.shape
    title = f"Four methods on one {m} × {n} table with {len(run.table):,} ratings, nuclear norm ≤ {run.radius:g}"
    return plots.save(plots.convergence(traces, bound=run.bound, best=run.best, title=title), path)


def show_race(out: Path, quick: bool = False) -> Race:
    """Run the race, print it, draw it."""
    print("1. A race on a generated table of ratings\n")
    run = race(quick)
    m, n = run.table.shape
    print(
        f"  {len(run.table):,} ratings of a {m} by {n} table, minus their mean, fitted under nuclear norm <= {run.radius:g};"
    )
    print(f"  {run.steps} leading eigenvectors for each method. The optimum is certified to lie between")
    print(f"  {run.bound:.1f} and {run.best:.1f}, so 'above bound' is at most {run.best - run.bound:.1f} too much.\n")
    print(race_table(run))
    race_picture(run, out / "race.png")
    print()
    print("  own gap: what each method can certify from its own last point, as a share of its value.")
    print("  ROR-CG as printed is nearly frozen, and is meant to be: it takes the worst-case smoothness,")
    print(f"  2 x radius^2 = {2 * run.radius**2:,.0f} here, and so holds each new vector at the atom it replaces.")
    return run


# -------------------------------------------------------------------------------------------------- the photograph


def fill(quick: bool = False) -> Filling:
    """Throw away 60 % of a photograph's pixels and fill them in from the rest.

    The radius is chosen on known pixels only: it grows while pixels held out of the fit gain from it.

    Parameters
    ----------
    quick : a thumbnail and a few steps, for tests.
    """
    from sklearn.datasets import load_sample_image

    original = load_sample_image("china.jpg")[:: 8 if quick else 1, :: 8 if quick else 1].astype(float)
    steps = 15 if quick else 100
    height, width = original.shape[:2]
    rng = np.random.default_rng(SEED)
    missing = rng.random((height, width)) < MISSING
    judging = ~missing & (rng.random((height, width)) < HELD_OUT)
    fitting = ~missing & ~judging

    mean, size = float(original[~missing].mean()), float(original[~missing].std()) * np.sqrt(original.size)
    # size is about ‖picture‖_F, and a nuclear norm of that size allows one direction only: start a little above.
    tried: dict[float, float] = {}
    chosen: tuple[float, Result] | None = None
    start: Any = None
    objective = _picture(original - mean, fitting)
    _say("  trying radii")
    for radius in (round(factor * size, -3 if size > 1e4 else 0) for factor in np.arange(1.0, 6.0, 0.5)):
        _say(f" {radius:,.0f},")
        # The answer in a smaller ball lies in a larger one, too: a good place to start.
        found = _solve(
            Problem(objective, NuclearBall(objective.shape, radius)), "ror-adaptive", Stop(max_steps=steps), start
        )
        start = found.X
        tried[radius] = _psnr(_unfold(found, mean)[judging], original[judging])
        if chosen is not None and tried[radius] < tried[chosen[0]] + WORTH:
            break
        chosen = (radius, found)
    assert chosen is not None
    _say(" then all known pixels ...")
    problem = Problem(_picture(original - mean, ~missing), NuclearBall(objective.shape, chosen[0]))
    result = _solve(problem, "ror-adaptive", Stop(relative_gap=0.01, max_steps=2 * steps), chosen[1].X)
    _say(" done\n\n")

    filled = np.where(missing[..., None], _unfold(result, mean), original)
    singular = cast(Rectangular, result.X).svd()[1]
    return Filling(
        original=original,
        damaged=np.where(missing[..., None], 0.0, original),
        filled=filled,
        tried=tried,
        radius=chosen[0],
        rank=int(np.sum(singular > 1e-3 * singular[0])),
        result=result,
        mean_score=_psnr(np.full_like(original, mean)[missing], original[missing]),
        score=_psnr(filled[missing], original[missing]),
    )


def fill_picture(filling: Filling, path: Path) -> Path:
    """Damaged, filled, original; and a detail of each."""
    height, width = filling.original.shape[:2]
    detail = (int(0.30 * height), int(0.30 * width), int(0.32 * height), int(0.32 * width))
    titles = [
        f"{100 * MISSING:.0f} % of the pixels missing",
        f"filled in ({filling.score:.1f} dB)",
        "original",
    ]
    images = [filling.damaged, filling.filled, filling.original]
    return plots.save(plots.before_after(images, titles, detail=detail), path)


def show_fill(out: Path, quick: bool = False) -> Filling:
    """Fill the photograph in, print what came out, draw it."""
    print(f"\n2. A photograph with {100 * MISSING:.0f} % of its pixels missing\n")
    filling = fill(quick)
    result = filling.result
    height, width = filling.original.shape[:2]
    print(
        f"  china.jpg, {height} by {width} pixels, its three colours side by side: a {height} by {3 * width} table.\n"
    )
    print("  radius         " + "".join(f"{radius:>10,.0f}" for radius in filling.tried))
    print("  held-out PSNR  " + "".join(f"{score:7.2f} dB" for score in filling.tried.values()))
    print(
        f"\n  chosen radius {filling.radius:,.0f}: the last that brought {WORTH:g} dB on known pixels held out of the fit"
    )
    print(f"  rank          {filling.rank} (singular values above a thousandth of the largest)")
    print(
        f"  certified gap {100 * result.gap / abs(result.value):.1f} % of the value {result.value:.4g}, after {result.trace[-1].step} steps\n"
    )
    print(
        f"  PSNR on the missing pixels: {filling.mean_score:.2f} dB when filled with the mean, {filling.score:.2f} dB when filled by us"
    )
    fill_picture(filling, out / "photograph.png")
    return filling


def _picture(pixels: Array, known: Array) -> Completion:
    """The known pixels of an h × w × 3 picture, as entries of an h × 3w table."""
    height, width = known.shape
    rows, cols = np.nonzero(np.tile(known, (1, 3)))
    table = pixels.transpose(0, 2, 1).reshape(height, 3 * width)
    return Completion(rows, cols, table[rows, cols], table.shape)


def _unfold(result: Result, mean: float) -> Array:
    """The h × w × 3 picture of an h × 3w table."""
    table = result.X.dense() + mean
    return np.clip(table.reshape(table.shape[0], 3, -1).transpose(0, 2, 1), 0.0, 255.0)


def _psnr(guess: Array, truth: Array) -> float:
    """Peak signal-to-noise ratio, in decibels, of values from 0 to 255."""
    return float(10.0 * np.log10(255.0**2 / np.mean((guess - truth) ** 2)))


# --------------------------------------------------------------------------------------------------------- the end


def summary(run: Race, filling: Filling) -> str:
    """What was seen, in plain sentences."""
    order = sorted(RACERS, key=run.above)
    rest = ", ".join(f"{RACERS[name]} {run.above(name):.0f}" for name in order[1:])
    return "\n".join(
        [
            f"  After {run.steps} eigenvectors {RACERS[order[0]]} was nearest: at most {run.above(order[0]):.0f} above the optimum",
            f"  (others: {rest}).",
            "  Its extra products score all atoms in one block, so they cost less time than their number says.",
            f"  The photograph came back from {100 * (1 - MISSING):.0f} % of its pixels, {filling.score - filling.mean_score:.1f} dB better than the mean.",
            "  Every gap above is certified: the true optimum is that close, not just estimated to be.",
        ]
    )


def main(arguments: Sequence[str] | None = None, quick: bool = False) -> int:
    """The command; returns its exit code: 0, 2 for a folder that cannot be used, 130 for Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m spectraplex.demo", description="Race four methods and fill in a photograph, in half a minute."
    )
    parser.add_argument(
        "--out", default="demo-output", metavar="FOLDER", help="where the pictures go (default: %(default)s)"
    )
    out = Path(parser.parse_args(arguments).out)
    try:
        return _run(out, quick)
    except KeyboardInterrupt:
        print("\nInterrupted; nothing more will be written.", file=sys.stderr)
        return 130


def _run(out: Path, quick: bool) -> int:
    from threadpoolctl import threadpool_limits

    try:
        out.mkdir(parents=True, exist_ok=True)
        if not os.access(out, os.W_OK | os.X_OK):
            raise PermissionError(13, "Permission denied")
    except OSError as error:
        why = "it is a file, not a folder" if out.is_file() else (error.strerror or str(error)).lower()
        print(f"--out {out}: {why}; name a folder that can be written to.", file=sys.stderr)
        return 2
    began = time.perf_counter()
    # Matrices are small here: threads inside BLAS gain nothing, and on a busy machine they wait for each other.
    with threadpool_limits(limits=1, user_api="blas"):
        run = show_race(out, quick)
        filling = show_fill(out, quick)
    print("\n3. What was seen\n")
    print(summary(run, filling))
    where = os.path.relpath(out)
    print(f"\n  Pictures: {os.path.join(where, 'race.png')} and {os.path.join(where, 'photograph.png')}")
    print(f"  All in {time.perf_counter() - began:.0f} seconds.")
    return 0


def _solve(problem: Problem, method: str, stop: Stop, start: Any = None, certify: bool = True) -> Result:
    """``solve`` keeps what it has on Ctrl-C; a demo should end instead."""
    result = solve(problem, method, stop, start=start, seed=SEED, certify=certify)
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def _say(words: str) -> None:
    """A piece of a line, at once."""
    print(words, end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
