"""The best point of a run, and what it is as the user gets it."""

from __future__ import annotations

from .certificates.certifier import Certifier
from .certificates.dual import Candidate
from .certificates.judged import Judged, look
from .fingerprint import factors_fingerprint
from .losses.curves import NotFinite
from .problem import Point, Problem


class Best:
    """The point with the least value so far, looked at afresh whenever somebody asks what it is worth."""

    def __init__(self, problem: Problem, certifier: Certifier) -> None:
        self.problem, self.certifier = problem, certifier
        self.found: Point | None = None
        self.seen: tuple[Point, Judged] | None = None  # the best point, as the user gets it
        self.earlier: tuple[Point, Judged] | None = None  # the same of the run that goes on

    @property
    def point(self) -> Point:
        assert self.found is not None
        return self.found

    def take(self, point: Point) -> None:
        if self.found is None or point.value < self.found.value:
            self.found = point

    def goes_on(self) -> None:
        """The best point is that of an earlier run: what is charged upstairs may fall where that of X does not."""
        self.earlier = self.point, self._look_at(self.point)

    def look(self) -> Judged:
        """The best point as the user gets it, measured afresh."""
        if self.seen is None or self.seen[0] is not self.found:
            self.seen = (self.point, self._look_at(self.point))
            if self.earlier is not None and self.earlier[1].value < self.seen[1].value:
                self.seen, self.found = self.earlier, self.earlier[0]
        return self.seen[1]

    def _look_at(self, point: Point) -> Judged:
        X = self.problem.domain.lower(point.atoms)
        try:
            return look(self.problem, X, "solve")
        except NotFinite:  # the function is no longer what it was: what was seen is all there is
            rounding = self.certifier.rounding(point)
            return Judged(point.value, rounding, 0.0, factors_fingerprint(X), X, Candidate.of(point))
