"""The objective as the methods see it: a function on the unit spectrahedron, whatever the user's own set is."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

from ..losses.curves import Curve
from ..matrices.factors import Factors
from ..matrices.given import as_operator
from ..matrices.lifted import Lifted
from ..objectives import Objective
from ..objectives.facts import ObjectiveFacts, facts_of
from ..places.numpy import Array
from ..places.protocol import Block, Place


@dataclass(frozen=True, eq=False)
class LiftedObjective:
    """What the methods see: f̂(X) = f(scale · X[left, right]) on the unit spectrahedron of dimension d."""

    objective: Objective
    left: slice
    right: slice
    dimension: int
    scale: float
    free: bool  # some directions upstairs change nothing downstairs, so strong convexity is lost

    @cached_property
    def facts(self) -> ObjectiveFacts:
        """What the objective knows of itself."""
        return facts_of(self.objective)

    @property
    def place(self) -> Place:
        """Where the objective computes."""
        return self.facts.place

    @property
    def dtype(self) -> str:
        return self.objective.dtype

    @property
    def shape(self) -> tuple[int, int]:
        return (self.dimension, self.dimension)

    @property
    def corner(self) -> LiftedObjective:
        return self

    def measure(self, U: Block, s: Array, V: Block) -> Any:
        left = self.place.rows(U, self.left)
        one = V is U and self.left == self.right  # one array: some measure it once
        right = left if one else self.place.rows(V, self.right)
        return self.objective.measure(left, self.scale * s, right)

    def combine(self, a: float, z: Any, b: float, w: Any) -> Any:
        return self.objective.combine(a, z, b, w)

    def evaluate(self, z: Any) -> tuple[float, Any]:
        return self.objective.evaluate(z)

    def along(self, z: Any, dz: Any) -> Curve:
        return self.objective.along(z, dz)

    def pair(self, slope: Any, z: Any) -> float:
        return self.objective.pair(slope, z)

    def gradient(self, slope: Any, sign: float = 1.0) -> Lifted:
        inside = as_operator(self.objective.gradient(slope))
        return Lifted(inside, self.left, self.right, self.dimension, sign * self.scale, self.place)

    # What certificates ask for. Here all of it is plain; a penalty (penalties.py) charges something beside the loss.

    def seen(self, image: Any) -> Any:
        """The objective's own image inside one of ours."""
        return image

    def whole(self, image: Any) -> Any:
        """An image of ours around one of the objective's, charged nothing."""
        return image

    def charge(self, image: Any) -> float:
        """What the value has beside the loss."""
        return 0.0

    def price(self, X: Factors) -> float:
        """The same for what the user gets."""
        return 0.0

    def pull(self, slope: Any) -> Lifted:
        """−𝒜*(slope): a bound on its largest eigenvalue, ``top``, is all that ``support`` has to know."""
        return self.gradient(slope, sign=-1.0)

    penalty: ClassVar[bool] = False  # a price in place of a set: c·top may reach ``allowance`` at no cost
    allowance: ClassVar[float] = 0.0

    def support(self, c: float, top: float) -> float:
        """The largest ⟨−c·𝒜*(slope), X⟩ less the charge of X."""
        return c * top

    @property
    def smoothness(self) -> float | None:
        """β̂ with respect to the Frobenius norm upstairs, exact where the objective's own is."""
        own, square = self.facts.smoothness_among(self.left == self.right), self.scale**2
        if self.left == self.right or own is None:
            return None if own is None else square * own
        # ‖Z‖² = scale²‖X[left, right]‖² ≤ scale²/2 ‖X‖²: the block appears twice in a Hermitian X.
        return 0.5 * square * own

    @property
    def strong_convexity(self) -> float:
        if self.free:
            return 0.0
        own = self.facts.strong_convexity_among(hermitian=True)
        return 0.0 if own is None else self.scale**2 * own
