"""Operators as users give them, made whole at the door: inside, every operator has all that its protocol says."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from ..places.here import HERE
from ..places.numpy import Array
from ..places.protocol import Place
from .lifted import Hermitian, Lifted, Shifted
from .operators import Operator


def as_operator(given: Any) -> Operator:
    """A user's gradient as an operator: one that says nothing of its rounding is taken to have none."""
    if not hasattr(given, "matmat"):
        raise TypeError(f"the objective: {no_operator('gradient (of a measurement: adjoint)', given)}")
    return given if hasattr(given, "noise") else Exact(given)


def no_operator(name: str, given: Any) -> str:
    """What is said of something that does not multiply."""
    return (
        f"{name} must return something that multiplies, with matmat and rmatmat, such as Dense(array) of "
        f"spectraplex.matrices.operators; got {type(given).__name__}."
    )


@dataclass(frozen=True, eq=False)
class Exact:
    """A user's operator that has no ``noise`` of its own."""

    inside: Any

    @property
    def shape(self) -> tuple[int, int]:
        return cast("tuple[int, int]", self.inside.shape)

    @property
    def dtype(self) -> str:
        return cast(str, self.inside.dtype)

    @property
    def hermitian(self) -> bool:
        return bool(self.inside.hermitian)

    def noise(self) -> float:
        return 0.0

    def matmat(self, V: Array) -> Array:
        return cast(Array, self.inside.matmat(V))

    def rmatmat(self, U: Array) -> Array:
        return cast(Array, self.inside.rmatmat(U))

    def scores(self, P: Array, Q: Array, count: int) -> Array:
        return cast(Array, self.inside.scores(P, Q, count))

    def dense(self) -> Array:
        return cast(Array, self.inside.dense())


def as_hermitian(given: Any) -> Hermitian:
    """Anything Hermitian that has ``shape``, ``dtype`` and ``matmat``, as an operator with all of the above."""
    if isinstance(given, Shifted):
        inside = as_hermitian(given.inside)
        return given if inside is given.inside else Shifted(cast(Lifted, inside), given.X, given.strength)
    return given if isinstance(given, Lifted) else Given(given)


@dataclass(eq=False)
class Given:
    """A Hermitian operator known by its products alone; the matrix and the noise are asked for where it has them."""

    inside: Any
    products: float = 0.0
    place: Place = HERE

    @property
    def shape(self) -> tuple[int, int]:
        return cast("tuple[int, int]", self.inside.shape)

    @property
    def dtype(self) -> str:
        return str(np.dtype(self.inside.dtype).name)

    @property
    def at_hand(self) -> bool:
        return hasattr(self.inside, "dense")

    @property
    def sides(self) -> tuple[slice, ...]:
        return self.inside.sides if hasattr(self.inside, "sides") else (slice(0, self.shape[0]),)

    def apply(self, side: int, V: Array) -> Array:
        if len(self.sides) == 1:
            return self.matmat(V)
        self.products += 0.5 * V.shape[1]
        return cast(Array, self.inside.apply(side, V))

    def matmat(self, V: Array) -> Array:
        self.products += V.shape[1]
        return cast(Array, self.inside.matmat(V))

    def dense(self) -> Array:
        if not hasattr(self.inside, "dense"):
            return self.matmat(np.eye(self.shape[0], dtype=self.dtype))
        self.products += self.shape[0]
        return cast(Array, self.inside.dense())

    def noise(self) -> float:
        return float(self.inside.noise()) if hasattr(self.inside, "noise") else 0.0
