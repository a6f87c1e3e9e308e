"""Dual points that are kept: as evidence beside a certificate, in the state of a run, and compared with X's own slope.

A slope is kept as it is where the loss has a conjugate, because any slope is then a dual point. Otherwise convexity
gives a bound from the value and slope at a feasible matrix, and its factors are kept: an image alone might belong to
none, and a function need not be convex outside its domain.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from ..fingerprint import fingerprint
from ..losses.curves import NotFinite
from ..matrices.atoms import Atoms
from ..objectives.distance import Factored
from ..places.tall import all_finite, is_array
from ..problem import Problem
from .certificate import Evidence
from .dual import Candidate, believed
from .judged import look
from .lower import LowerBound, claim


def slope_mark(problem: Problem, slope: Any) -> str:
    """A fingerprint of a slope, for the random start that is to know nothing of it."""
    images = problem.facts.images
    if images.plain(slope):
        return images.mark(slope)
    if isinstance(slope, Factored):
        place = problem.facts.place
        U, V = (each if isinstance(each, np.ndarray) else place.mark(each) for each in (slope.U, slope.V))
        return fingerprint(U, slope.s, V)
    ones = np.ones((problem.objective.shape[1], 1), problem.dtype)
    return fingerprint(problem.objective.gradient(slope).matmat(ones))


def evidence_of(problem: Problem, candidate: Candidate) -> Evidence | None:
    """A dual point of a loss with a conjugate, kept for somebody else; None where there is none or it is no array."""
    if not believed(problem, candidate):
        return None
    images = problem.facts.images
    if images.plain(candidate.slope):
        return Evidence("slope", {"y": images.pack(candidate.slope)})
    image = candidate.slope if candidate.image is None else problem.lifted.seen(candidate.image)
    if images.plain(image):
        return Evidence("image", {"z": images.pack(image)})
    if isinstance(image, Factored):
        place = problem.facts.place
        return Evidence("image", {"U": place.packed(image.U), "s": image.s, "V": place.packed(image.V)})
    return None


def lean(problem: Problem, found: LowerBound) -> LowerBound:
    """A bound without the atoms and the image of its slope, where that alone proves it: a run holds it for long."""
    own = found.candidate
    if own.of_what is None or not (believed(problem, own) and problem.facts.images.plain(own.slope)):
        return found
    return replace(found, candidate=Candidate(own.value, own.slope, None))


def kept(problem: Problem, found: LowerBound, value: float) -> tuple[LowerBound, Evidence] | None:
    """A bound with what it takes for somebody else to build it again; None where that cannot be kept."""
    evidence, held = evidence_of(problem, found.candidate), found.candidate.of_what
    if evidence is not None:
        return found, evidence
    if held is None:
        return None
    factors = problem.domain.lower(held) if isinstance(held, Atoms) else held
    try:
        own = look(problem, factors).candidate
    except NotFinite:
        return None
    bound = nearby(problem, found, own, value)
    U, s, V = factors.triple()
    U, V = factors.place.packed(U), factors.place.packed(V)
    arrays = {"U": U, "s": s} if problem.domain.hermitian else {"U": U, "s": s, "V": V}
    return None if bound is None else (bound, Evidence("factors", arrays))


def from_evidence(problem: Problem, evidence: Evidence, like: Candidate) -> Candidate | None:
    """The candidate that evidence stands for; None unless it has the types and shapes that ``like``, one of X, has."""
    arrays = evidence.arrays
    if not all(is_array(array) and all_finite(array) for array in arrays.values()):
        return None
    if evidence.kind == "slope" and set(arrays) == {"y"} and _fits(problem, arrays["y"], like.slope):
        found = Candidate(like.value, problem.facts.images.unpack(arrays["y"]), None)
        return found if believed(problem, like) else None
    if evidence.kind == "factors" and set(arrays) == ({"U", "s"} if problem.domain.hermitian else {"U", "s", "V"}):
        try:
            return look(problem, tuple(arrays[name] for name in sorted(arrays, key="UsV".index))).candidate
        except (NotFinite, ValueError, TypeError):
            return None
    if evidence.kind != "image" or like.image is None or not believed(problem, like):
        return None
    at = _at_image(problem, arrays, problem.lifted.seen(like.image))
    return at if at is not None and believed(problem, at) else None


def _at_image(problem: Problem, arrays: dict[str, Any], image: Any) -> Candidate | None:
    if set(arrays) == {"z"} and _fits(problem, arrays["z"], image):
        return Candidate.at(problem, problem.facts.images.unpack(arrays["z"]))
    if set(arrays) == {"U", "s", "V"} and isinstance(image, Factored):
        U, s, V = arrays["U"], arrays["s"], arrays["V"]
        shapes = (problem.objective.shape[0], s.size), (problem.objective.shape[1], s.size)
        kinds = s.dtype == np.float64 and U.dtype == V.dtype == np.dtype(problem.dtype)
        if kinds and s.ndim == 1 and (U.shape, V.shape) == shapes:
            place = problem.facts.place
            return Candidate.at(problem, problem.objective.measure(place.from_host(U), s, place.from_host(V)))
    return None


def _fits(problem: Problem, array: Any, like: Any) -> bool:
    """Whether an array can be unpacked to an image, or a slope, such as the other one."""
    images = problem.facts.images
    return images.plain(like) and same_kind(array, images.pack(like))


def same_kind(array: Any, like: Any) -> bool:
    return bool(array.dtype == like.dtype and array.shape == like.shape)


def nearby(problem: Problem, known: LowerBound, candidate: Candidate, value: float) -> LowerBound | None:
    """The bound from a slope close to one whose λ_max is bounded: λ_max moves by at most ‖𝒜*‖ times their distance.

    No product is spent. None where the slopes are not arrays, or the objective does not know ‖𝒜‖.
    """
    y, x, reach, images = known.candidate.slope, candidate.slope, problem.facts.reach, problem.facts.images
    if reach is None or not (images.plain(x) and images.plain(y)) or images.count(x) != images.count(y):
        return None
    pull = problem.lifted.pull(x)
    lift = abs(pull.scale) * (0.5 if pull.bipartite else 1.0)
    top = known.top + (1 + 1e-9) * lift * reach * images.norm(images.blend(1.0, x, -1.0, y))
    reached, blur, _ = claim(problem, candidate, top, known.spread, value)
    return replace(known, value=reached, candidate=candidate, top=top, blur=blur, products=0.0)
