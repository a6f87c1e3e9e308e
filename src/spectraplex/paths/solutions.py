"""Path: the solutions along the radius (or λ), and a certified answer at any size between them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from operator import attrgetter
from typing import Any, NamedTuple, overload

import numpy as np

from ..certificates.certificate import Certificate, Evidence
from ..certificates.judge import certify
from ..certificates.judged import look
from ..checks import numbers
from ..fingerprint import data_fingerprint
from ..matrices.factors import Factors, Rectangular
from ..notebook import columns, curves
from ..numerals import percent, shown
from ..places.numpy import Array
from ..problem import Problem
from ..solve import solve
from ..stop import Stop
from .between import Between
from .family import Family, remeasured
from .point import PathPoint
from .proof import Node, Promise

_COLUMNS = {name: attrgetter(name) for name in ("radius", "lam", "value", "lower_bound", "gap", "rank", "seconds")}


class _Offer(NamedTuple):
    """A feasible point between two neighbours: its value, which kind it is (left, right, blend), the size it is of."""

    value: float
    kind: int
    size: float


class Path(Sequence[PathPoint]):
    """The points of a path, smallest radius first (largest λ first). ``ended`` says why it is shorter than asked."""

    def __init__(
        self,
        points: Sequence[PathPoint],
        family: Family,
        promise: Promise | None,
        nodes: tuple[Node, ...],
        ended: str,
        failure: float,
    ) -> None:
        self.points, self.family, self.promise = tuple(points), family, promise
        self.ended, self.failure = ended, failure
        self._nodes = nodes
        self._held: tuple[int, Between] | None = None  # the neighbours that ``at`` looked at last

    @overload
    def __getitem__(self, index: int) -> PathPoint: ...
    @overload
    def __getitem__(self, index: slice) -> tuple[PathPoint, ...]: ...
    def __getitem__(self, index: int | slice) -> PathPoint | tuple[PathPoint, ...]:
        return self.points[index]

    def __len__(self) -> int:
        return len(self.points)

    def __iter__(self) -> Iterator[PathPoint]:
        return iter(self.points)

    def __repr__(self) -> str:
        if not self.points:
            return "Path(no point)"
        ends = f"{self.family.name} {self.points[0].size:.6g} to {self.points[-1].size:.6g}"
        promised = f", gap at most {self.promise.relative:g} everywhere" if self.promise else ""
        return f"Path({len(self)} points, {ends}{promised})"

    def as_dict(self) -> dict[str, Array]:
        """One array per column, ready for a data frame or a plot."""
        return {name: np.array([read(point) for point in self.points]) for name, read in _COLUMNS.items()}

    def table(self) -> str:
        """The columns as plain text, the gap in per cent of the value."""
        lines = [f"{'radius':>11} {'λ':>11} {'value':>13} {'lower bound':>13} {'gap %':>8} {'rank':>5} {'seconds':>8}"]
        for point in self.points:
            share = 100 * point.gap / abs(point.value) if point.value else np.inf
            lines.append(
                f"{point.radius:11.5g} {point.lam:11.5g} {point.value:13.7g} {point.lower_bound:13.7g} "
                f"{share:8.2g} {point.rank:5d} {point.seconds:8.2f}"
            )
        return "\n".join(lines + ([self.ended] if self.ended else []))

    def _repr_html_(self) -> str:
        """What a notebook shows: the table, and value and lower bound against the radius (or λ)."""
        heads = ("radius", "λ", "value", "lower bound", "gap", "rank", "seconds")
        lines = []
        for point in self.points:
            share = percent(point.gap / abs(point.value)) if point.value else ""
            sizes, values = (point.radius, point.lam), (point.value, point.lower_bound)
            lines.append([*(shown(size, 5) for size in sizes), *(shown(value, 6) for value in values)])
            lines[-1] += [share, str(point.rank), f"{point.seconds:.2f}"]
        kept = sorted(self.points, key=lambda point: point.size)
        across = np.array([point.size for point in kept])
        above, below = np.array([point.value for point in kept]), np.array([point.lower_bound for point in kept])
        drawn = curves((self.family.name, "objective"), across, above, below)
        return columns(repr(self), heads, lines, drawn)

    def pick(self, score: Callable[[Factors], float], best: str = "min") -> PathPoint:
        """The point whose X has the least (``best="max"``: the greatest) score, such as an error on held-out data."""
        if best not in ("min", "max"):
            raise ValueError(f"pick: best must be 'min' or 'max', got {best!r}.")
        if not self.points:
            raise ValueError("pick: the path has no point.")
        scores = np.array([float(score(point.X)) for point in self.points])
        if np.isnan(scores).any():
            place = int(np.argmax(np.isnan(scores)))
            raise ValueError(f"pick: the score at {self.family.name} {self.points[place].size:.6g} is not a number.")
        return self.points[int(np.argmin(scores) if best == "min" else np.argmax(scores))]

    def at(self, size: float) -> tuple[Factors, Certificate]:
        """An answer at any radius (λ) of the range: its factors and a certificate that is true there.

        The factors are those of a neighbour, scaled, or a blend of both; the fewest atoms that are good enough.
        """
        a, b = self._neighbours(size)
        if a == b:
            return self.points[a].X, self.points[a].certificate
        lower, evidence = self._proof(a, b, size)
        X, allowed = self._simplest(a, b, size, lower)
        if evidence is None and lower > -np.inf:
            return self._shown(self.family.at(size), X, allowed)
        return X, self._certified(size, X, lower, evidence)

    def _simplest(self, a: int, b: int, size: float, lower: float) -> tuple[Factors, float]:
        """Of the feasible points between two neighbours, the one of fewest atoms whose gap is allowed; and that gap.

        Allowed is what the path promised, or, where it promised nothing, the gap of the best of these points.
        """
        between, offers = self._between(a, b), self._offers(a, b, size)
        best = min(offer.value for offer in offers)
        promised = self.promise.allowed(best) if self.promise else 0.0
        allowed = max(promised, best - lower)
        left, right = (solution.X.triple()[1].size for solution in (between.a, between.b))
        atoms = (left, right, left + right)  # of each kind of point
        good = [offer for offer in offers if offer.value - lower <= allowed]
        chosen = min(good, key=lambda offer: (atoms[offer.kind], offer))
        X = between.factors(chosen.size, chosen.kind)
        return (Rectangular(*X.svd(), X.place) if isinstance(X, Rectangular) and X.s.size else X), allowed

    def _certified(self, size: float, X: Factors, lower: float, evidence: Evidence | None) -> Certificate:
        """The certificate of X at a size, with a lower bound that was proven there."""
        problem = self.family.at(size)
        judged = look(problem, X)
        kinds = {point.certificate.kind for point in self.points}
        kind = "none" if lower == -np.inf else "proven" if kinds == {"proven"} else "probable"
        return Certificate(
            kind=kind,
            failure=0.0 if kind == "proven" else self.failure,
            value=judged.value,
            lower_bound=lower,
            feasibility=judged.outside,
            dual="slope" if evidence is None else evidence.mark,
            data=data_fingerprint(problem),
            factors=judged.mark,
            rounding=judged.rounding,
            evidence=evidence,
        )

    def _shown(self, problem: Problem, X: Factors, allowed: float) -> tuple[Factors, Certificate]:
        """Without a conjugate the slope of a neighbour, feasible or not, cannot be shown to others: that of X can."""
        certificate = certify(problem, X, failure=self.failure)
        if certificate.gap <= allowed:
            return X, certificate
        result = solve(problem, stop=Stop(gap=allowed, max_steps=1000), start=X, failure=self.failure)
        return result.X, result.certificate

    def curve(self, sizes: Any) -> tuple[Array, Array]:
        """Values and lower bounds at many sizes of the range: what ``at`` would say, without making the factors."""
        found = []
        for size in numbers("curve", "sizes", sizes, ndim=1):
            a, b = self._neighbours(size)
            if a == b:
                found.append((self.points[a].value, self.points[a].lower_bound))
            else:
                best = min(offer.value for offer in self._offers(a, b, size))
                found.append((best, self._proof(a, b, size)[0]))
        values, lower = np.array(found).reshape(-1, 2).T
        return values, lower

    def _proof(self, a: int, b: int, size: float) -> tuple[float, Evidence | None]:
        """The best bound between two neighbours, and the evidence for it; the proof of the interval is asked first."""
        around = [node.size for pair in self._around(size)[:1] for node in pair]
        return self._between(a, b).proof(size, around)

    def _offers(self, a: int, b: int, size: float) -> list[_Offer]:
        """Feasible points at a size: each neighbour, scaled, and their blend.

        With a penalty the blends that proved the interval are there, too: each is worth something at every λ.
        """
        between = self._between(a, b)
        offers = [_Offer(value, kind, size) for kind, value in enumerate(between.primal(size))]
        if self.family.penalized:
            for place in {node.size for pair in self._around(size) for node in pair}:
                value, norm = between.primal(place)[2], between.norms(place)[2]
                offers.append(_Offer(value + (size - place) * norm, 2, place))
        return offers

    def _around(self, size: float) -> list[tuple[Node, Node]]:
        """The piece of the proof that a size lies in."""
        return [(p, q) for p, q in pairwise(self._nodes) if min(p.size, q.size) < size < max(p.size, q.size)]

    def _neighbours(self, size: Any) -> tuple[int, int]:
        if not self.points:
            raise ValueError("at: the path has no point.")
        sizes = np.array([point.size for point in self.points])
        low, high = float(sizes.min()), float(sizes.max())
        try:
            size = float(size)
        except (TypeError, ValueError):
            raise TypeError(f"at: the {self.family.name} must be a number, got {size!r}.") from None
        if not low <= size <= high:
            raise ValueError(
                f"at: {self.family.name} {size:g} lies outside the path, which is from {low:g} to {high:g}."
            )
        place = np.flatnonzero(sizes == size)
        if place.size:
            return int(place[0]), int(place[0])
        order = sizes if not self.family.penalized else -sizes
        after = int(np.searchsorted(order, -size if self.family.penalized else size))
        return after - 1, after

    def _between(self, a: int, b: int) -> Between:
        if self._held is None or self._held[0] != a:
            ends = []
            for point in (self.points[a], self.points[b]):
                ends.append(remeasured(self.family, point.size, point.X, point.sigma, point.spread, kept=point.slope))
            self._held = (a, Between(*ends))
        return self._held[1]
