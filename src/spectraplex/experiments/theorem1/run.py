"""The paper's Theorem 1, measured: the error of ROR-CG (Algorithm 2 as printed) step by step, over many seeds.

A *problem* is drawn by its seed, with constants that all seeds share, so that one bound is for all of them:

* X* has a given rank r; λ, its least non-zero eigenvalue, is given, the others are drawn above it;
* N = −∇f(X*) is 0.2 on the range of X* and lower by 0.1 to 0.5 elsewhere ("face": a gradient holds X* on its face),
  or zero ("centre": X* is the unconstrained optimum, too);
* f(X) = ½ Σ wᵢⱼ(Xᵢⱼ − bᵢⱼ)² with b = X* + N/w: w = 1 is ``Distance`` (α = β = 1), and "weighted" has w between α and 1.

f* = ½ Σ N²/w is then known; the outcome has the gap of X* itself, computed from a dense decomposition, as its proof.

The *oracle* EV_ξ decides what is measured. The theorem allows any error up to ξ_t, and up to dimension 200 the
library's own search makes none but rounding, so both ends are run: "exact" (a dense decomposition; CG gets it, too) and
"worst", a vector whose Rayleigh quotient is λ_max − ξ exactly: the leading eigenvector turned towards the last one.
"asked" is the library's search in a dimension where it does stop early, with the error it makes measured beside it.

Settings of a run: problem, d, rank, least (λ), alpha; method (ror, cg, cg-open-loop); oracle; factor (of ξ_t) or fixed
(ξ, in place of ξ_t); steps; seeds (first and last + 1). Its outcome::

    steps      t of the grid; t = 1 is X₁
    errors     for every seed, h_t = f(X_t) − f* on the grid; a run ends when h ≤ 10⁻¹³, and keeps that value
    alpha, beta, proof    constants as the library knows them; the largest gap of an X* over the seeds
    seconds    of all seeds together
    weight, atoms, rise   (ror) the worst over all steps and seeds of η_t/2 − min aᵢ, of atoms − (t + 8)/9, and of
                          f(X_{t+1}) − f(X_t) − η̃ξ, ξ being what the oracle was allowed: all ≤ 0 but for rounding
    asked, made, products (oracle "asked") for every seed: ξ, the error made (dense decomposition) and products spent,
                          at the grid's steps; nan where the run had ended
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.linalg import eigh

from ...domains.sets import Spectrahedron
from ...methods.conditional_gradient import ConditionalGradient
from ...methods.oracle import Direction, find
from ...methods.rank_one import RankOneRegularized
from ...methods.rank_one_parts import theorem_accuracy, theorem_step
from ...objectives.completion import Completion
from ...objectives.distance import Distance
from ...places.numpy import Array
from ...problem import Point, Problem
from ...solve import solve
from ...stop import Stop
from ...trace import Record
from ..runner import Task

DIMENSION, STEPS, SEEDS, RIVAL_SEEDS, BLOCK = 50, 1500, 50, 20, 10
LONG_STEPS, LONG_SEEDS = 15_000, 10
LARGE_DIMENSION, LARGE_STEPS, LARGE_SEEDS = 300, 300, 4
QUICK_DIMENSION, QUICK_STEPS, QUICK_SEEDS = 16, 160, 3
GRID = 60
FLOOR = 1e-13
ALPHA = 0.25
#: (kind, rank, λ): a rank-one X* has λ = 1 and no other.
PROBLEMS = (
    ("face", 1, 1.0),
    ("face", 3, 1 / 6),
    ("face", 3, 1e-2),
    ("face", 3, 1e-3),
    ("face", 10, 1 / 20),
    ("face", 10, 1e-2),
    ("face", 10, 1e-3),
    ("weighted", 10, 1 / 20),
    ("centre", 1, 1.0),
    ("centre", 3, 1 / 6),
    ("centre", 10, 1 / 20),
    ("weighted", 3, 1 / 6),
)
QUICK_PROBLEMS = (("face", 1, 1.0), ("face", 3, 1 / 6), ("weighted", 3, 1 / 6), ("centre", 3, 1 / 6))
#: No atom weighs less than 9/(t + 8): what happens to a small λ is seen after t = 9/λ only.
LONG_PROBLEMS = (("face", 3, 1e-3), ("face", 10, 1e-3))
#: Where the accuracy is studied: the theorem's ξ_t, ten times that, and one that stays.
ACCURACY_PROBLEMS = (("face", 3, 1 / 6), ("face", 10, 1 / 20))
ACCURACIES: tuple[dict[str, float], ...] = ({"factor": 1.0}, {"factor": 10.0}, {"fixed": 1e-2})


def tasks(quick: bool) -> list[Task]:
    """Three methods on every problem, longer on some; three accuracies on two; the library's search on a large one."""
    d, steps = (QUICK_DIMENSION, QUICK_STEPS) if quick else (DIMENSION, STEPS)
    seeds, rivals = (QUICK_SEEDS, QUICK_SEEDS) if quick else (SEEDS, RIVAL_SEEDS)
    made: list[Task] = []
    for problem in QUICK_PROBLEMS if quick else PROBLEMS:
        for method, count in (("ror", seeds), ("cg", rivals), ("cg-open-loop", rivals)):
            made += _blocks(problem, d, steps, count, {"method": method, "oracle": "exact"})
    for problem in () if quick else LONG_PROBLEMS:
        for method in ("ror", "cg", "cg-open-loop"):
            made += _blocks(problem, d, LONG_STEPS, LONG_SEEDS, {"method": method, "oracle": "exact"})
    for problem in ACCURACY_PROBLEMS[: 1 if quick else None]:
        for accuracy in ACCURACIES:
            count = seeds if accuracy == {"factor": 1.0} else rivals
            made += _blocks(problem, d, steps, count, {"method": "ror", "oracle": "worst"} | accuracy)
    large = (QUICK_DIMENSION, 40, 1) if quick else (LARGE_DIMENSION, LARGE_STEPS, LARGE_SEEDS)
    for accuracy in ({"factor": 0.0}, *ACCURACIES):
        made += _blocks(ACCURACY_PROBLEMS[0], *large, {"method": "ror", "oracle": "asked"} | accuracy)
    return made


def _blocks(problem: tuple[str, int, float], d: int, steps: int, seeds: int, how: dict[str, Any]) -> list[Task]:
    """Some seeds a task: small enough to go on from when killed, large enough for a process."""
    kind, rank, least = problem
    alpha = ALPHA if kind == "weighted" else 1.0
    settings = {"problem": kind, "d": d, "rank": rank, "least": least, "alpha": alpha, "steps": steps} | how
    size = 2 if steps > STEPS else BLOCK
    words = " ".join(f"{name} {value:g}" for name, value in how.items() if name in ("factor", "fixed"))
    name = f"{kind} rank {rank} least {least:.3g} d {d} steps {steps}, {how['method']} {how['oracle']} {words}".strip()
    work = steps * (d / 10 if how["oracle"] == "asked" else 1.0)
    return [
        Task(f"{name}, seeds {low}-{high - 1}", settings | {"seeds": [low, high]}, work * (high - low))
        for low in range(0, seeds, size)
        for high in (min(low + size, seeds),)
    ]


# ------------------------------------------------------------------------------------------------------- the problems


@dataclass(frozen=True, eq=False)
class Known:
    """A problem with its optimal value, and the certified gap of the X* that is claimed to be optimal."""

    problem: Problem
    optimum: float
    proof: float


def known(settings: dict[str, Any], seed: int) -> Known:
    """The problem of a seed."""
    kind, d, rank, least, alpha = (settings[name] for name in ("problem", "d", "rank", "least", "alpha"))
    rng = np.random.default_rng([1, seed])  # its own stream: the method draws from seed itself
    Q = np.linalg.qr(rng.standard_normal((d, d)))[0]
    eigenvalues = np.zeros(d)
    if rank > 1:
        eigenvalues[: rank - 1] = least + (1.0 - rank * least) * rng.dirichlet(np.ones(rank - 1))
    eigenvalues[rank - 1] = least
    pull = np.full(d, 0.2)
    pull[rank:] -= rng.uniform(0.1, 0.5, d - rank)
    X = _symmetric((Q * eigenvalues) @ Q.T)
    N = np.zeros((d, d)) if kind == "centre" else _symmetric((Q * pull) @ Q.T)
    weights = np.ones((d, d))
    if kind == "weighted":
        weights = np.triu(rng.uniform(alpha, 1.0, (d, d)))
        weights[0, 0], weights[1, 1] = alpha, 1.0
        weights = weights + np.triu(weights, 1).T
    b = X + N / weights
    if kind == "weighted":
        rows, cols = np.indices((d, d)).reshape(2, -1)
        objective: Any = Completion(rows, cols, b.ravel(), (d, d), weights=weights.ravel())
    else:
        objective = Distance(b)
    slope = weights * (X - b)
    proof = float(np.sum(slope * X)) - float(np.linalg.eigvalsh(_symmetric(slope))[0])
    return Known(Problem(objective, Spectrahedron(d)), 0.5 * float(np.sum(N * N / weights)), max(proof, 0.0))


def _symmetric(A: Array) -> Array:
    return (A + A.T) / 2


# -------------------------------------------------------------------------------------------------------- the oracles


@dataclass(frozen=True)
class Allowance:
    """The error ξ that an oracle may make where the theorem says ξ_t."""

    factor: float = 1.0
    fixed: float | None = None

    def of(self, accuracy: float) -> float:
        return self.factor * accuracy if self.fixed is None else self.fixed


@dataclass(frozen=True)
class Exact:
    """The leading eigenvector itself."""

    allowance: Allowance = Allowance(0.0)

    def __call__(self, operator: Any, beat: float, *_: Any, **asked: Any) -> Direction:
        last = operator.shape[0] - 1
        values, vectors = eigh(operator.dense(), subset_by_index=[last, last], check_finite=False)
        return Direction(vectors[:, 0], float(values[0]), max(float(values[0]) - beat, 0.0))


@dataclass(frozen=True)
class Worst:
    """A vector with vᴴAv = λ_max − ξ, the least that EV_ξ may give; the last eigenvector where ξ allows even that."""

    allowance: Allowance

    def __call__(
        self, operator: Any, beat: float, rng: np.random.Generator, *, accuracy: float, **asked: Any
    ) -> Direction:
        values, vectors = np.linalg.eigh(operator.dense())
        low, high = float(values[0]), float(values[-1])
        share = min(self.allowance.of(accuracy) / (high - low), 1.0) if high > low else 0.0
        sign = 1.0 if rng.random() < 0.5 else -1.0
        v = np.sqrt(1.0 - share) * vectors[:, -1] + sign * np.sqrt(share) * vectors[:, 0]
        value = high - share * (high - low)
        return Direction(v, value, max(value - beat, 0.0))


@dataclass(frozen=True)
class Asked:
    """The library's search, asked for ξ; what it was asked for, what it missed and what it spent are noted."""

    allowance: Allowance
    notes: list[tuple[float, float, float]] = field(default_factory=list, repr=False)

    def __call__(
        self, operator: Any, beat: float, rng: np.random.Generator, *, accuracy: float, **asked: Any
    ) -> Direction:
        before, wanted = operator.products, self.allowance.of(accuracy)
        found = find(operator, beat, rng, accuracy=wanted, **asked)
        spent = operator.products - before
        A, v = operator.dense(), found.vector[:, 0]
        missed = float(np.linalg.eigvalsh(A)[-1]) - float(v @ A @ v)
        self.notes.append((wanted, max(missed, 0.0), spent))
        return found


ORACLES: dict[str, Any] = {"exact": Exact, "worst": Worst, "asked": Asked}


# ----------------------------------------------------------------------------------------------------------- the runs


def perform(settings: dict[str, Any]) -> dict[str, Any]:
    """All seeds of a task."""
    began, grid = time.perf_counter(), steps_grid(settings["steps"])
    allowance = Allowance(0.0 if settings["oracle"] == "exact" else settings.get("factor", 1.0), settings.get("fixed"))
    outcome: dict[str, Any] = {"steps": grid, "errors": [], "proof": 0.0}
    watches, asked = [], []
    for seed in range(*settings["seeds"]):
        case = known(settings, seed)
        oracle = ORACLES[settings["oracle"]](allowance)
        watch = Watch(case.optimum, allowance, case.problem.lifted.smoothness or 1.0)
        stop = Stop(max_steps=settings["steps"])
        solve(case.problem, _method(settings["method"], oracle), stop, [watch], seed=seed, certify=False)
        outcome["errors"].append(on_grid(watch.errors, grid))
        outcome["proof"] = max(outcome["proof"], case.proof)
        outcome |= {"alpha": case.problem.lifted.strong_convexity, "beta": case.problem.lifted.smoothness}
        watches.append(watch)
        if settings["oracle"] == "asked":
            nothing = [(np.nan,) * 3] * settings["steps"]
            asked.append(np.array([*oracle.notes, *nothing])[[t - 1 for t in grid]])
    if settings["method"] == "ror":
        outcome |= {name: max(getattr(watch, name) for watch in watches) for name in ("weight", "atoms", "rise")}
    if asked:
        outcome |= {name: [note[:, k] for note in asked] for k, name in enumerate(("asked", "made", "products"))}
    return outcome | {"seconds": time.perf_counter() - began}


def _method(name: str, oracle: Any) -> Any:
    if name == "ror":
        return RankOneRegularized(oracle=oracle)
    return ConditionalGradient("open-loop" if name == "cg-open-loop" else "line-search", oracle=oracle)


def steps_grid(steps: int) -> list[int]:
    """Whole numbers from 1 to ``steps``, evenly spaced in the logarithm once they are not neighbours."""
    return sorted({round(t) for t in np.geomspace(1, steps, GRID)})


def on_grid(values: list[float], grid: list[int]) -> list[float]:
    """The curve at the grid's steps; a run that ended early keeps its last value."""
    return [values[min(t, len(values)) - 1] for t in grid]


@dataclass
class Watch:
    """Notes the error at every step and how far the hard invariants of Algorithm 2 are from breaking."""

    optimum: float
    allowance: Allowance
    beta: float
    errors: list[float] = field(default_factory=list)
    weight: float = -np.inf
    atoms: float = -np.inf
    rise: float = -np.inf

    def __call__(self, record: Record, point: Point) -> bool:
        t, error = record.step, record.value - self.optimum
        if self.errors:
            allowed = record.size * self.allowance.of(theorem_accuracy(t - 1, self.beta))
            self.rise = max(self.rise, error - self.errors[-1] - allowed)
        self.weight = max(self.weight, theorem_step(t) / 2 - float(point.atoms.weights.min()))
        self.atoms = max(self.atoms, len(point.atoms) - (t + 8) / 9)
        self.errors.append(error)
        return error > FLOOR
