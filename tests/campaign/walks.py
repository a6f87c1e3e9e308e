"""Other ways in: certify for matrices from anywhere, and paths with an answer at every radius or λ."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import spectraplex as sx
from spectraplex.domains.sets import LEAST
from spectraplex.penalized import LEAST_PRICE

from .cases import Case, pick
from .forge import sentence


def certified(report: Any, rng: np.random.Generator, case: Case, share: Any) -> None:
    """A matrix that no method of ours made: inside, slightly outside, far outside."""
    from .attack import bracket, holds

    problem = case.problem
    size, where = problem.domain.size, pick(rng, "inside", "edge", "slightly outside", "far outside", "zero")
    X = anything(rng, problem, size)
    X = (
        X
        * {"inside": rng.uniform(0, 1), "edge": 1.0, "slightly outside": 1 + 1e-8, "far outside": 2.0, "zero": 0.0}[
            where
        ]
    )
    fixed, penalized = isinstance(problem.domain, sx.Spectrahedron), isinstance(problem, sx.Penalized)
    out = where == "far outside" or (fixed and where in ("inside", "zero"))
    report.words += f", certify {where}"
    given = pick(rng, X, (np.linalg.svd(X, full_matrices=False)) if not problem.domain.hermitian else X)
    if isinstance(given, tuple):
        given = (given[0], given[1], given[2].conj().T)
    try:
        certificate = sx.certify(case.where, given, failure=pick(rng, 1e-9, 1e-3))
    except ValueError as words:
        sentence(report, words, "certify")
        if penalized or not out:
            report.miss("certify refuses", words)
        return
    if out and not penalized:
        report.miss("certify accepts what is outside", certificate)
        return
    bracket(report, case, certificate, "certify")
    holds(report, "refused after certify", lambda: sx.verify(certificate, problem, given))
    holds(report, "refused after certify", lambda: sx.verify(certificate.to_json(), problem, given))


def anything(rng: np.random.Generator, problem: sx.Problem, size: float) -> np.ndarray:
    """A random matrix of the domain's kind, of trace or nuclear norm ``size``."""
    m, n = problem.domain.shape
    rank = int(rng.integers(1, min(m, n) + 1))
    left, right = (rng.standard_normal((side, rank)).astype(problem.dtype) for side in (m, n))
    if problem.dtype == "complex128":
        left, right = (side + 1j * rng.standard_normal(side.shape) for side in (left, right))
    X = left @ (left if problem.domain.hermitian else right).conj().T
    total = float(np.trace(X).real) if problem.domain.hermitian else float(np.linalg.svd(X, compute_uv=False).sum())
    return np.asarray(X * (1 / total) * size)


def walked(report: Any, rng: np.random.Generator, case: Case, share: Any) -> None:
    """A path along the radius or λ: each point, and whatever lies between two."""
    from .attack import bracket, holds

    problem = case.problem
    own, least = problem.domain.size, LEAST
    if isinstance(problem, sx.Penalized):
        own, least = problem.lam, LEAST_PRICE
    ends = np.clip([own, own * rng.uniform(0.2, 0.9)], least, 1e150)
    gap = pick(rng, None, 0.3, 0.05)
    radii: Any = pick(rng, ends, np.clip(np.geomspace(ends.min(), ends.max(), 4), ends.min(), ends.max()), "auto")
    method = pick(rng, "hybrid", "apgd", "cg")
    stop = sx.Stop(relative_gap=1e-3 if gap is None else None, max_steps=int(rng.integers(3, 15)))
    report.words += f", path with {method}, gap {gap}, {'auto' if isinstance(radii, str) else 'given'} radii"
    path = sx.path(case.where, radii, gap=gap, count=3, stop=stop, method=method, seed=int(rng.integers(100)))
    if "contradicts" in path.ended or "not finite" in path.ended:
        report.miss("path ended", path.ended)
    for point in path:
        here = case.of(point.problem)
        bracket(report, here, point.certificate, "path")
        if point.certificate.kind != "none":
            holds(report, "path: refused", lambda p=point: sx.verify(p.certificate, p.problem, p.result))
    for low, high in pairwise(path):
        size = float(np.sqrt(low.size) * np.sqrt(high.size) if rng.integers(2) else 0.5 * (low.size + high.size))
        if not min(low.size, high.size) < size < max(low.size, high.size):
            continue
        X, certificate = path.at(size)
        there = case.of(path.family.at(size))
        bracket(report, there, certificate, "Path.at")
        lower = path.curve([size])[1]
        if float(lower[0]) > float(there.optimum) * (1 + 1e-12) + 1e-12 * case.terms + 1e-290:
            report.miss("Path.curve: false bound", f"{lower[0]!r} at {size!r}")
        kept = sx.certify(there.problem, X)
        bracket(report, there, kept, "Path.at, certified anew")
        if path.promise is not None and not _kept(path, certificate):
            report.miss("path: promise broken", f"{certificate.gap!r} at {size!r}")


def _kept(path: sx.Path, certificate: sx.Certificate) -> bool:
    """Whether a gap is what the path promised, as far as its value is known."""
    assert path.promise is not None
    return certificate.gap <= path.promise.allowed(certificate.value) * (1 + 1e-6) + 2 * certificate.rounding
