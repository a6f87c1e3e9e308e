"""ror-adaptive against CG, Away-CG, Pairwise and fixed strengths on generated tables of many kinds, by eigenvectors."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

import spectraplex as sx

STEPS = 300
SEEDS = 2
SCALES = (1e-3, 1e-2, 0.05, 0.2, 0.8)
#: kind → (rows, columns, observations, rank, noise, power of popularity); radii are shares of the planted norm.
TABLES = {
    "low rank, little noise": (300, 200, 9_000, 3, 0.1, 0.0),
    "low rank, heavy noise": (300, 200, 9_000, 3, 2.0, 0.0),
    "high rank": (250, 250, 15_000, 40, 0.3, 0.0),
    "skewed popularity": (400, 300, 12_000, 8, 0.7, 1.0),
    "long and narrow": (1500, 60, 15_000, 5, 0.5, 0.6),
    "few observations": (300, 300, 3_000, 5, 0.5, 0.5),
}
SHARES = (0.3, 0.9)


def table(kind: str, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray, tuple[int, int], float]:
    """Rows, columns, values, shape and the nuclear norm that was planted; the mean is 2, so the table is "raw"."""
    m, n, count, rank, noise, power = TABLES[kind]
    rng = np.random.default_rng([seed, count, rank])
    shares = [1.0 / (np.arange(size) + 0.05 * size + 1.0) ** power for size in (m, n)]
    clocks = rng.exponential(size=m * n) / np.outer(*shares).ravel()
    cells = np.sort(np.argpartition(clocks, count - 1)[:count])
    L, R = rng.standard_normal((m, rank)), rng.standard_normal((n, rank))
    planted = 2.0 + L @ R.T / np.sqrt(rank)
    rows, cols = cells // n, cells % n
    values = planted[rows, cols] + noise * rng.standard_normal(count)
    return rows, cols, values, (m, n), float(np.linalg.norm(planted, "nuc"))


def run(seeds: float = SEEDS) -> Iterator[str]:
    rivals = {"cg": "cg", "away": "away", "pairwise": "pairwise"} | {
        f"scale {scale:g}": sx.RankOneRegularized(select="worthy", step="line-search", beta="adaptive", scale=scale)
        for scale in SCALES
    }
    yield f"f after {STEPS} eigenvectors, mean of {seeds:g} tables; ratio to the best of {', '.join(rivals)}"
    ratios = []
    for kind in TABLES:
        for share in SHARES:
            for centred in (False, True):
                ours, theirs = _values(kind, share, centred, rivals, int(seeds))
                best = min(theirs, key=lambda name: theirs[name])
                ratios.append(ours / theirs[best])
                where = f"{kind}, {share:g} of the norm, {'centred' if centred else 'raw'}"
                yield f"  {where:48} {ours:12.4f}   best other {best:12} {theirs[best]:12.4f}   ratio {ratios[-1]:.3f}"
    within = sum(ratio <= 1.02 for ratio in ratios)
    yield f"  ratios {min(ratios):.3f} … {max(ratios):.3f}; within 1.02 in {within} of {len(ratios)} settings"


def _values(
    kind: str, share: float, centred: bool, rivals: dict[str, object], seeds: int
) -> tuple[float, dict[str, float]]:
    ours, theirs = 0.0, dict.fromkeys(rivals, 0.0)
    for seed in range(seeds):
        rows, cols, values, shape, norm = table(kind, seed)
        if centred:
            values = values - values.mean()
        problem = sx.Problem(sx.Completion(rows, cols, values, shape), sx.NuclearBall(shape, share * norm))
        stop = sx.Stop(max_steps=STEPS)
        ours += sx.solve(problem, "ror-adaptive", stop, seed=seed, certify=False).value / seeds
        for name, method in rivals.items():
            theirs[name] += sx.solve(problem, method, stop, seed=seed, certify=False).value / seeds
    return ours, theirs
