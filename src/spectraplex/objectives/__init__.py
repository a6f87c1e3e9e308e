"""What is minimised. An objective is f(X) = ℓ(𝒜(X)): see ``Objective`` for what it has to know, ``Fit`` for most."""

from __future__ import annotations

from typing import Any, Protocol

from ..losses.curves import Curve
from ..matrices.operators import Operator
from ..places.numpy import Array
from ..places.protocol import Block
from .completion import Completion
from .distance import Distance
from .fit import Fit
from .sensing import Sensing
from .smooth import Smooth


class Objective(Protocol):
    """f(X) = ℓ(𝒜(X)). The image z = 𝒜(X) and the slope ∇ℓ(z) are opaque: only the objective looks inside.

    What else it may have is listed in ``facts.ObjectiveFacts``: ``conjugate(slope)`` for certificates, ``smoothness``,
    ``start(domain)``, ``parts()`` and others. All of it may be left out.
    """

    shape: tuple[int, int]
    dtype: str

    def measure(self, U: Block, s: Array, V: Block) -> Any:
        """The image of U diag(s) Vᴴ; linear in that matrix."""

    def combine(self, a: float, z: Any, b: float, w: Any) -> Any:
        """a·z + b·w."""

    def evaluate(self, z: Any) -> tuple[float, Any]:
        """ℓ(z) and its slope, in one pass."""
        ...

    def along(self, z: Any, dz: Any) -> Curve:
        """s ↦ ℓ(z + s·dz)."""
        ...

    def pair(self, slope: Any, z: Any) -> float:
        """⟨slope, z⟩, real."""
        ...

    def gradient(self, slope: Any) -> Operator:
        """𝒜*(slope), something that multiplies."""
        ...


__all__ = ["Completion", "Distance", "Fit", "Objective", "Sensing", "Smooth"]
