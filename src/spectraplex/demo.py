"""What this library does, in half a minute: ``python -m spectraplex.demo --out FOLDER``.

A half-empty table of ratings is predicted from (demo_table.py), four methods race on another, then a photograph with
most of its pixels missing is filled in. Everything is seeded; files are written inside the folder only.
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

from . import datasets, demo_table, plots, report
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

    table: datasets.Ratings
    radius: float
    steps: int
    results: dict[str, Result]
    gaps: dict[str, float]
    bound: float
    best: float

    def above(self, name: str) -> float:
        """Distance of a run's value above the best certified lower bound."""
        return self.results[name].value - self.bound


@dataclass(frozen=True)
class Filling:
    """A photograph with holes, filled in; scores are PSNR in decibels."""

    original: Array
    damaged: Array
    filled: Array
    known: int
    tried: dict[float, float]
    radius: float
    result: Result
    rank: int
    mean_score: float
    score: float

    def misfit(self, value: float) -> float:
        """Root mean square error over the known pixels, in grey levels, that an objective value means."""
        return float(np.sqrt(2.0 * max(value, 0.0) / self.known))


# --------------------------------------------------------------------------------------------------- the race


def race(quick: bool = False) -> Race:
    """CG, Away-CG and ROR-CG twice, over the same number of leading eigenvectors.

    Parameters
    ----------
    quick : a table of a few kilobytes and a few steps, for tests.
    """
    # At radius 750 the optimum has about 40 directions of taste: neither one, which every method finds at
    # once, nor so many that it repeats the noise of the table.
    radius, steps, more = (60.0, 25, 25) if quick else (750.0, 300, 500)
    table = datasets.ratings_like(60, 90, 1500, seed=SEED) if quick else datasets.ratings_like(seed=SEED)
    objective = Completion(table.rows, table.cols, table.values - table.values.mean(), table.shape)
    problem = Problem(objective, NuclearBall(table.shape, radius))
    _say("  warming up,")
    _solve(problem, "ror-adaptive", Stop(max_steps=25))  # compiles, which is to be in nobody's seconds
    results: dict[str, Result] = {}
    certified: dict[str, Result] = {}
    for name in RACERS:
        _say(f" {name},")
        results[name] = _solve(problem, name, Stop(max_steps=steps), certify=False)
        # Certified afterwards, so that products and seconds count the method alone.
        certified[name] = _solve(problem, name, Stop(max_steps=0), results[name])
    _say(" and a longer run for a sharp bound ...")
    sharp = Stop(relative_gap=2e-4, max_steps=more)
    everything = [*certified.values(), _solve(problem, "ror-adaptive", sharp, certified["ror-adaptive"])]
    _say(" done\n\n")
    return Race(
        table=table,
        radius=radius,
        steps=steps,
        results=results,
        gaps={name: result.gap / abs(result.value) for name, result in certified.items()},
        bound=max(result.lower_bound for result in everything),
        best=min(result.value for result in everything),
    )


def race_table(run: Race) -> str:
    """One aligned line for each method."""
    heads = ("value", 9), ("above bound", 12), ("own gap", 9), ("atoms", 6), ("products", 9), ("seconds", 8)
    lines = [f"  {'method':<17}  {'in solve()':<14}" + "".join(f" {head:>{width}}" for head, width in heads)]
    for name, label in RACERS.items():
        result, quoted = run.results[name], f'"{name}"'
        lines.append(
            f"  {label:<17}  {quoted:<14} {result.value:9.1f} {run.above(name):12.1f} "
            f"{run.gaps[name]:9.2%} {result.trace[-1].atoms:6d} "
            f"{result.products:9,.0f} {result.seconds:8.1f}"
        )
    return "\n".join(lines)


def race_picture(run: Race, path: Path) -> Path:
    """Distance above the certified bound, against eigenvectors and against products."""
    traces = {label: run.results[name].trace for name, label in RACERS.items()}
    m, n = run.table.shape
    title = f"Four methods, one {m} × {n} table of {len(run.table):,} ratings, nuclear norm ≤ {run.radius:g}"
    return plots.save(plots.convergence(traces, bound=run.bound, best=run.best, title=title), path)


def show_race(out: Path, quick: bool = False) -> Race:
    """Run the race, print it, draw it."""
    print("\n2. A race on a generated table of ratings\n")
    run = race(quick)
    (m, n), count, radius = run.table.shape, len(run.table), run.radius
    print(f"  {count:,} ratings in a {m} by {n} table, less their mean, are fitted by a matrix of nuclear")
    print(f"  norm at most {radius:g}, with {run.steps} leading eigenvectors for each method. The optimum is")
    print(f"  certified to lie between {run.bound:.1f} (the bound in the table) and {run.best:.1f}.\n")
    print(race_table(run))
    race_picture(run, out / "race.png")
    print("\n  own gap: what a method certifies from its own last point alone, as a share of its value.")
    print("  ROR-CG as printed is nearly frozen here, as theory says: it takes the worst-case smoothness")
    print(f"  2 radius^2 = {2 * radius**2:,.0f}, which holds each new vector close to the atom it replaces.")
    return run


# --------------------------------------------------------------------------------------------- the photograph


def fill(quick: bool = False) -> Filling:
    """Throw away 60 % of a photograph's pixels and fill them in from the rest.

    The radius is chosen on known pixels only: it grows while pixels held out of the fit gain from it.

    Parameters
    ----------
    quick : a thumbnail and a few steps, for tests.
    """
    from sklearn.datasets import load_sample_image

    thinned = 8 if quick else 1
    original = load_sample_image("china.jpg")[::thinned, ::thinned].astype(float)
    steps = 2 if quick else 4
    rng = np.random.default_rng(SEED)
    missing = rng.random(original.shape[:2]) < MISSING
    judging = ~missing & (rng.random(missing.shape) < HELD_OUT)
    mean = float(original[~missing].mean())
    objective = _completion(original - mean, ~missing & ~judging)

    # About ‖picture‖_F. A ball of this radius has room for about one direction: too small, so start above.
    size = float(original[~missing].std() * np.sqrt(original.size))
    tried: dict[float, float] = {}
    radius, start = 0.0, cast(Any, None)
    _say("  trying radius")
    for factor in np.arange(1.5, 6.0, 0.5):
        larger = float(round(factor * size, -3 if size > 1e4 else 0))
        _say(f" {larger:,.0f},")
        problem = Problem(objective, NuclearBall(objective.shape, larger))
        # The fit in a smaller ball lies in the larger one, too: a good place to start.
        found = _solve(problem, "hybrid", Stop(max_steps=steps), start, certify=False).X
        tried[larger] = _psnr(_picture(found, mean)[judging], original[judging])
        if start is not None and tried[larger] < tried[radius] + WORTH:
            break
        radius, start = larger, found
    _say(" then all known pixels ...")
    problem = Problem(_completion(original - mean, ~missing), NuclearBall(objective.shape, radius))
    result = _solve(problem, "hybrid", Stop(relative_gap=0.01, max_steps=20 * steps), start)
    _say(" done\n\n")

    filled = np.where(missing[..., None], _picture(result.X, mean), original)
    singular = cast(Rectangular, result.X).svd()[1]
    return Filling(
        original=original,
        damaged=np.where(missing[..., None], 0.0, original),
        filled=filled,
        known=original[~missing].size,
        tried=tried,
        radius=radius,
        result=result,
        rank=int(np.sum(singular > 1e-3 * singular[0])),
        mean_score=_psnr(mean, original[missing]),
        score=_psnr(filled[missing], original[missing]),
    )


def fill_picture(filling: Filling, path: Path) -> Path:
    """Damaged, filled, original; and a detail of each."""
    height, width = filling.original.shape[:2]
    detail = (int(0.30 * height), int(0.22 * width), int(0.32 * height), int(0.32 * width))
    titles = (f"{MISSING:.0%} of the pixels missing", f"filled in, {filling.score:.1f} dB", "original")
    images = (filling.damaged, filling.filled, filling.original)
    return plots.save(plots.before_after(images, titles, detail=detail), path)


def show_fill(out: Path, quick: bool = False) -> Filling:
    """Fill the photograph in, print what came out, draw it."""
    print(f"\n3. A photograph with {MISSING:.0%} of its pixels missing\n")
    filling = fill(quick)
    result, (h, w) = filling.result, filling.original.shape[:2]
    gap, steps = result.gap / abs(result.value), result.trace[-1].step
    met, least = filling.misfit(result.value), filling.misfit(result.lower_bound)
    print(f"  china.jpg, {h} by {w} pixels, its three colours side by side: a {h} by {3 * w} table.\n")
    print("  radius          " + "".join(f"{radius:>10,.0f}" for radius in filling.tried))
    print("  held-out PSNR   " + "".join(f"{score:7.2f} dB" for score in filling.tried.values()) + "\n")
    print(f"  chosen radius   {filling.radius:,.0f}: the next gains under {WORTH:g} dB on held-out pixels")
    print(f"  rank            {filling.rank} (singular values above a thousandth of the largest)")
    print(f"  certified gap   {gap:.1%} of the value, after {steps} steps: the known pixels are met")
    print(f"                  to {met:.1f} grey levels of 255, and no matrix within this radius meets")
    print(f"                  them better than to {least:.1f}")
    print(f"  mean fill       {filling.mean_score:.2f} dB PSNR on the missing pixels")
    print(f"  our fill        {filling.score:.2f} dB PSNR on the missing pixels")
    fill_picture(filling, out / "photograph.png")
    return filling


def _completion(pixels: Array, known: Array) -> Completion:
    """The known pixels of an h × w × 3 picture, as entries of an h × 3w table."""
    table = pixels.transpose(0, 2, 1).reshape(known.shape[0], -1)
    rows, cols = np.nonzero(np.tile(known, (1, 3)))
    return Completion(rows, cols, table[rows, cols], table.shape)


def _picture(X: Any, mean: float) -> Array:
    """The h × w × 3 picture that an h × 3w table stands for."""
    table = np.clip(X.dense() + mean, 0.0, 255.0)
    return cast(Array, table.reshape(table.shape[0], 3, -1).transpose(0, 2, 1))


def _psnr(guess: Array | float, truth: Array) -> float:
    """Peak signal-to-noise ratio, in decibels, of values from 0 to 255."""
    return float(10.0 * np.log10(255.0**2 / np.mean((guess - truth) ** 2)))


# ---------------------------------------------------------------------------------------------------- the end


def summary(run: Race, filling: Filling) -> str:
    """What was seen, in plain sentences."""
    first, *others = sorted(RACERS, key=run.above)
    rest = ", ".join(f"{RACERS[name]} {run.above(name):.0f}" for name in others)
    failure = filling.result.certificate.failure
    truth = f"each is wrong with probability at most {failure:.0e}" if failure else "they are proven"
    better = filling.score - filling.mean_score
    lines = (
        f"After {run.steps} eigenvectors {RACERS[first]} is nearest: at most {run.above(first):.0f} above",
        f"the optimum (the others: {rest}).",
        f"From {1 - MISSING:.0%} of its pixels the photograph came back at {filling.score:.1f} dB PSNR,",
        f"{better:.1f} dB better than filled with the mean.",
        f"Bounds and gaps are certified, not estimated: {truth}.",
    )
    return "\n".join(f"  {line}" for line in lines)


def main(arguments: Sequence[str] | None = None, quick: bool = False) -> int:
    """The command; returns its exit code: 0, or 2 when the pictures cannot be made, or 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m spectraplex.demo",
        description="Predict ratings, race four methods, fill in a photograph: half a minute.",
    )
    parser.add_argument(
        "--out",
        default="demo-output",
        metavar="FOLDER",
        help="where pictures and report go (default: %(default)s)",
    )
    out = Path(parser.parse_args(arguments).out)
    try:
        if refusal := _refusal(out):
            print(refusal, file=sys.stderr)
            return 2
        _run(out, quick)
        return 0
    except KeyboardInterrupt:
        code, why = 130, "Interrupted: nothing more will be written."
    except BrokenPipeError:  # "| head" has seen enough; the interpreter must not stumble over it at exit
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        code, why = 2, f"A picture could not be written: {error}."
    print(flush=True)  # the line of progress may be half full
    print(why, file=sys.stderr)
    return code


def _refusal(out: Path) -> str:
    """Why the demo cannot run, in a sentence, before it spends half a minute; empty when it can."""
    try:
        plots.ready()
        report.ready()
        out.mkdir(parents=True, exist_ok=True)
    except ImportError as error:
        return str(error)
    except OSError as error:
        reason = "is a file" if out.is_file() else f"cannot be made ({error.strerror})"
        return f"--out {out} {reason}: name a folder that can be written to."
    writable = os.access(out, os.W_OK | os.X_OK)
    return "" if writable else f"--out {out} cannot be written to: name a folder that can."


def _run(out: Path, quick: bool) -> None:
    began = time.perf_counter()
    print("1. A half-empty table: who would like what?\n")
    table = demo_table.fit(quick)
    print(demo_table.told(table))
    demo_table.write(table, out / "report.html")
    run = show_race(out, quick)
    filling = show_fill(out, quick)
    print(f"\n4. What was seen\n\n{summary(run, filling)}\n")
    where = Path(os.path.relpath(out))
    print(f"  Pictures: {where / 'race.png'} and {where / 'photograph.png'}")
    print(f"  A report about the first table: {where / 'report.html'}")
    print(f"  All in {time.perf_counter() - began:.0f} seconds.")


def _solve(problem: Problem, method: str, stop: Stop, start: Any = None, certify: bool = True) -> Result:
    """``solve`` hands over what it has on Ctrl-C; a demo should end instead."""
    result = solve(problem, method, stop, start=start, seed=SEED, certify=certify)
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result


def _say(words: str) -> None:
    """A piece of a line, at once."""
    print(words, end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
