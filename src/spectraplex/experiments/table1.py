"""The paper's comparison table, measured: work to reach an accuracy, by dimension, conditioning, rank and λ_min.

Four families of quadratics with β = 1 over the unit spectrahedron, all built backwards from their optimum: first
X* = Σ aₖxₖxₖᵀ, then M ⪰ 0 with Mxₖ = 0 and its other eigenvalues in [GAP, GAP + SPREAD], then data with ∇f(X*) = M.
So X* is optimal, f* is known, and strict complementarity holds with GAP (which the paper does not ask for).

distance   ½‖X − A‖²_F, ``sx.Distance`` with a dense A: α = β.
sparse     the same with a sparse A, ten numbers to a row: nnz(∇) is then far below d².
entries    ½Σ W_ij (X_ij − A_ij)², linear sensing of every entry, weights between α and β = 1. ``sx.Sensing`` keeps one
           matrix per measurement, 4.5 million of them at d = 3,000; ``Weighted`` is the same function as two arrays.
gaussian   ``sx.Sensing`` with random dense measurements, scaled to β = 1; α is what came out (d = 40).

The weights of ``entries`` are constant on blocks of coordinates, and each xₖ lives on one block: the curvature along
the face of X* then runs from α to β exactly. (Weights drawn entry by entry average out along any spread-out xₖ, and no
method would notice α.)

Methods: ``pgd`` and ``apgd`` take steps of 1/β and decompose the whole matrix once per step (twice when momentum is
dropped); ``cg`` searches the line exactly; ``ror`` is Algorithm 2 as printed, theorem step and accuracy ξ_t;
``ror-adaptive`` is its greedy form with line search and no β.

Outcome of a run (h is value − f*; all lists under ``hits`` have one entry per ``hits.epsilon``, null where that was not
reached; limits are numbers of steps, never seconds, so that everything but seconds is the same on every machine):

optimum, smoothness, strong_convexity, nonzeros   of the problem: f*, β, α, nnz of a gradient's sparse or dense part
status, steps, products, flops, seconds, atoms    how the run ended, and all that it spent
decompositions      whole ones (pgd, apgd); 0 for methods of one eigenvector per step
first, last, lowest h after the first step, after the last step, and the least of all
hits                epsilon, step, decompositions, products, flops, seconds, atoms when first h ≤ ε·β
curve               step, error (least h so far), products, flops, seconds, at some steps

Flops are a model: 2·nnz(∇) for a product, and 4·d·atoms more where X is kept as factors beside a sparse A; 14/3·d³ for
a decomposition (reduction 4/3, divide and conquer 4/3, back-transformation 2). What a step does besides is left out.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np
from scipy.sparse import block_diag

from ..arrays import Array, inner
from ..domains import Spectrahedron
from ..linesearch import Quadratic
from ..objectives import Distance, Sensing
from ..operators import Dense
from ..problem import Problem
from ..solve import solve
from ..stop import Stop
from .runner import Task

GAP, SPREAD = 0.1, 0.4  # eigenvalues of the gradient at the optimum, off the face
#: Accuracies in units of β: five to a decade, from 10⁻¹ to 10⁻⁶.
EPSILONS = tuple(float(f"{10.0 ** -(1 + j / 5):.6g}") for j in range(26))
METHODS = ("pgd", "apgd", "cg", "ror", "ror-adaptive")
PROJECTED = ("pgd", "apgd")
BASE = {"rank": 3, "smallest": 1 / 6}
_BLOCK = 10  # size of the blocks of a sparse A
_CURVE = 60  # most points of a curve
_STEPS = {  # the most steps, chosen so that no run takes much longer than a minute on one core
    "pgd": {100: 600, 300: 400, 1000: 60, 3000: 12},
    "apgd": {100: 600, 300: 400, 1000: 60, 3000: 12},
    "cg": {100: 1500, 300: 1500, 1000: 150, 3000: 30},
    "ror": {100: 600, 300: 1500, 1000: 200, 3000: 50},
    "ror-adaptive": {100: 600, 300: 600, 1000: 150, 3000: 60},
}


# --------------------------------------------------------------------------------------------------------------- tasks


def tasks(quick: bool) -> list[Task]:
    """The line of dimensions, which is timed and so runs alone, and variations at d = 300, which are only counted."""
    if quick:
        small = {"rank": 2, "smallest": 0.25, "seed": 0}
        places = [
            {"family": family, "d": d, "ratio": 0.1 if family == "entries" else 1.0} | small
            for family in ("distance", "sparse", "entries")
            for d in (20, 40)
        ]
        places += [{"family": "entries", "d": 40, "ratio": 0.02} | small]
        places += [{"family": "gaussian", "d": 10, "ratio": 0.0} | small]
        return [_task(place, method, 45) for place in places for method in METHODS]
    listed = []
    for family, ratio in (("distance", 1.0), ("sparse", 1.0), ("entries", 0.1)):
        for d in (100, 300, 1000, 3000):
            for seed in range(3 if d < 3000 else 1):
                place = {"family": family, "d": d, "ratio": ratio, **BASE, "seed": seed}
                listed += [_task(place, method, alone=True) for method in METHODS]
    variations: list[dict[str, Any]] = [{"family": "entries", "ratio": ratio, **BASE} for ratio in (0.03, 0.01)]
    for family, ratio in (("distance", 1.0), ("entries", 0.1)):
        variations += [
            {"family": family, "ratio": ratio, "rank": rank, "smallest": 1 / (2 * rank) if rank > 1 else 1.0}
            for rank in (1, 10)
        ]
        variations += [
            {"family": family, "ratio": ratio, "rank": 3, "smallest": small} for small in (0.03, 0.01, 0.003)
        ]
    for seed in range(3):
        listed += [_task({"d": 300, **each, "seed": seed}, method) for each in variations for method in METHODS]
        place = {"family": "gaussian", "d": 40, "ratio": 0.0, **BASE, "seed": seed}
        listed += [_task(place, method, 300) for method in METHODS]
    return listed


def _task(place: dict[str, Any], method: str, steps: int | None = None, alone: bool = False) -> Task:
    d = int(place["d"])
    settings = place | {"method": method, "steps": _STEPS[method][d] if steps is None else steps}
    key = "{family} d={d} rank={rank} smallest={smallest:.3g} ratio={ratio:g} {method} seed={seed}".format(**settings)
    # seconds as they were timed on one core; a projected step at α = β is the only one
    needed = 1 if method in PROJECTED and place["ratio"] == 1.0 else settings["steps"]
    cost = needed * (2e-3 + d**3 * 3e-10 if method in PROJECTED else 3e-3 + d * d * 3e-8)
    return Task(key, settings, cost, alone)


# ------------------------------------------------------------------------------------------------------------ problems


class Weighted:
    """½Σ W_ij (X_ij − A_ij)² for symmetric A and W > 0: every entry measured, with its weight. The image is X."""

    dense = True
    dtype = "float64"

    def __init__(self, A: Array, W: Array) -> None:
        self.A, self.W, self.shape = A, W, (A.shape[0], A.shape[1])
        self.smoothness, self.strong_convexity = float(W.max()), float(W.min())

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        return np.asarray((U * s) @ V.T)

    def combine(self, a: float, z: Array, b: float, w: Array) -> Array:
        return a * z + b * w

    def evaluate(self, z: Array) -> tuple[float, Array]:
        residual = z - self.A
        slope = self.W * residual
        return 0.5 * inner(residual, slope), slope

    def along(self, z: Array, dz: Array) -> Quadratic:
        value, slope = self.evaluate(z)
        return Quadratic(value, inner(slope, dz), inner(dz, self.W * dz))

    def pair(self, slope: Array, z: Array) -> float:
        return inner(slope, z)

    def gradient(self, slope: Array) -> Dense:
        return Dense(slope, hermitian=True)

    def parts(self) -> tuple[Any, ...]:
        return ("weighted entries", self.A, self.W)


@dataclass(frozen=True, eq=False)
class Known:
    """A problem and what is known of it: X* = vectors·diag(weights)·vectorsᵀ, f*, α, and nnz(∇)."""

    problem: Problem
    vectors: Array
    weights: Array
    optimum: float
    strong_convexity: float
    nonzeros: int


@lru_cache(maxsize=1)
def build(family: str, d: int, rank: int, smallest: float, ratio: float, seed: int) -> Known:
    """The problem of a setting; the one built last is kept for the next method."""
    rng = np.random.default_rng([seed, d, rank])
    weights = np.ones(1)
    if rank > 1:  # the others differ, too, and are all larger than the smallest
        share = 1.0 + np.arange(rank - 1)[::-1] / (rank - 1)
        weights = np.append((1.0 - smallest) * share / share.sum(), smallest)
    domain = Spectrahedron(d)
    if family == "sparse":
        A, vectors, optimum = _sparse_target(d, weights, rng)
        return Known(Problem(Distance(A), domain), vectors, weights, optimum, 1.0, int(A.nnz))
    edges = np.linspace(0, d, rank + 2).astype(int)  # one block of coordinates for each xₖ, and one for the rest
    M, vectors = _normal(d, edges[: rank + 1], rng)
    X = (vectors * weights) @ vectors.T
    objective: Any
    if family == "distance":
        return Known(Problem(Distance(X - M), domain), vectors, weights, 0.5 * inner(M, M), 1.0, d * d)
    if family == "entries":
        block = np.repeat(np.arange(rank + 1), np.diff(edges))
        W = _block_weights(rank, ratio, rng)[np.ix_(block, block)]
        objective = Weighted(X - M / W, W)
        return Known(Problem(objective, domain), vectors, weights, 0.5 * inner(M, M / W), ratio, d * d)
    if family != "gaussian":
        raise ValueError(f"table1: unknown family {family!r}; known: distance, sparse, entries, gaussian.")
    upper = np.triu_indices(d)
    count, size = min(4 * upper[0].size, 3000), np.where(upper[0] == upper[1], 1.0, np.sqrt(2.0))
    rows = rng.standard_normal((count, upper[0].size))  # Gaussian in an orthonormal basis of the symmetric matrices
    spectrum = np.linalg.svd(rows, compute_uv=False)
    rows /= spectrum[0]
    y = np.linalg.lstsq(rows.T, size * M[upper], rcond=None)[0]  # 𝒜*(y) = M: the slope at X* that makes it optimal
    stack = np.zeros((count, d, d))
    stack[:, upper[0], upper[1]] = rows / size
    stack[:, upper[1], upper[0]] = rows / size
    objective = Sensing(stack, rows @ (size * X[upper]) - y)
    alpha = float((spectrum[-1] / spectrum[0]) ** 2)
    return Known(Problem(objective, domain), vectors, weights, 0.5 * inner(y, y), alpha, d * d)


def _normal(d: int, firsts: Array, rng: np.random.Generator) -> tuple[Array, Array]:
    """M ⪰ 0 and an orthonormal basis of its null space, the k-th vector living on the coordinates of block k.

    ``firsts`` is where each block starts, with the end of the last. Made of reflections: O(d²), where a random rotation
    would take as long as the decompositions that are timed.
    """
    rank = firsts.size - 1
    diagonal = rng.uniform(GAP, GAP + SPREAD, d)
    diagonal[firsts[:rank]] = 0.0
    mix = rng.standard_normal(d)
    mix[firsts[:rank]] = 0.0  # turns the rest of the space
    M, vectors = _reflected(np.diag(diagonal), mix), np.zeros((d, rank))
    for k in range(rank):
        rows = slice(firsts[k], firsts[k + 1])
        x = rng.standard_normal(firsts[k + 1] - firsts[k])
        vectors[rows, k] = x / np.linalg.norm(x)
        mirror = vectors[:, k].copy()
        mirror[firsts[k]] -= 1.0  # takes the first coordinate vector of the block to xₖ
        M = _reflected(M, mirror)
    return 0.5 * (M + M.T), vectors


def _reflected(M: Array, u: Array) -> Array:
    """HMH with H = I − 2uuᵀ/‖u‖²."""
    u = u / np.linalg.norm(u)
    left = M - 2.0 * np.outer(u, u @ M)
    return np.asarray(left - 2.0 * np.outer(left @ u, u))


def _sparse_target(d: int, weights: Array, rng: np.random.Generator) -> tuple[Any, Array, float]:
    """A = X* − M with small dense blocks on the diagonal: sparse, and its spectrum is known."""
    diagonal, vectors, blocks, total = rng.uniform(GAP, GAP + SPREAD, d), np.zeros((d, weights.size)), [], 0.0
    for k, low in enumerate(range(0, d, _BLOCK)):
        rows = slice(low, min(low + _BLOCK, d))
        here = diagonal[rows].copy()
        H = _reflected(np.eye(here.size), rng.standard_normal(here.size))
        if k < weights.size:
            here[0], vectors[rows, k] = -weights[k], H[:, 0]
        total += float(np.sum(here[here > 0] ** 2))
        block = (H * -here) @ H
        blocks.append(0.5 * (block + block.T))
    return block_diag(blocks, format="csr"), vectors, 0.5 * total


def _block_weights(rank: int, ratio: float, rng: np.random.Generator) -> Array:
    """Weights of the blocks, from α = ratio to β = 1; both extremes lie where the face of X* feels them.

    With two tied blocks of weight α the face has a direction of that curvature; a single one would not do, since
    weight cannot leave one atom without reaching another. A face of rank one or two has α on the way out of it.
    """
    last = rank - 1
    fixed = {(0, 0): 1.0} | ({(last, last): ratio, (last - 1, last - 1): ratio} if rank >= 3 else {(0, rank): ratio})
    pairs = [(i, j) for i in range(rank + 1) for j in range(i, rank + 1) if (i, j) not in fixed]
    ladder = rng.permutation(np.geomspace(ratio, 1.0, len(pairs)))
    weights = np.zeros((rank + 1, rank + 1))
    for (i, j), weight in (fixed | dict(zip(pairs, ladder, strict=True))).items():
        weights[i, j] = weights[j, i] = weight
    return weights


# ------------------------------------------------------------------------------------------------------------ one run


def perform(settings: dict[str, Any]) -> dict[str, Any]:
    """Run one method on one problem until the smallest ε or its limit of steps."""
    names = ("rank", "smallest", "ratio", "seed")
    family, d, method = settings["family"], settings["d"], settings["method"]
    # a few steps on a small problem first: compiled kernels are loaded before the clock starts
    warm = build.__wrapped__("sparse" if family == "sparse" else "distance", 20, 1, 1.0, 1.0, 0)
    solve(warm.problem, method, Stop(max_steps=2), certify=False)
    known = build(family, d, *(settings[name] for name in names))
    beta = 1.0
    stop = Stop(max_steps=settings["steps"], value=known.optimum + EPSILONS[-1] * beta)
    result = solve(known.problem, method, stop, seed=settings["seed"], certify=False)
    trace = result.trace.as_dict()
    error, products = trace["value"] - known.optimum, trace["products"]
    projected = method in PROJECTED
    decompositions = products / d if projected else np.zeros(len(products))
    columns = {
        "step": trace["step"],
        "decompositions": decompositions,
        "products": products,
        "flops": _flops(known, d, projected, products, trace["atoms"]),
        "seconds": trace["seconds"],
        "atoms": trace["atoms"],
    }
    lowest = np.minimum.accumulate(error)
    reached = [
        int(np.argmax(lowest <= epsilon * beta)) if lowest[-1] <= epsilon * beta else None for epsilon in EPSILONS
    ]
    hits = {name: [None if at is None else column[at] for at in reached] for name, column in columns.items()}
    thin = np.unique(np.rint(np.geomspace(1, len(error), _CURVE)).astype(int) - 1)
    return {
        "optimum": known.optimum,
        "smoothness": beta,
        "strong_convexity": known.strong_convexity,
        "nonzeros": known.nonzeros,
        "status": result.status.name,
        "steps": trace["step"][-1],
        **{name: columns[name][-1] for name in ("products", "decompositions", "flops", "seconds", "atoms")},
        "first": error[min(1, len(error) - 1)],
        "last": error[-1],
        "lowest": lowest[-1],
        "hits": {"epsilon": list(EPSILONS)} | hits,
        "curve": {"error": lowest[thin]} | {n: columns[n][thin] for n in ("step", "products", "flops", "seconds")},
    }


def _flops(known: Known, d: int, projected: bool, products: Array, atoms: Array) -> Array:
    """The model of the module's docstring, summed along a run."""
    if projected:
        return np.asarray(products / d * (14 / 3) * float(d) ** 3)
    factored = 0.0 if known.nonzeros == d * d else 4.0 * d
    before = np.concatenate([[1], atoms[:-1]])  # the gradient is that of the point before the step
    return np.asarray(np.cumsum(np.diff(products, prepend=0.0) * (2.0 * known.nonzeros + factored * before)))
