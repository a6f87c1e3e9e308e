"""Radius and neighbours by validation: entries are hidden, the path is walked without them, they are predicted."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ...paths.point import rank_of
from ...places.numpy import Array
from .moments import some
from .stage import Settings, Stage, Tried, Watch, first_moments, named, parts_of, problem_of, solved, staged

NOISES = (10.0, 3.0, 1.0, 0.3, 0.1, 0.03, 0.01)  # in units of a column's variance, strongest shrinkage first
_MIDDLE = 0.3
_NEIGHBOURS = (20, 120)  # tried beside none: a close look and a wide one
_COARSE = 0.05  # accuracy of the solutions that are only compared with each other, in standard deviations
_ENTRIES = 120_000  # entries that a choice is made on: more would not change it
_JUDGED = 400  # held-out entries that a choice should rest on; more splits where one has fewer
_SPLITS, _SPLITS_SMALL = 3, 8  # most of them; the latter in tables of fewer than 300 entries


def choose(table: Array, settings: Settings, rng: np.random.Generator, watch: Watch) -> tuple[Tried, ...]:
    """Hide some observed entries, walk the path without them, see how well they are predicted; a few times if few."""
    table = table[some(len(table), rng, max(200, _ENTRIES // table.shape[1]))]
    observed = int((~np.isnan(table)).sum())
    most = _SPLITS if observed >= 300 else _SPLITS_SMALL
    splits = int(np.clip(np.ceil(_JUDGED / max(1.0, settings.held * observed)), 1, most))
    counts = [0] if settings.neighbours is None else [settings.neighbours]
    if settings.neighbours is None:
        half = len(table) // 2
        counts += [count for count in _NEIGHBOURS if count <= half] or [half] * (half > 0)
    masks = [hidden for _ in range(splits) if (hidden := _hide(table, settings.held, rng)).any()]
    parts = [_Part(np.where(hidden, np.nan, table), hidden) for hidden in masks]
    firsts = [first_moments(part.seen, settings.learned, rng) for part in parts]
    path: list[Tried] = []
    for count in counts:
        pairs = zip(parts, firsts, strict=True)
        stages = [staged(part.seen, first, count, rng) for part, first in pairs]
        found: dict[int, Tried] = {}
        here = NOISES.index(_MIDDLE)
        while parts:  # from the middle of the path to where the neighbours on both sides are worse
            near = [here] if settings.radius is not None else [here, here + 1, here - 1]
            for place in near:
                if 0 <= place < len(NOISES) and place not in found:
                    found[place] = _try(table, parts, stages, count, NOISES[place], settings, watch)
                    watch.solved(found[place])
            best = min(found, key=lambda place: found[place].score)
            if best == here:
                break
            here = best
        path += [found[place] for place in sorted(found)]
    return tuple(path)


@dataclass(frozen=True, eq=False)
class _Part:
    """A table with some of its entries hidden."""

    seen: Array
    hidden: Array


def _try(
    table: Array,
    parts: list[_Part],
    stages: list[Stage],
    count: int,
    noise: float,
    settings: Settings,
    watch: Watch,
) -> Tried:
    """One point of the path, on every split."""
    squares, radii, gaps, rank = [], [], [], 0
    for part, stage in zip(parts, stages, strict=True):
        problem, start = problem_of(part.seen, stage, noise, settings.radius)
        what = f"trying {named(count, problem.domain.size)}"
        result = solved(problem, start, max(_COARSE, settings.tol), settings, watch, what)
        Z, _ = parts_of(result, problem, stage.root)
        squares.append((stage.base + Z - table)[part.hidden] ** 2)
        radii.append(problem.domain.size)
        gaps.append(result.gap)
        rank = max(rank, rank_of(result.X))
    score = float(np.sqrt(np.mean(np.concatenate(squares))))
    noise = noise if settings.radius is None else np.nan
    return Tried(count, noise, float(np.mean(radii)), score, rank, float(max(gaps)))


def _hide(table: Array, share: float, rng: np.random.Generator) -> Array:
    """Observed entries to hide: so large a share of them, but every column keeps two."""
    observed = ~np.isnan(table)
    hidden = observed & (rng.random(table.shape) < share)
    poor = (observed & ~hidden).sum(axis=0) < 2
    hidden[:, poor] = False
    return np.asarray(hidden)
