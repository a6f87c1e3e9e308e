"""What this library does, in half a minute: ``python -m spectraplex.demo --out FOLDER``.

A half-empty table of ratings is predicted from (table.py), four methods race on another, a photograph with most of its
pixels missing is filled in (photograph.py), and a quantum state is fitted to counts (state.py). Everything is seeded;
files are written inside the folder only.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from .. import datasets, plots, report
from ..domains.sets import NuclearBall
from ..objectives import Completion
from ..problem import Problem
from ..result import Result
from ..stop import Stop
from . import photograph as demo_photo
from . import state as demo_state
from . import table as demo_table
from .photograph import SEED, solve_or_end

#: name in ``spectraplex.METHODS`` → what a reader calls it.
RACERS = {
    "cg": "CG",
    "away": "Away-CG",
    "ror": "ROR-CG as printed",
    "ror-adaptive": "ROR-CG adaptive",
}


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
    solve_or_end(problem, "ror-adaptive", Stop(max_steps=25))  # compiles, which is to be in nobody's seconds
    results: dict[str, Result] = {}
    certified: dict[str, Result] = {}
    for name in RACERS:
        _say(f" {name},")
        results[name] = solve_or_end(problem, name, Stop(max_steps=steps), certify=False)
        # Certified afterwards, so that products and seconds count the method alone.
        certified[name] = solve_or_end(problem, name, Stop(max_steps=0), results[name])
    _say(" and a longer run for a sharp bound ...")
    sharp = Stop(relative_gap=2e-4, max_steps=more)
    everything = [*certified.values(), solve_or_end(problem, "ror-adaptive", sharp, certified["ror-adaptive"])]
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


def show_fill(out: Path, quick: bool = False) -> demo_photo.Filling:
    """Fill the photograph in, print what came out, draw it."""
    print(f"\n3. A photograph with {demo_photo.MISSING:.0%} of its pixels missing\n")
    filling = demo_photo.fill(quick, _say)
    result, (h, w) = filling.result, filling.original.shape[:2]
    gap, steps = result.gap / abs(result.value), result.trace[-1].step
    met, least = filling.misfit(result.value), filling.misfit(result.lower_bound)
    print(f"  china.jpg, {h} by {w} pixels, its three colours side by side: a {h} by {3 * w} table.\n")
    print("  radius          " + "".join(f"{radius:>10,.0f}" for radius in filling.tried))
    print("  held-out PSNR   " + "".join(f"{score:7.2f} dB" for score in filling.tried.values()) + "\n")
    print(f"  chosen radius   {filling.radius:,.0f}: the next gains under {demo_photo.WORTH:g} dB on held-out pixels")
    print(f"  rank            {filling.rank} (singular values above a thousandth of the largest)")
    print(f"  certified gap   {gap:.1%} of the value, after {steps} steps: the known pixels are met")
    print(f"                  to {met:.1f} grey levels of 255, and no matrix within this radius meets")
    print(f"                  them better than to {least:.1f}")
    print(f"  mean fill       {filling.mean_score:.2f} dB PSNR on the missing pixels")
    print(f"  our fill        {filling.score:.2f} dB PSNR on the missing pixels")
    demo_photo.draw(filling, out / "photograph.png")
    return filling


# ---------------------------------------------------------------------------------------------------- the end


def summary(run: Race, filling: demo_photo.Filling) -> str:
    """What was seen, in plain sentences."""
    first, *others = sorted(RACERS, key=run.above)
    rest = ", ".join(f"{RACERS[name]} {run.above(name):.0f}" for name in others)
    failure = filling.result.certificate.failure
    truth = f"each is wrong with probability at most {failure:.0e}" if failure else "they are proven"
    better = filling.score - filling.mean_score
    lines = (
        f"After {run.steps} eigenvectors {RACERS[first]} is nearest: at most {run.above(first):.0f} above",
        f"the optimum (the others: {rest}).",
        f"From {1 - demo_photo.MISSING:.0%} of its pixels the photograph came back at {filling.score:.1f} dB PSNR,",
        f"{better:.1f} dB better than filled with the mean.",
        f"Bounds and gaps are certified, not estimated: {truth}.",
    )
    return "\n".join(f"  {line}" for line in lines)


def show_state(out: Path, quick: bool = False) -> None:
    """Fit a state to counts, print what came out, draw it."""
    print("\n4. A quantum state from counts\n")
    done = demo_state.fit(quick)
    print(demo_state.told(done))
    demo_state.draw(done, out / "state.png")


def main(arguments: Sequence[str] | None = None, quick: bool = False) -> int:
    """The command; returns its exit code: 0, or 2 when the pictures cannot be made, or 130 after Ctrl-C."""
    parser = argparse.ArgumentParser(
        prog="python -m spectraplex.demo",
        description="Predict ratings, race four methods, fill in a photograph, fit a quantum state: half a minute.",
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
    show_state(out, quick)
    print(f"\n5. What was seen\n\n{summary(run, filling)}\n")
    where = Path(os.path.relpath(out))
    print(f"  Pictures: {where / 'race.png'}, {where / 'photograph.png'} and {where / 'state.png'}")
    print(f"  A report about the first table: {where / 'report.html'}")
    print(f"  All in {time.perf_counter() - began:.0f} seconds.")


def _say(words: str) -> None:
    """A piece of a line, at once."""
    print(words, end="", flush=True)


if __name__ == "__main__":
    sys.exit(main())
