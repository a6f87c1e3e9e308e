"""Checkpoints of a fit on a cluster: every solve is written when it is done, and its factors stay on the workers.

Another cluster may go on. Its sums round otherwise, and so do radii that follow from them. So a solve of nearly the
same radius is taken as it is where it only ranked radii, and as a start where it is to be certified.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

from ..fingerprint import data_fingerprint
from ..matrices.factors import Rectangular
from ..problem import Problem
from ..result import Result, load
from ..stop import Stop
from .journal import Journal, begin
from .talk import say

_NEAR = 1e-3  # two radii that differ by less are meant to be one: those of a walk are further apart
_RADIUS = "of_radius"


class FarJournal(Journal):
    """The same; blocks come through the client some megabytes at a time."""

    radius = 0.0  # of the solve under way

    def solve(self, problem: Problem, *, stop: Stop, observers: Any = (), start: Any = None, **options: Any) -> Result:
        """From where the last solve was, if under way; one that ranks radii takes as many steps as the others."""
        certify = options.get("certify", True)
        names = (f"solve-{self.count:03d}", self._partial(self.count)) if certify else ()
        kept = next((found for name in names if (found := self._near(self.folder / name, problem)) is not None), None)
        if kept is not None:
            start = self.placed(kept, problem).X
        return super().solve(problem, stop=stop, observers=observers, start=start, **options)

    def kept(self, result: Result, problem: Problem) -> Result:
        """Written at once: the factors of every radius would take the workers' memory."""
        done = replace(result, state={_RADIUS: float(problem.domain.size)})
        try:
            if self.every is not None and not self.asked:  # what Ctrl-C has cut short is not done
                begin(self.folder, self.document)
                self._save(done, f"solve-{len(self.finished):03d}")
        except OSError as error:  # a run of hours must not end because of this
            say(f"The checkpoint could not be written ({error.strerror or error}); the run goes on without.")
        self.finished.append(replace(done, X=_nothing(done)))
        self.written = len(self.finished)
        return done

    def placed(self, result: Result, problem: Problem) -> Result:
        X: Any = result.X
        place, rows = problem.place, problem.objective.shape[0]
        total = float(X.s.sum())
        s = X.s * min(1.0, float(problem.domain.size) / total) if total > 0 else X.s
        return replace(result, X=Rectangular(place.from_host(X.U, slice(0, rows)), s, X.V, place))

    def _save(self, result: Result, name: str) -> None:
        radius = {} if _RADIUS in result.state else {_RADIUS: self.radius}
        super()._save(replace(result, state=result.state | radius), name)

    def _load(self, name: str, problem: Problem) -> Result | None:
        self.radius = float(problem.domain.size)
        found = self._near(self.folder / name, problem)
        if found is None or found.certificate.data == data_fingerprint(problem):
            return found
        ranked = found.certificate.kind == "none" and name.startswith("solve-")
        return found if ranked else None

    def _near(self, folder: Path, problem: Problem) -> Result | None:
        """What is there, if it is of nearly this radius; that the data are the same was looked at before."""
        if not folder.is_dir():
            return None
        found, radius = load(folder), float(problem.domain.size)
        other = float(found.state.get(_RADIUS, radius))
        same = found.X.shape == problem.objective.shape
        return found if same and abs(other - radius) <= _NEAR * radius else None


def _nothing(result: Result) -> Rectangular:
    """Factors of no rank: only that there was a solve is remembered."""
    X: Any = result.X
    return Rectangular(X.V[:0, :0], X.s[:0], X.V[:, :0])
