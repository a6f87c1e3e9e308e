"""What a domain is, and what the objective is once it is lifted to the unit spectrahedron."""

from __future__ import annotations

from typing import Any, Protocol, TypeGuard, runtime_checkable

import numpy as np

from ..losses.curves import Curve
from ..matrices.atoms import Atoms
from ..matrices.factors import Factors
from ..matrices.lifted import Lifted, Shifted
from ..objectives import Objective
from ..places.numpy import Array
from ..places.protocol import Block, Place


class Upstairs(Protocol):
    """f̂ on the unit spectrahedron of dimension d: what the methods see, whatever the user's own set is.

    An image upstairs is the objective's own, or that with what a penalty charges beside it.
    """

    @property
    def objective(self) -> Objective: ...
    @property
    def dimension(self) -> int: ...
    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def dtype(self) -> str: ...
    @property
    def corner(self) -> Corner: ...
    @property
    def place(self) -> Place: ...
    def measure(self, U: Block, s: Array, V: Block) -> Any: ...
    def combine(self, a: float, z: Any, b: float, w: Any) -> Any: ...
    def evaluate(self, z: Any) -> tuple[float, Any]: ...
    def along(self, z: Any, dz: Any) -> Curve: ...
    def pair(self, slope: Any, z: Any) -> float: ...
    def gradient(self, slope: Any, sign: float = 1.0) -> Lifted | Shifted: ...

    # For certificates.
    @property
    def penalty(self) -> bool:
        """A price in place of a set: c·top may reach ``allowance`` at no cost."""

    @property
    def allowance(self) -> float: ...
    def seen(self, image: Any) -> Any:
        """The objective's own image inside one of ours."""

    def whole(self, image: Any) -> Any:
        """An image of ours around one of the objective's, charged nothing."""

    def charge(self, image: Any) -> float:
        """What the value has beside the loss."""
        ...

    def price(self, X: Factors) -> float:
        """The same for what the user gets."""
        ...

    def pull(self, slope: Any) -> Lifted:
        """−𝒜*(slope): a bound on its largest eigenvalue, ``top``, is all that ``support`` has to know."""
        ...

    def support(self, c: float, top: float) -> float:
        """The largest ⟨−c·𝒜*(slope), X⟩ less the charge of X."""
        ...

    @property
    def smoothness(self) -> float | None: ...
    @property
    def strong_convexity(self) -> float: ...


class Corner(Protocol):
    """Where the matrix that the user sees lies upstairs: Z = scale · X[left, right]."""

    @property
    def left(self) -> slice: ...
    @property
    def right(self) -> slice: ...
    @property
    def scale(self) -> float: ...


@runtime_checkable
class Domain(Protocol):
    """A set of matrices, or a penalty in place of one, as a lift of the unit spectrahedron.

    ``size`` is the radius or trace; of a penalty, a bound on it. ``lam`` is what a penalty charges for one unit of the
    nuclear norm, zero on a set. ``jumps`` says that the start is of no worth: a method may leave it at once.
    """

    @property
    def shape(self) -> tuple[int, int]: ...
    @property
    def hermitian(self) -> bool: ...
    @property
    def jumps(self) -> bool: ...
    @property
    def dimension(self) -> int: ...
    @property
    def size(self) -> float: ...
    @property
    def lam(self) -> float: ...
    def known(self) -> Any:
        """What the problem depends on, for its fingerprint."""

    def lift(self, objective: Objective) -> Upstairs: ...
    def start(self, dtype: str, rng: np.random.Generator) -> Atoms:
        """Where a run begins by itself."""
        ...

    def lower(self, atoms: Atoms) -> Factors:
        """What the user gets."""
        ...

    def raised(self, factors: Factors) -> Atoms:
        """Atoms of what the user gives; what lies outside by more than rounding is refused."""
        ...


@runtime_checkable
class Projecting(Domain, Protocol):
    """A domain on which projected (proximal) steps can be done: for ``pgd``, ``apgd``, ``in-face`` and ``project``."""

    def shrink(self, values: Array, step: float = 1.0) -> Array:
        """What a projected (proximal) step does to eigenvalues or singular values."""
        ...

    def prox(self, matrix: Array, step: float) -> Factors:
        """A projected (proximal) step of a dense matrix."""
        ...


def projecting(domain: Domain) -> TypeGuard[Projecting]:
    """Whether a domain has projections: asked by name, which takes a hundredth of the time of ``isinstance``."""
    return hasattr(domain, "shrink") and hasattr(domain, "prox")
