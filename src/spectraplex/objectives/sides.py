"""How the effects of rows, or of columns, are held back: by a ridge alone, or by what features say of them.

A row's effect is e = b + xᵀα: its own intercept, and a linear term in its features. Held back by ½ρ‖b‖² + ½ν‖α‖²,
minimised over how an effect is split, that is

    ½ eᵀK⁻¹e,   K = I/ρ + XXᵀ/ν,

a quadratic of the effects alone, whose conjugate ½ pᵀKp = ‖p‖²/2ρ + ‖Xᵀp‖²/2ν is a sum of squares. So features change
nothing but this quadratic: the best split of e has α = (νI/ρ + XᵀX)⁻¹Xᵀe, and K⁻¹e = ρb.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Protocol, cast

import numpy as np

from ..places.marks import entries_mark
from ..places.numpy import Array, contiguous


class Block(Protocol):
    """The curvature of one side by itself: the data's, which is diagonal, and that of what holds effects back."""

    @property
    def diagonal(self) -> Array:
        """That of the data, and the ridge."""

    def times(self, v: Array) -> Array: ...
    def solve(self, v: Array) -> Array: ...


class Side(Protocol):
    """What holds the effects of one side back; ``ridge`` is that of the intercepts."""

    @property
    def ridge(self) -> float: ...

    def pull(self, effects: Array) -> Array:
        """The gradient K⁻¹e."""

    def price(self, effects: Array) -> float:
        """½ eᵀK⁻¹e, never less but for rounding."""

    def dual(self, sums: Array) -> float:
        """pᵀKp."""

    def terms(self, sums: Array) -> float:
        """The same with all numbers positive: what rounding is a share of."""

    def block(self, bends: Array) -> Block:
        """With the curvature of the data added."""


@dataclass(frozen=True, eq=False)
class Ridge:
    """Intercepts and nothing else: K = I/ρ."""

    ridge: float

    def pull(self, effects: Array) -> Array:
        return self.ridge * effects

    def price(self, effects: Array) -> float:
        return 0.5 * (self.ridge * float(effects @ effects))

    def dual(self, sums: Array) -> float:
        return float(sums @ sums) / self.ridge

    terms = dual

    def block(self, bends: Array) -> Block:
        return Diagonal(bends + self.ridge)


@dataclass(frozen=True, eq=False)
class Diagonal:
    """No features."""

    diagonal: Array

    def times(self, v: Array) -> Array:
        return self.diagonal * v

    def solve(self, v: Array) -> Array:
        return v / self.diagonal


@dataclass(frozen=True, eq=False)
class Featured:
    """Intercepts with ridge ρ and weights of features with ridge ν; ``design`` is X, an array or a sparse matrix."""

    ridge: float
    design: Any
    charge: float

    def split(self, effects: Array) -> tuple[Array, Array]:
        """The intercepts, and the weights of features, that an effect is best made of."""
        weights = self._gram @ (self.across @ effects)
        return effects - self.design @ weights, weights

    def pull(self, effects: Array) -> Array:
        return self.ridge * self.split(effects)[0]

    def price(self, effects: Array) -> float:
        own, weights = self.split(effects)
        return 0.5 * (self.ridge * float(own @ own) + self.charge * float(weights @ weights))

    def dual(self, sums: Array) -> float:
        along = self.across @ sums
        return float(sums @ sums) / self.ridge + float(along @ along) / self.charge

    def terms(self, sums: Array) -> float:
        along = abs(self.across) @ np.abs(sums)
        return float(sums @ sums) / self.ridge + float(along @ along) / self.charge

    def block(self, bends: Array) -> Block:
        return Woodbury(self, bends)

    @cached_property
    def _gram(self) -> Array:
        """(νI/ρ + XᵀX)⁻¹."""
        return _inverse(gram(self.design, None), self.charge / self.ridge)

    @cached_property
    def across(self) -> Any:
        """Xᵀ, by rows."""
        return self.design.T.tocsr() if _sparse(self.design) else contiguous(self.design.T)


class Woodbury:
    """diag(bends) + K⁻¹ = diag(bends + ρ) − ρX(νI/ρ + XᵀX)⁻¹Xᵀ, solved through a matrix as small as the features."""

    def __init__(self, side: Featured, bends: Array) -> None:
        self.side, self.bends, self.diagonal = side, bends, bends + side.ridge
        rho = side.ridge
        self.inner = _inverse(gram(side.design, bends / (rho * self.diagonal)), side.charge / rho**2)

    def times(self, v: Array) -> Array:
        return self.bends * v + self.side.pull(v)

    def solve(self, v: Array) -> Array:
        own = v / self.diagonal
        along = self.inner @ (self.side.across @ own)
        return cast(Array, own + (self.side.design @ along) / self.diagonal)


@dataclass(frozen=True, eq=False)
class SideFeatures:
    """What is known of rows and of columns: a line of numbers each (None: nothing), and the ridges of their weights."""

    rows: Any = None
    cols: Any = None
    charges: tuple[float, float] = (1.0, 1.0)

    def sized(self, shape: tuple[int, int]) -> SideFeatures:
        """For a table with more rows and columns: nothing is known of those."""
        return SideFeatures(_longer(self.rows, shape[0]), _longer(self.cols, shape[1]), self.charges)

    def marks(self) -> list[Any]:
        """For fingerprints: the charges in words, and a mark of every design."""
        both = [(design, charge) for design, charge in zip((self.rows, self.cols), self.charges, strict=True)]
        words = ["none" if design is None else f"{design.shape[1]}, {float(charge).hex()}" for design, charge in both]
        return [
            f"features of rows {words[0]}, of columns {words[1]}",
            *(_mark(each) for each, _ in both if each is not None),
        ]


def sides(ridges: tuple[float, float], features: SideFeatures | None) -> tuple[Side, Side]:
    """What holds back rows, and columns."""
    if features is None:
        return Ridge(ridges[0]), Ridge(ridges[1])
    row, col = (
        Ridge(ridge) if design is None else Featured(ridge, design, charge)
        for ridge, design, charge in zip(ridges, (features.rows, features.cols), features.charges, strict=True)
    )
    return row, col


def gram(design: Any, weights: Array | None) -> Array:
    """XᵀX, or Xᵀ diag(weights) X, as an ordinary matrix."""
    if not isinstance(design, np.ndarray) and not hasattr(design, "multiply"):  # on a device
        return cast(Array, design.gram(weights))
    heavy = (
        design
        if weights is None
        else design.multiply(weights[:, None])
        if _sparse(design)
        else weights[:, None] * design
    )
    found = design.T @ heavy
    return np.asarray(found.toarray() if _sparse(found) else found)


def _sparse(matrix: Any) -> bool:
    return hasattr(matrix, "tocsr")


def _inverse(matrix: Array, more: float) -> Array:
    """Of a matrix as small as the features, by Cholesky: it is multiplied hundreds of times."""
    from scipy.linalg import cho_factor, cho_solve

    matrix[np.diag_indices_from(matrix)] += more
    found = np.asarray(cho_solve(cho_factor(matrix, lower=True), np.eye(matrix.shape[0])))
    return np.asarray(0.5 * (found + found.T))


def _longer(design: Any, count: int) -> Any:
    if design is None or design.shape[0] == count:
        return design
    more = count - design.shape[0]
    if _sparse(design):
        from scipy.sparse import csr_matrix, vstack

        return vstack([design, csr_matrix((more, design.shape[1]))], format="csr")
    return np.concatenate([design, np.zeros((more, design.shape[1]))])


def _mark(design: Any) -> Array:
    """Of the entries that are not zero, whether the matrix is sparse or not."""
    if _sparse(design):
        held = design.tocoo()
        rows, cols, values = held.row, held.col, held.data
    else:
        rows, cols = np.nonzero(design)
        values = design[rows, cols]
    kept = values != 0.0
    return entries_mark(rows[kept].astype(np.int64), cols[kept].astype(np.int64), np.asarray(values[kept], float))
