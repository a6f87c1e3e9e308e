"""The certifier of one run: when to look for a lower bound, from which points, and what failure budget is left."""

from __future__ import annotations

import math
from typing import Any

from ..fingerprint import data_fingerprint, stream
from ..matrices.atoms import Atoms
from ..places.numpy import EPS
from ..places.protocol import on_device
from ..places.tall import all_finite, is_array
from ..problem import Point, Problem
from ..rounding import of_value
from .certificate import Certificate, Evidence
from .dual import Candidate
from .evidence import from_evidence, kept, lean, nearby, same_kind, slope_mark
from .judged import Judged
from .lower import LowerBound, contradicts, extent, lower_bound, shown

_GUESS = 150.0  # products of a first certification, before one was seen
_NEARLY = 0.05  # share of the gap that the slope of X itself may lose against evidence that would have to be kept


class Certifier:
    """The lower bound of one run: the best so far, how true it is, and the failure budget it has used.

    The j-th certification of a run may fail with probability failure/(j(j + 1)), so all together with ``failure``. Its
    random start depends on the seed, the data and the slope in question: no problem can be built that expects it.
    """

    def __init__(self, problem: Problem, failure: float, seed: int, average: bool) -> None:
        self.problem, self.failure, self.seed = problem, failure, seed
        self.found: LowerBound | None = None  # the best bound
        self.count, self.products = 0, 0.0
        self.average: Any = None  # of the images so far: often the better dual point
        self.contradicted = False  # a "lower bound" above a value: no convex function has that
        self.blur = 0.0  # rounding of the last bound and of the value it was compared with
        self._averages = average and problem.facts.conjugate is not None  # else no bare slope can be verified
        self._last_cost, self._last_seen, self._last_estimate = 0.0, -math.inf, math.inf

    @property
    def bound(self) -> float:
        return -math.inf if self.found is None else self.found.value

    @property
    def kind(self) -> str:
        return "none" if self.found is None else self.found.kind

    def follow(self, point: Point, t: int) -> None:
        """A running average of the images, weights growing like t⁴: its slope is a dual point that does not zigzag.

        Measured beside the last slope, the best of recent ones and Anderson extrapolation: see benchmarks/duals.py.
        """
        image = self.problem.lifted.seen(point.image)
        if not self._averages or not self.problem.facts.images.plain(image):
            return
        if self.average is None:
            self.average = image
            return
        share = 5.0 / (t + 5.0)
        self.average = self.problem.objective.combine(1.0 - share, self.average, share, image)

    def due(self, estimate: float, wanted: float, products: float) -> bool:
        """When the estimate (if there is one) says it will be enough, and never for more than a quarter of the work."""
        waited = products - self._last_seen
        if math.isnan(estimate) or self._ahead(estimate) <= wanted:
            soon = waited >= 3.0 * self._last_cost
        elif estimate <= 4.0 * wanted:  # scaled and averaged dual points often show less than the estimate knows
            soon = waited >= 10.0 * self._last_cost
        else:  # an estimate is that of the point before: a long step may have left it far behind
            soon = estimate <= 100.0 * wanted and waited >= 20.0 * max(self._last_cost, _GUESS)
        self._last_seen = products if soon else self._last_seen
        return soon

    def _ahead(self, estimate: float) -> float:
        """What the estimate may be by now: it is that of the point before. On a device, where a step is long beside a
        certification, it is supposed to have fallen as it did the last time.
        """
        before, self._last_estimate = self._last_estimate, estimate
        if not on_device(self.problem.place) or not 0.0 < before < math.inf:
            return estimate
        return estimate * min(estimate / before, 1.0)

    def certify(self, own: Candidate, most: float, wanted: float = math.nan) -> float:
        """Look for a better lower bound from this candidate or the average; returns the products it took."""
        self.count += 1
        failure = self.failure / (self.count * (self.count + 1))
        candidates = [own]
        if self.average is not None and self.average is not self.problem.lifted.seen(own.image):
            candidates.append(Candidate.at(self.problem, self.average))
        rng = stream(self.seed, data_fingerprint(self.problem), slope_mark(self.problem, own.slope))
        found = lower_bound(self.problem, candidates, own.value, failure=failure, rng=rng, products=most, wanted=wanted)
        self.products += found.products
        self._last_cost = found.effort or found.products
        self._last_seen += found.products
        self.blur = found.blur + self._rounding(own)
        if found.value > self.bound:
            self.found = lean(self.problem, found)
        self.confront(own)
        return found.products

    def floor(self, point: Point) -> float:
        """What rounding makes of the gap at a point: in its value, and in the best bound."""
        return self.rounding(point) + (0.0 if self.found is None else self.found.blur)

    def rounding(self, point: Point) -> float:
        """Of the value of a point."""
        return self._rounding(Candidate.of(point))

    def _rounding(self, own: Candidate) -> float:
        size, terms = extent(self.problem, own)
        charged = 8 * EPS * self.problem.lifted.allowance  # λT·(1 − slack), with a slack near one
        return of_value(self.problem.facts, own.value, own.slope, size, terms) + charged

    def confront(self, own: Candidate) -> bool:
        """Whether the bound lies above a value that was seen; it is then withdrawn, and nothing counts as certified."""
        if self.bound > own.value and self._contradicts(own):
            if isinstance(own.of_what, Atoms):  # an image that was carried along has drifted: measured afresh?
                own = Candidate.of(self.problem.point(own.of_what))
            if self._contradicts(own):
                self.contradicted, self.found = True, None
        return self.contradicted

    def _contradicts(self, own: Candidate) -> bool:
        return contradicts(self.problem, self.bound, own.value, self._rounding(own))

    def settle(self, judged: Judged, most: float, wanted: float) -> float:
        """Where X cannot show the bound nearly as well as it was found, look for one from its slope; returns products.

        It replaces the one there is if that could not be kept as evidence, or is hardly better.
        """
        before = self.found
        if before is None:
            return 0.0
        gap = judged.value - before.value
        limit = wanted if gap <= wanted else (1 + _NEARLY) * gap
        if nearby(self.problem, before, judged.candidate, judged.value) is not None:
            shown = self._shown(judged, wanted)
            if shown is not None and judged.value - shown[0].value <= limit:
                return 0.0
        return self.conclude(judged, most, wanted if wanted > -math.inf else gap, limit)

    def conclude(self, judged: Judged, most: float, wanted: float = math.nan, enough: float = -math.inf) -> float:
        """Look for a bound from the slope of X, and return the products it took.

        The bound there was stays only if it is better, can be shown, and the gap of the new one is not ``enough``.
        """
        before = self.found
        known = None if before is None else self._shown(judged, wanted)
        self.found = None
        spent = self.certify(judged.candidate, most, wanted)
        if self.contradicted or before is None or known is None:
            return spent
        if known[0].value > self.bound and not judged.value - self.bound <= enough:
            self.found = before
            self.confront(judged.candidate)
        return spent

    def _shown(self, judged: Judged, wanted: float) -> tuple[LowerBound, Evidence | None] | None:
        """The best bound as it can be shown to others: by the slope of X alone, or with evidence. No product is spent.

        The slope of X itself is where the bound should come from: then X proves it alone. If an earlier dual point
        shows clearly more, or the gap that was wanted where X does not, it is kept as evidence.
        """
        found = self.found
        if found is None:
            return None
        if found.candidate.slope is judged.candidate.slope:
            return found, None
        gap = judged.value - found.value
        own = nearby(self.problem, found, judged.candidate, judged.value)
        enough = own is not None and judged.value - own.value <= max((1 + _NEARLY) * gap, wanted)
        if own is not None and enough and not judged.value - own.value > wanted >= gap:
            return own, None
        held = kept(self.problem, found, judged.value)
        if own is not None and (held is None or own.value >= held[0].value):
            return own, None
        return held

    def certificate(self, judged: Judged, wanted: float = -math.inf) -> Certificate:
        """Of the matrix that is returned. A bound that could not be shown to others is not claimed."""
        found, evidence = self._shown(judged, wanted) or (None, None)
        return Certificate(
            kind="none" if found is None else found.kind,
            failure=0.0 if found is not None and found.kind == "proven" else self.failure,
            value=judged.value,
            lower_bound=-math.inf if found is None else found.value,
            feasibility=judged.outside,
            dual="slope" if evidence is None else evidence.mark,
            data=data_fingerprint(self.problem),
            factors=judged.mark,
            rounding=judged.rounding,
            evidence=evidence,
        )

    # ------------------------------------------------------------------------------------------------ saved and back

    def state(self) -> dict[str, Any]:
        """Flat, for saving."""
        flat: dict[str, Any] = {
            "lower_bound": self.bound,
            "kind": self.kind,
            "failure": self.failure,
            "certified": self.count,
            "certifying": self.products,
            "last_cost": self._last_cost,
            "last_seen": self._last_seen,
            "last_estimate": self._last_estimate,
            "blur": self.blur,
        }
        if self.found is not None:
            flat |= {"top": self.found.top, "spread": self.found.spread, "lost": self.found.blur}
            held = kept(self.problem, self.found, self.found.candidate.value)
            if held is not None:
                flat |= {f"dual.{held[1].kind}.{name}": array for name, array in held[1].arrays.items()}
        if self.average is not None:
            flat["average"] = self.problem.facts.images.pack(self.average)
        return flat

    def restore(self, state: dict[str, Any], like: Candidate) -> None:
        """Go on where a run was. Its bound is not believed: it is derived again from its dual point, or dropped."""
        self.count, self.products = max(0, int(state["certified"])), float(state["certifying"])
        self._last_cost, self._last_seen = float(state["last_cost"]), float(state["last_seen"])
        self._last_estimate = float(state.get("last_estimate", math.inf))
        self.blur = max(0.0, float(state["blur"]))
        average = state.get("average")
        images, image = self.problem.facts.images, self.problem.lifted.seen(like.image)
        if self._averages and is_array(average) and images.plain(image):
            fits = same_kind(average, images.pack(image)) and all_finite(average)
            self.average = images.unpack(average) if fits else None
        failure = float(state["failure"])
        if state["kind"] in ("proven", "probable") and 0.0 < failure < 1.0 and self.problem.facts.parts is not None:
            self._rederive(state, like, failure)

    def _rederive(self, state: dict[str, Any], like: Candidate, failure: float) -> None:
        """Prove the stored bound again, with the system's random numbers; a bound that cannot be shown is dropped.

        The number itself is kept, so that a run that is continued is the run that was not interrupted.
        """
        names = [name for name in state if name.startswith("dual.")]
        kinds = {name.split(".")[1] for name in names}
        if len(kinds) != 1:
            return
        evidence = Evidence(kinds.pop(), {name.split(".", 2)[2]: state[name] for name in names})
        candidate = from_evidence(self.problem, evidence, like)
        if candidate is None:
            return
        claimed, kind = float(state["lower_bound"]), str(state["kind"])
        ours = shown(self.problem, candidate, claimed, kind, failure)
        if ours.value >= claimed:
            self.failure = max(self.failure, failure)  # what the earlier bound was worth
            top, spread = max(ours.top, float(state["top"])), max(ours.spread, float(state["spread"]))
            lost = max(0.0, float(state["lost"]))
            self.found = LowerBound(claimed, kind, failure, 0.0, candidate, top, spread, lost)
