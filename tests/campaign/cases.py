"""Cases: problems of many kinds with their optima, drawn from a seed; the same on every machine unless it says so.

A class (distance, completion, …) says how numbers bᵢ become data; ``draw`` and ``sized`` make those numbers nasty.
"""

from __future__ import annotations

import inspect
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np
import scipy.sparse as sp

import spectraplex as sx
from spectraplex.domains.sets import LEAST
from spectraplex.penalized import LEAST_PRICE

from .exact import KINDS, Logistic, Separable, turned

Rng = np.random.Generator


@dataclass(frozen=True, eq=False)
class Case:
    """A problem and its optimum, off by ``error`` at most."""

    problem: sx.Problem
    optimum: Fraction
    terms: float  # of what order the terms are that f is summed from
    words: str
    exact: Separable | Logistic | None = None  # knows f* at every radius and every λ
    error: Fraction = Fraction(0)
    portable: bool = True  # the data have the same bits on every machine
    certifiable: bool = True  # enough is known for a lower bound
    away: sx.Problem | None = None  # the same problem at another place

    @property
    def where(self) -> sx.Problem:
        """The problem where it is solved; claims are checked at ``problem``, on this machine."""
        return self.problem if self.away is None else self.away

    @property
    def heaviest(self) -> Fraction:
        return max(self.exact.weights, default=Fraction(1)) if self.exact is not None else Fraction(1)

    def of(self, problem: sx.Problem) -> Case:
        """The same function with another radius or λ, or with λ for a radius, or the other way round."""
        assert self.exact is not None
        penalized = isinstance(problem, sx.Penalized)
        exact = self.exact if penalized == isinstance(self.problem, sx.Penalized) else self.exact.twin()
        size = problem.lam if isinstance(problem, sx.Penalized) else problem.domain.size
        optimum = exact.optimum(size)
        return replace(self, problem=problem, optimum=optimum, exact=exact, error=exact.error(optimum), away=None)


def pick(rng: Rng, *options: Any) -> Any:
    return options[int(rng.integers(len(options)))]


# ------------------------------------------------------------------------------------------------- nasty numbers


def draw(rng: Rng, count: int, whole: bool) -> tuple[np.ndarray, str]:
    """Numbers bᵢ, and what is nasty about them; ``whole``: whole numbers times one power of two."""
    b = rng.integers(-12, 13, count).astype(float) if whole else rng.standard_normal(count) * 3
    kinds = ("plain", "plain", "positive", "tied", "zeros", "scaled", "subnormal")
    flavour = pick(rng, *kinds, *(() if whole else ("steep", "mixed")))
    if flavour == "positive":
        b = np.abs(b) + 1
    elif flavour == "tied":
        b = np.full(count, abs(b[0]) + 1) * (1.0 if rng.integers(2) else rng.choice([-1.0, 1.0], count))
    elif flavour == "zeros":
        b = b * (rng.random(count) < 0.3)
    elif flavour == "scaled":
        b = np.ldexp(b, int(rng.integers(-465, 466)))
    elif flavour == "subnormal":
        b = np.ldexp(np.round(16 * b), int(rng.integers(-1074, -1000)))
    elif flavour == "steep":
        b = b * 10.0 ** -(np.arange(count) * rng.uniform(1, 5))
    elif flavour == "mixed":
        b = np.ldexp(b, rng.integers(-460, 460, count))
    return b, flavour


def sized(rng: Rng, kind: str, b: np.ndarray, weights: Any = None) -> tuple[float, str]:
    """A radius, a trace or a λ for these numbers: usual ones, far too large and small, and just where things turn."""
    slopes = np.abs(b) if weights is None else np.abs(b) * np.asarray(weights, float)
    if kind in ("penalty", "trace penalty"):
        top = float(slopes.max(initial=0.0)) or 1.0
        word = pick(rng, "share", "share", "small", "least", "top", "beyond", "far beyond")
        factor = {"share": rng.uniform(0.05, 0.95), "small": 10.0 ** -rng.uniform(1, 18), "top": 1.0, "beyond": 1.01}
        factor |= {"least": 10.0 ** -rng.uniform(18, 300), "far beyond": 10.0 ** rng.uniform(1, 12)}
    else:
        top = float(np.sum(np.abs(b) if kind == "ball" else np.maximum(b, 0.0))) or 1.0
        word = pick(rng, "share", "share", "near", "feasible", "inside", "large", "small", "one")
        factor = {"share": rng.uniform(0.05, 0.95), "near": 1 - 10.0 ** -rng.uniform(2, 15), "feasible": 1.0}
        factor |= {"inside": rng.uniform(1, 3), "large": 10.0 ** rng.uniform(2, 9), "small": 10.0 ** -rng.uniform(2, 9)}
        factor |= {"one": 1 / top if 1e-12 < top < 1e12 else 1.0}
    size = top * factor[word]
    return min(max(size, 5e-324), 1e150), word


def heavy(rng: Rng, count: int) -> np.ndarray | None:
    """Weights: none, usual ones, over twelve orders of magnitude."""
    return pick(rng, None, rng.uniform(0.5, 2.0, count), 10.0 ** rng.uniform(-6, 6, count))


def problem_of(kind: str, objective: Any, size: float, told: dict[str, float]) -> sx.Problem:
    if kind in ("penalty", "trace penalty"):
        return sx.Penalized(objective, size, psd=kind == "trace penalty", **told)
    shape = objective.shape
    if kind == "ball":
        return sx.Problem(objective, sx.NuclearBall(shape, size))
    domain = sx.Spectrahedron if kind == "spectrahedron" else sx.TraceBall
    return sx.Problem(objective, domain(shape[0], size))


def refused_size(kind: str, objective: Any, size: float, told: dict[str, float]) -> None:
    """What is too small for floating point gets a sentence that says so."""
    try:
        problem_of(kind, objective, size, told)
    except ValueError as words:
        assert "too small for floating point" in str(words) and str(words).endswith("."), words
    else:
        raise AssertionError(f"{kind} {size!r} was not refused")


def case_of(rng: Rng, exact: Separable | Logistic, objective: Any, size: float, words: str) -> Case:
    kind, told = exact.kind, {}
    if isinstance(exact, Separable) and kind == "spectrahedron" and len(exact.targets) < objective.shape[0]:
        exact = replace(exact, kind="trace ball")  # what nobody looks at takes up the rest of the trace
    if isinstance(exact, Separable) and isinstance(objective, sx.Smooth):
        # it does not know how small it can get, but no solution is larger than A
        whole = min(float(sum(map(abs, exact.targets), Fraction(0))), 1e150)
        told = {"bound": max(pick(rng, 1.001, 10.0) * whole, 1e-300)}
    least = LEAST_PRICE if kind in ("penalty", "trace penalty") else LEAST
    if size < least:
        refused_size(kind, objective, size, told)
        size = least
    problem = problem_of(kind, objective, size, told)
    optimum = exact.optimum(size)
    return Case(problem, optimum, exact.terms(size), f"{words}, {kind} {size!r}", exact, exact.error(optimum))


def shape_of(rng: Rng, kind: str, most: int = 8) -> tuple[int, int]:
    d = pick(rng, 1, 2, int(rng.integers(2, 6)), int(rng.integers(2, most + 1)))
    return (d, d) if kind not in ("ball", "penalty") else (d, pick(rng, 1, d, int(rng.integers(1, most + 1))))


# ------------------------------------------------------------------------------------------- classes of problems


def spectral(rng: Rng, kind: str, shape: tuple[int, int]) -> tuple[np.ndarray, np.ndarray, str]:
    """A full matrix of known eigenvalues (singular values), and these: nothing in it was rounded."""
    m, n = shape
    complex_ = bool(rng.integers(2))
    b, flavour = draw(rng, min(shape), whole=True)
    P, p = turned(rng, m, complex_)
    Q, q = (P, p) if kind not in ("ball", "penalty") else turned(rng, n, complex_)
    A = (P[:, : b.size] * b) @ Q[:, : b.size].conj().T + 0.0  # kernels differ in the sign of a zero
    return A, p * q * b, f"{flavour}{', complex' if complex_ else ''}"


def placed(rng: Rng, kind: str, shape: tuple[int, int], count: int) -> tuple[np.ndarray, np.ndarray]:
    """Places of a (generalised) diagonal: no row and no column twice."""
    if kind not in ("ball", "penalty"):
        rows = rng.permutation(shape[0])[:count]
        return rows, rows
    return rng.permutation(shape[0])[:count], rng.permutation(shape[1])[:count]


def distance(rng: Rng, kinds: tuple[str, ...] = KINDS, sparse: bool = False) -> Case:
    kind = pick(rng, *kinds)
    shape = shape_of(rng, kind)
    if rng.integers(2):
        A, b, flavour = spectral(rng, kind, shape)
    else:
        b, flavour = draw(rng, min(shape), whole=False)
        A = np.zeros(shape, pick(rng, float, complex))
        A[placed(rng, kind, shape, b.size)] = b
    size, word = sized(rng, kind, b)
    objective = sx.Distance(sp.csr_array(A) if sparse else A)
    return case_of(rng, Separable.of(kind, b.tolist()), objective, size, f"{flavour}, {word}")


def full(rng: Rng, kinds: tuple[str, ...] = KINDS) -> Case:
    """Every entry observed, with one weight: the distance again, as a completion."""
    kind = pick(rng, *kinds)
    shape = shape_of(rng, kind, 6)
    A, b, flavour = spectral(rng, kind, shape)
    rows, cols = (index.ravel() for index in np.indices(shape))
    weight = pick(rng, None, float(10.0 ** rng.uniform(-6, 6)))
    weights = None if weight is None else [weight] * b.size
    size, word = sized(rng, kind, b, weights)
    objective = sx.Completion(rows, cols, A.ravel(), shape, weights=None if weight is None else [weight] * A.size)
    return case_of(rng, Separable.of(kind, b.tolist(), weights), objective, size, f"{flavour}, {word}")


def completion(rng: Rng, kinds: tuple[str, ...] = KINDS) -> Case:
    """Observations on a diagonal, with weights, squared or Huber; complex values whose sizes are rational."""
    kind = pick(rng, *kinds)
    shape = shape_of(rng, kind)
    count = int(rng.integers(1, min(shape) + 1))
    complex_ = kind in ("ball", "penalty") and rng.integers(3) == 0
    b, flavour = draw(rng, count, whole=complex_)
    values: Any = b * (3 + 4j) if complex_ else b  # |3 + 4i| = 5
    b = 5 * b if complex_ else b
    weights = heavy(rng, count)
    delta = None if rng.integers(2) else float(abs(b).max(initial=0.0) * rng.uniform(0.05, 1.2)) or 1.0
    size, word = sized(rng, kind, b, weights)
    exact = Separable.of(kind, b.tolist(), weights, None if delta is None else [delta] * count)
    loss: dict[str, Any] = {} if delta is None else {"loss": "huber", "delta": delta}
    objective = sx.Completion(*placed(rng, kind, shape, count), values, shape, weights=weights, **loss)
    return case_of(rng, exact, objective, size, f"{flavour}, {word}, {loss.get('loss', 'squared')}")


def sensing(rng: Rng, kinds: tuple[str, ...] = KINDS) -> Case:
    """Measurements a·pᵢqᵢᴴ along an orthogonal basis, as a stack, as sparse matrices, as rank-ones."""
    kind = pick(rng, *kinds)
    shape = shape_of(rng, kind, 5)
    count = int(rng.integers(1, min(shape) + 1))
    complex_ = bool(rng.integers(2))
    P, p = turned(rng, shape[0], complex_)
    Q, q = (P, p) if kind not in ("ball", "penalty") else turned(rng, shape[1], complex_)
    targets, flavour = draw(rng, count, whole=False)
    storage = pick(rng, "stack", "sparse", "rank-ones") if P is Q else pick(rng, "stack", "sparse")
    gains = np.ones(count) if storage == "rank-ones" else np.ldexp(1.0, rng.integers(-3, 4, count))
    factors = [Fraction(g) * p * q for g in gains.tolist()]  # ⟨Aᵢ, X⟩ = factor · (unit vectors' entry of X)
    b = [Fraction(t) / f for t, f in zip(targets.tolist(), factors, strict=True)]
    weights = [f * f for f in factors]
    size, word = sized(rng, kind, np.array([float(x) for x in b]), [float(w) for w in weights])
    A = np.stack([g * np.outer(P[:, i], Q[:, i].conj()) for i, g in enumerate(gains)]) + 0.0
    given: Any = A if storage == "stack" else [sp.coo_array(each) for each in A] if storage == "sparse" else P.T[:count]
    objective = sx.Sensing(given, targets)
    return case_of(rng, Separable.of(kind, b, weights), objective, size, f"{flavour}, {word}, {storage}")


def smooth(rng: Rng, kinds: tuple[str, ...] = KINDS) -> Case:
    """A user's own function: no conjugate, bounds by convexity alone."""
    kind = pick(rng, *kinds)
    shape = shape_of(rng, kind, 6)
    A, b, flavour = spectral(rng, kind, shape)
    size, word = sized(rng, kind, b)

    def half_square(X: np.ndarray) -> tuple[float, np.ndarray]:
        return 0.5 * float(np.sum(np.abs(X - A) ** 2)), X - A

    told: dict[str, Any] = {"smoothness": pick(rng, None, 1.0)}
    known = inspect.signature(sx.Smooth).parameters
    if "lower" in known and rng.integers(2):
        told["lower"] = 0.0
    if "parts" in known and rng.integers(2):
        told["parts"] = (A,)
    objective = sx.Smooth(half_square, shape, A.dtype.name, **told)
    case = case_of(rng, Separable.of(kind, b.tolist()), objective, size, f"{flavour}, {word}")
    # with a price and no conjugate, a bound needs to know how small the function can get
    return replace(case, certifiable="lower" in told or kind not in ("penalty", "trace penalty"))
