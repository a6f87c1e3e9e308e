"""Problem, Point, Step: what the loop hands to a method and gets back."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Protocol, cast

import numpy as np

from .domains.protocol import Domain, Upstairs
from .fingerprint import of_problem
from .losses.curves import Curve, NotFinite
from .matrices.atoms import Atoms
from .matrices.lifted import Lifted
from .objectives import Objective
from .objectives.devices import on_device
from .objectives.facts import ObjectiveFacts, facts_of
from .places.protocol import Block, Place

_ONE = np.ones(1)
_ONE.flags.writeable = False
_NEEDED = ("measure", "combine", "evaluate", "along", "pair", "gradient")
_OF_A_DOMAIN = ("shape", "hermitian", "jumps", "dimension", "size", "lam", "known", "lift", "start", "lower", "raised")


@dataclass(frozen=True, eq=False)
class Point:
    """An iterate on the unit spectrahedron, its image z = 𝒜(X), and what the objective says there."""

    atoms: Atoms
    image: Any
    value: float
    slope: Any = field(repr=False)
    fresh: bool = False  # the domain's own start, of no value to anybody: a method may jump away from it


@dataclass(frozen=True)
class Step:
    """What a method did: kind ("toward", "away", "move", …), step size, products spent, estimated gap before it."""

    kind: str
    size: float
    products: float
    estimated_gap: float


class Method(Protocol):
    """A method is ``init`` and ``step``; its ``Memory`` is a flat dataclass of arrays, numbers and strings.

    Optional: ``require(problem)`` refuses, before any work, what the method cannot do; ``zigzags = False`` says that
    the average of its points is no better dual point than the last one.
    """

    Memory: ClassVar[type]

    def init(self, problem: Problem, point: Point, rng: np.random.Generator) -> tuple[Point, Any, Step]: ...
    def step(
        self, problem: Problem, point: Point, memory: Any, rng: np.random.Generator
    ) -> tuple[Point, Any, Step]: ...


@dataclass(frozen=True, eq=False)
class Problem:
    """Minimise an objective over a domain; everything is checked here, once, before any work.

    Examples
    --------
    >>> import numpy as np, spectraplex as sx
    >>> sx.Problem(sx.Distance(np.diag([1.0, 0.5])), sx.Spectrahedron(2))
    Problem(minimise Distance(2×2, dense, float64) over Spectrahedron(d=2, trace=1.0))
    """

    objective: Objective
    domain: Domain

    def __post_init__(self) -> None:
        require_objective("Problem", self.objective)
        device = self.facts.device
        if device is not None:  # tensors are computed with where they are, and the answer is tensors
            object.__setattr__(self, "objective", on_device("Problem", self.objective, device, tensors=True))
            vars(self).pop("facts")  # they were those of the objective before
        missing = [name for name in _OF_A_DOMAIN if not hasattr(self.domain, name)]
        if isinstance(self.domain, type) or missing:
            lacks = f" (it has no {', '.join(missing)})" if len(missing) < 5 and missing else ""
            raise TypeError(
                f"Problem: {_name(self.domain)} is no domain{lacks}; use Spectrahedron, TraceBall or NuclearBall with "
                "sizes, or see docs/your-own.md for one of your own."
            )
        if tuple(self.objective.shape) != tuple(self.domain.shape):
            raise ValueError(
                f"Problem: the objective is about {_times(self.objective.shape)} matrices, the domain "
                f"{self.domain} about {_times(self.domain.shape)} ones."
            )
        if self.domain.hermitian and self.facts.require_hermitian is not None:
            self.facts.require_hermitian()
        if self.facts.require_signs is not None:
            self.facts.require_signs(self.domain.hermitian)

    @cached_property
    def facts(self) -> ObjectiveFacts:
        """What the objective knows of itself; None in it where a method has to do without."""
        return facts_of(self.objective)

    @cached_property
    def lifted(self) -> Upstairs:
        """The objective as the methods see it: on the unit spectrahedron."""
        return self.domain.lift(self.objective)

    @cached_property
    def fingerprint(self) -> str:
        """Of everything the problem depends on; see fingerprint.py. Data must not change once a problem is made."""
        return of_problem(self.facts, self.domain)

    @property
    def dtype(self) -> str:
        return str(self.objective.dtype)

    @property
    def place(self) -> Place:
        """Where everything tall lives."""
        return self.lifted.place

    def to(self, device: Any) -> Problem:
        """The same problem with everything tall on a device: "cuda", "cuda:1", or "cpu" for Torch on this processor.

        Needs the extra ``torch``. The answer comes back as the data came: NumPy in, NumPy out.
        """
        new = object.__new__(type(self))  # everything was checked when this one was made
        object.__setattr__(new, "objective", on_device("Problem.to", self.objective, device))
        object.__setattr__(new, "domain", self.domain)
        return new

    def point(self, atoms: Atoms, image: Any = None, fresh: bool = False) -> Point:
        """Evaluate at X = Σ aᵢxᵢxᵢᴴ, measuring the image unless it was carried along."""
        if image is None:
            vectors = atoms.vectors
            image = self.lifted.measure(vectors, atoms.weights, vectors)
        value, slope = self.lifted.evaluate(image)
        value = float(value)
        if not math.isfinite(value):
            raise NotFinite(f"the objective is {value}", value)
        return Point(atoms, image, value, slope, fresh)

    def descent(self, point: Point) -> Lifted:
        """−∇f(X) upstairs, as an operator; its leading eigenvector is where every method looks."""
        return cast(Lifted, self.lifted.gradient(point.slope, sign=-1.0))  # a penalty's is Shifted, used the same way

    def image_of(self, v: Block) -> Any:
        """The image of the rank-one vvᴴ."""
        column = self.place.from_host(v) if isinstance(v, np.ndarray) else v
        return self.lifted.measure(column, _ONE, column)

    def curve(self, point: Point, dz: Any) -> Curve:
        return self.lifted.along(point.image, dz)

    def ahead(self, point: Point, atoms: Atoms, dz: Any, size: float) -> Point:
        """The point whose atoms took a step of ``size`` along the direction with image dz."""
        return self.point(atoms, self.lifted.combine(1.0, point.image, size, dz))

    def __repr__(self) -> str:
        return f"Problem(minimise {self.objective!r} over {self.domain!r})"


def require_objective(owner: str, objective: Any) -> None:
    """Refuse what is no objective, naming what it lacks."""
    missing = [name for name in (*_NEEDED, "shape", "dtype") if not hasattr(objective, name)]
    if missing:
        raise TypeError(
            f"{owner}: {type(objective).__name__} is no objective, it lacks {', '.join(missing)}; "
            "see spectraplex.Smooth for your own function, or the Objective protocol."
        )


def _name(thing: Any) -> str:
    return f"the class {thing.__name__}" if isinstance(thing, type) else type(thing).__name__


def _times(shape: Any) -> str:
    return "×".join(str(size) for size in shape)
