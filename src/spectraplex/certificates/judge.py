"""certify and verify: judge any candidate from any tool, and check a certificate without trusting who wrote it."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import chance, whole
from ..fingerprint import data_fingerprint, stream
from ..losses.curves import NotFinite
from ..problem import Problem
from ..result import Result, load
from .certificate import Certificate
from .dual import Candidate
from .evidence import from_evidence, slope_mark
from .feasible import scale_of
from .judged import Judged, look
from .lower import LowerBound, contradicts, lower_bound, shown


def certify(
    problem: Problem, X: Any, *, failure: float = 1e-9, products: float | None = None, seed: int | None = None
) -> Certificate:
    """Judge a candidate: how far outside, its value, and how far above the optimum it can be at most.

    Parameters
    ----------
    X : factors (``result.X``, (vectors, weights), (U, s, V)), a dense matrix, a ``Result`` or a saved one's folder.
    failure : probability that the lower bound is wrong, where it cannot be proven.
    products : most products to spend on the bound; by default enough to make it tight.
    seed : of the random start; from the operating system by default.

    Returns
    -------
    Certificate
        Prints as a sentence; ``to_json`` makes it a document that ``verify`` can check.
    """
    _a_problem("certify", problem)
    chance("certify", "failure", failure)
    if seed is not None:
        whole("certify", "seed", seed, least=0)
    if products is not None and not (isinstance(products, int | float) and products > 0):
        raise ValueError(f"certify: products must be a positive number or None, got {products!r}.")
    found = _look("certify", problem, X)
    rng = np.random.default_rng()
    if seed is not None:
        rng = stream(seed, data_fingerprint(problem), slope_mark(problem, found.candidate.slope))
    most = float(problem.domain.dimension + 10) if products is None else products
    bound = lower_bound(problem, [found.candidate], found.value, failure=failure, rng=rng, share=0.02, products=most)
    if contradicts(problem, bound.value, found.value, found.rounding):
        raise ValueError(
            f"certify: a lower bound of {bound.value:.10g} came out above the value {found.value:.10g}: the objective "
            "is not convex, or its gradient is wrong; run spectraplex.check on it."
        )
    return certificate_of(problem, found, bound)


def certificate_of(problem: Problem, found: Judged, bound: LowerBound) -> Certificate:
    """What a bound from the slope of X itself says about X."""
    return Certificate(
        kind=bound.kind,
        failure=bound.failure,
        value=found.value,
        lower_bound=bound.value,
        feasibility=found.outside,
        data=data_fingerprint(problem),
        factors=found.mark,
        rounding=found.rounding,
    )


def _a_problem(owner: str, problem: Any) -> None:
    if not isinstance(problem, Problem):
        raise TypeError(f"{owner}: the problem must be a Problem or Penalized, got {type(problem).__name__}.")


def _look(owner: str, problem: Problem, X: Any) -> Judged:
    try:
        return look(problem, X, owner)
    except NotFinite:
        raise ValueError(
            f"{owner}: the objective is NaN or infinite at X; choose another X, or run spectraplex.check on it."
        ) from None


@dataclass(frozen=True)
class Verification:
    """True when the certificate holds; printing it says which part does not."""

    wrong: tuple[str, ...]

    def __bool__(self) -> bool:
        return not self.wrong

    def __str__(self) -> str:
        return "The certificate holds." if not self.wrong else "The certificate does not hold: " + " ".join(self.wrong)


def verify(certificate: Certificate | str, problem: Problem, X: Any, *, failure: float = 1e-9) -> Verification:
    """Check a certificate from the data and the factors alone, with fresh randomness from the system.

    Everything in the certificate is worked out again: the fingerprints, feasibility, the value with its rounding, and a
    lower bound of our own that reaches the one claimed. A bound whose dual point is not the slope of X needs its
    evidence, which the certificate itself, the result, or its folder holds.

    Parameters
    ----------
    certificate : a ``Certificate``, or its JSON.
    X : what was certified: factors, a dense matrix, a ``Result`` or its folder.
    failure : probability that a false bound passes, where it cannot be proven; the certificate's own if that is less.
    """
    if isinstance(certificate, str):
        certificate = Certificate.from_json(certificate)
    if not isinstance(certificate, Certificate):
        remedy = "; pass result.certificate" if isinstance(certificate, Result) else ""
        raise TypeError(
            f"verify: the first argument must be a Certificate or its JSON, got {type(certificate).__name__}{remedy}."
        )
    _a_problem("verify", problem)
    chance("verify", "failure", failure)
    if not certificate.sensible():
        return Verification(("document: its kind, failure and numbers do not go together.",))
    X = load(X) if isinstance(X, str | os.PathLike) else X
    wrong = []
    if not certificate.sealed:
        wrong.append(
            "document: it is not as it was written, something in it was changed; if an earlier version wrote it, "
            "certify X anew."
        )
    if certificate.data != data_fingerprint(problem):
        wrong.append("data: the problem is not the one that was certified.")
    found = _look("verify", problem, X)
    if certificate.factors != found.mark:
        wrong.append("factors: X is not the matrix that was certified.")
    if not abs(found.value - certificate.value) <= found.rounding + min(certificate.rounding, 2 * found.rounding):
        wrong.append(f"value: it is {found.value:.10g}, not {certificate.value:.10g}.")
    if not 0.5 * found.rounding <= certificate.rounding <= 2.0 * found.rounding:
        wrong.append(f"rounding: the value is known to {found.rounding:.3g}, not to {certificate.rounding:.3g}.")
    if not np.isclose(found.outside, certificate.feasibility, rtol=1e-6, atol=1e-12 * scale_of(problem, found.factors)):
        wrong.append(f"feasibility: X lies {found.outside:.3g} outside, not {certificate.feasibility:.3g}.")
    if contradicts(problem, certificate.lower_bound, found.value, found.rounding):
        wrong.append(f"lower bound: {certificate.lower_bound:.10g} lies above the value {found.value:.10g}.")
    if certificate.kind != "none":
        wrong += _check_bound(certificate, problem, X, found, failure)
    return Verification(tuple(wrong))


_NO_DUAL = (
    "dual: the dual point that the bound was built from is not here; verify with the result or the certificate that "
    "keeps it, or certify anew."
)


def _dual_point(certificate: Certificate, problem: Problem, X: Any, own: Candidate) -> Candidate | None:
    """Where the bound is said to come from: the slope of X, or evidence that has the fingerprint named."""
    if certificate.dual == "slope":
        return own
    offers = [certificate.evidence]
    if isinstance(X, Result):
        offers.append(X.certificate.evidence)
    for offer in offers:
        if offer is not None and offer.mark == certificate.dual:
            return from_evidence(problem, offer, own)
    return None


def _check_bound(certificate: Certificate, problem: Problem, X: Any, found: Judged, failure: float) -> list[str]:
    """What is wrong with the bound: nothing if a bound of our own, from a fresh random start, reaches it."""
    candidate = _dual_point(certificate, problem, X, found.candidate)
    if candidate is None:
        return [_NO_DUAL]
    claimed = certificate.lower_bound
    allowed = min(failure, certificate.failure) if certificate.kind == "probable" else failure
    ours = shown(problem, candidate, claimed, certificate.kind, allowed).value
    return [] if ours >= claimed else [f"lower bound: {claimed:.10g} is claimed, only {ours:.10g} can be shown."]
