"""The demo's photograph: most of its pixels are thrown away and filled in from the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np

from .. import plots
from ..domains.sets import NuclearBall
from ..matrices.factors import Rectangular
from ..objectives import Completion
from ..places.numpy import Array
from ..problem import Problem
from ..result import Result
from ..solve import solve
from ..stop import Status, Stop

SEED = 0
MISSING = 0.6  # share of the photograph's pixels that is thrown away
HELD_OUT = 0.05  # share of the known pixels that only judges radii
WORTH = 0.25  # decibels on held-out pixels that a larger radius must bring


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


def fill(quick: bool = False, say: Callable[[str], None] = lambda words: None) -> Filling:
    """Throw away 60 % of a photograph's pixels and fill them in from the rest.

    The radius is chosen on known pixels only: it grows while pixels held out of the fit gain from it.

    Parameters
    ----------
    quick : a thumbnail and a few steps, for tests.
    say : is told, in pieces of a line, what is under way.
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
    say("  trying radius")
    for factor in np.arange(1.5, 6.0, 0.5):
        larger = float(round(factor * size, -3 if size > 1e4 else 0))
        say(f" {larger:,.0f},")
        problem = Problem(objective, NuclearBall(objective.shape, larger))
        # The fit in a smaller ball lies in the larger one, too: a good place to start.
        found = solve_or_end(problem, "hybrid", Stop(max_steps=steps), start, certify=False).X
        tried[larger] = _psnr(_picture(found, mean)[judging], original[judging])
        if start is not None and tried[larger] < tried[radius] + WORTH:
            break
        radius, start = larger, found
    say(" then all known pixels ...")
    problem = Problem(_completion(original - mean, ~missing), NuclearBall(objective.shape, radius))
    result = solve_or_end(problem, "hybrid", Stop(relative_gap=0.01, max_steps=20 * steps), start)
    say(" done\n\n")

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


def draw(filling: Filling, path: Path) -> Path:
    """Damaged, filled, original; and a detail of each."""
    height, width = filling.original.shape[:2]
    detail = (int(0.30 * height), int(0.22 * width), int(0.32 * height), int(0.32 * width))
    titles = (f"{MISSING:.0%} of the pixels missing", f"filled in, {filling.score:.1f} dB", "original")
    images = (filling.damaged, filling.filled, filling.original)
    return plots.save(plots.before_after(images, titles, detail=detail), path)


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


def solve_or_end(problem: Problem, method: str, stop: Stop, start: Any = None, certify: bool = True) -> Result:
    """``solve`` hands over what it has on Ctrl-C; a demo should end instead."""
    result = solve(problem, method, stop, start=start, seed=SEED, certify=certify)
    if result.status is Status.INTERRUPTED:
        raise KeyboardInterrupt
    return result
