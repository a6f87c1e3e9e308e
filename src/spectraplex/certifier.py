"""The certifier of one run: when to look for a lower bound, from which points, and what failure budget is left."""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from .certificate import Candidate, Certificate, contradicts, lower_bound
from .factors import Factors
from .fingerprint import data_fingerprint, factors_fingerprint, fingerprint
from .problem import Point, Problem

_GUESS = 150.0  # products of a first certification, before one was seen


class Certifier:
    """The lower bound of one run: the best so far, how true it is, and the failure budget it has used.

    The j-th certification of a run may fail with probability failure/(j(j + 1)), so all together with ``failure``. Its
    random starts come from a stream of their own and do not depend on what the method did.
    """

    def __init__(self, problem: Problem, failure: float, seed: int, average: bool) -> None:
        self.problem, self.failure = problem, failure
        self.rng = np.random.default_rng([seed, 1])
        self.bound, self.kind = -math.inf, "none"
        self.count, self.products = 0, 0.0
        self.dual: Any = None  # the slope that the best bound came from
        self.average: Any = None  # of the images so far: often the better dual point
        self.contradicted = False  # a "lower bound" above a value: no convex function has that
        self._averages = average and hasattr(problem.objective, "conjugate")  # else no bare slope can be verified
        self._last_cost, self._last_seen = 0.0, -math.inf

    def follow(self, point: Point, t: int) -> None:
        """A running average of the images, weights growing like t⁴: its slope is a dual point that does not zigzag.

        Measured beside the last slope, the best of recent ones and Anderson extrapolation: see benchmarks/duals.py.
        """
        image = self.problem.lifted.seen(point.image)
        if not self._averages or not isinstance(image, np.ndarray):
            return
        if self.average is None:
            self.average = image
            return
        share = 5.0 / (t + 5.0)
        self.average = self.problem.objective.combine(1.0 - share, self.average, share, image)

    def due(self, estimate: float, wanted: float, products: float) -> bool:
        """When the estimate (if there is one) says it will be enough, and never for more than a quarter of the work."""
        waited = products - self._last_seen
        if math.isnan(estimate) or estimate <= wanted:
            soon = waited >= 3.0 * self._last_cost
        elif estimate <= 4.0 * wanted:  # scaled and averaged dual points often show less than the estimate knows
            soon = waited >= 10.0 * self._last_cost
        else:  # an estimate is that of the point before: a long step may have left it far behind
            soon = estimate <= 100.0 * wanted and waited >= 20.0 * max(self._last_cost, _GUESS)
        self._last_seen = products if soon else self._last_seen
        return soon

    def certify(self, point: Point, most: float, wanted: float = math.nan) -> float:
        """Look for a better lower bound from this point or the average; returns the products it took."""
        self.count += 1
        failure = self.failure / (self.count * (self.count + 1))
        candidates = [Candidate.of(point)]
        if self.average is not None and self.average is not self.problem.lifted.seen(point.image):
            candidates.append(Candidate.at(self.problem, self.average))
        found = lower_bound(
            self.problem, candidates, point.value, failure=failure, rng=self.rng, products=most, wanted=wanted
        )
        self.products += found.products
        self._last_cost = found.products
        self._last_seen += found.products
        if found.value > self.bound:
            self.bound, self.kind, self.dual = found.value, found.kind, found.candidate.slope
        self.confront(point.value)
        return found.products

    def confront(self, value: float) -> bool:
        """Whether the bound lies above a value that was seen; it is then withdrawn, and nothing counts as certified."""
        if contradicts(self.bound, value):
            self.contradicted = True
            self.bound, self.kind, self.dual = -math.inf, "none", None
        return self.contradicted

    def certificate(self, best: Point, X: Factors, value: float) -> Certificate:
        array = isinstance(self.dual, np.ndarray)
        own = self.dual is best.slope or self.dual is None or (array and np.array_equal(self.dual, best.slope))
        kept = array and hasattr(self.problem.objective, "conjugate")
        return Certificate(
            kind=self.kind,
            failure=0.0 if self.kind == "proven" else self.failure,
            value=value,
            lower_bound=self.bound,
            feasibility=0.0,
            dual="slope" if own else fingerprint(self.dual) if kept else "not kept",
            data=data_fingerprint(self.problem),
            factors=factors_fingerprint(X),
        )

    def state(self) -> dict[str, Any]:
        """Flat, for saving."""
        flat = {
            "lower_bound": self.bound,
            "kind": self.kind,
            "failure": self.failure,
            "certified": self.count,
            "certifying": self.products,
            "certifier": json.dumps(self.rng.bit_generator.state),
            "last_cost": self._last_cost,
            "last_seen": self._last_seen,
        }
        arrays = {"dual": self.dual, "average": self.average}
        return flat | {name: array for name, array in arrays.items() if isinstance(array, np.ndarray)}

    def restore(self, state: dict[str, Any]) -> None:
        self.bound, self.kind = float(state["lower_bound"]), str(state["kind"])
        self.count, self.products = int(state["certified"]), float(state["certifying"])
        self._last_cost, self._last_seen = float(state["last_cost"]), float(state["last_seen"])
        self.rng.bit_generator.state = json.loads(state["certifier"])
        self.failure = max(self.failure, float(state["failure"]))  # what the earlier bounds were worth
        self.average = state.get("average")
        self.dual = state.get("dual", None if self.kind == "none" else "not kept")
        if not hasattr(self.problem.objective, "parts"):  # a user's own function cannot be recognised for certain
            self.bound, self.kind, self.dual, self.average = -math.inf, "none", None, None
