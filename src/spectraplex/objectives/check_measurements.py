"""The tester of measurements, and of operators as all objectives have them; ``check`` calls it."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..checks import kind_or_say
from ..matrices.given import no_operator
from ..matrices.operators import Operator
from ..measurements.protocol import Facts, is_positive, of_dense
from ..places.numpy import Array, dagger, inner
from .tester import Report, Tester

_LARGE = 250_000  # entries of a matrix up to which it is looked at whole


def check_measurements(thing: Any, hermitian: bool | None, size: float, trials: int, seed: int) -> Report:
    needed = ("shape", "size", "dtype", "measure", "adjoint")
    missing = [name for name in needed if not hasattr(thing, name)]
    if missing:
        return Report(("protocol",), (f"protocol: it lacks {', '.join(missing)}; see the Measurements protocol.",))
    try:
        kind_or_say("measurement", thing.dtype)
    except ValueError as error:
        return Report(("dtype",), (str(error),))
    m, n = thing.shape
    if hermitian and m != n:
        raise ValueError(f"check: these measurements are {m}×{n}; hermitian=True needs a square shape.")
    return MeasurementTester(thing, bool(hermitian), size, np.random.default_rng(seed)).run(trials)


def other_shape(G: Any, shape: Any) -> str:
    return f"the operator is said to have shape {tuple(G.shape)}, not {tuple(shape)}."


def operator(tester: Tester, G: Any, shape: tuple[int, int], P: Array, Q: Array) -> None:
    """Shape, scores and matrix of an operator go with its products."""
    GQ = G.matmat(Q)
    size = float(np.linalg.norm(GQ) * np.linalg.norm(P)) + 1e-300
    tester.expect("operator", tuple(G.shape) == tuple(shape), other_shape(G, shape))
    wanted = np.sum(P.conj() * GQ, axis=0).real
    for score, want in zip(G.scores(np.ascontiguousarray(P), np.ascontiguousarray(Q), 2), wanted, strict=True):
        tester.close("scores", float(score), float(want), size, "scores(P, Q) differ from ⟨pₖ, G·qₖ⟩")
    if shape[0] * shape[1] > _LARGE:
        return
    whole = G.dense()
    off = float(np.linalg.norm(whole @ Q - GQ))
    tester.expect("dense", off <= 1e-9 * size, f"dense() multiplies otherwise than matmat, by {off:.3g}.")
    if getattr(G, "hermitian", False):
        skew = float(np.abs(whole - dagger(whole)).max()) if whole.shape[0] == whole.shape[1] else np.inf
        top = float(np.abs(whole).max())
        tester.expect("hermitian", skew <= 1e-9 * top, f"it says it is Hermitian, but is off by {skew:.3g}.")


class MeasurementTester(Tester):
    """Linear, with a true adjoint, and no larger than it says."""

    def __init__(self, thing: Any, hermitian: bool, size: float, rng: np.random.Generator) -> None:
        super().__init__(rng)
        self.A, self.hermitian, self.scale = thing, hermitian, size
        self.real = Facts.of(thing).real or np.dtype(thing.dtype).kind != "c"

    def factors(self, rank: int = 3) -> tuple[Array, Array, Array]:
        m, n = self.A.shape
        U, V = self.normal((m, rank), self.A.dtype), self.normal((n, rank), self.A.dtype)
        s = self.scale * self.rng.standard_normal(rank) / rank
        return (U, s, U) if self.hermitian else (U, s, V)

    def trial(self) -> None:
        A, X, Y = self.A, self.factors(), self.factors(2)
        z, w = A.measure(*X), A.measure(*Y)
        shaped = isinstance(z, np.ndarray) and z.shape == (A.size,)
        self.expect("image", shaped, f"measure must return a flat array of {A.size} numbers, got {np.shape(z)}.")
        if not shaped:
            return
        both = [np.concatenate([X[0], Y[0]], 1), np.concatenate([2.0 * X[1], -3.0 * Y[1]])]
        sum_ = A.measure(both[0], both[1], np.concatenate([X[2], Y[2]], 1))
        length = float(np.linalg.norm(z) + np.linalg.norm(w)) + 1e-300
        off = float(np.linalg.norm(sum_ - (2.0 * z - 3.0 * w)))
        self.expect("linear", off <= 1e-9 * length, f"𝒜(2X − 3Y) differs from 2𝒜(X) − 3𝒜(Y) by {off:.3g}.")
        apart = A.measure(X[0], X[1], X[2].copy())  # an equal array that is not the same object
        off = float(np.linalg.norm(apart - z))
        self.expect(
            "one array", off <= 1e-9 * length, f"measure(U, s, U) and measure(U, s, a copy of U) differ: {off:.3g}."
        )
        y = self.normal((A.size,)) if self.real else self.normal((A.size,), A.dtype)
        G = A.adjoint(y)
        self.need("adjoint", hasattr(G, "matmat"), no_operator("adjoint", G))
        self.need("operator", tuple(G.shape) == tuple(A.shape), other_shape(G, A.shape))
        size = float(np.linalg.norm(y)) * length
        text = "⟨𝒜(X), y⟩ differs from ⟨X, 𝒜*(y)⟩: measure and adjoint"
        self.close("adjoint", inner(y, z), inner(X[0] * X[1], G.matmat(X[2])), size, text)
        self.products(G)
        self.bounds(y, z, X)
        if A.shape[0] == A.shape[1] and is_positive(A):
            seen = A.measure(X[0], np.abs(X[1]), X[0]).real
            least = float(np.min(seen))
            text = f"it says that its matrices are positive semidefinite, but ⟨A, X⟩ = {least:.3g} was met for X ⪰ 0."
            self.expect("positive", least >= -1e-9 * float(np.linalg.norm(seen)), text)

    def products(self, G: Operator) -> None:
        (m, n), kind = self.A.shape, self.A.dtype
        P, Q = self.normal((m, 2), kind), self.normal((n, 2), kind)
        GQ, GP = G.matmat(Q), G.rmatmat(P)
        size = float(np.linalg.norm(GQ) * np.linalg.norm(P)) + 1e-300
        self.close("products", inner(P, GQ), inner(GP, Q), size, "⟨P, G·Q⟩ differs from ⟨Gᴴ·P, Q⟩: matmat and rmatmat")
        operator(self, G, (m, n), P, Q)

    def shortcuts(self, y: Array, there: Array) -> None:
        """What a measurement works out quicker is the same: 𝒜 of an operator, and its Gram matrix."""
        A, size = self.A, 1e-9 * float(np.linalg.norm(there)) + 1e-300
        if hasattr(A, "of_operator"):
            off = float(np.linalg.norm(A.of_operator(A.adjoint(y)) - there))
            self.expect("of_operator", off <= size, f"𝒜(𝒜*(y)) as of_operator has it differs by {off:.3g}.")
        if hasattr(A, "gram"):
            off = float(np.linalg.norm(A.gram() @ y - there))
            self.expect("gram", off <= size, f"gram()·y differs from 𝒜(𝒜*(y)) by {off:.3g}.")

    def bounds(self, y: Array, z: Array, X: tuple[Array, Array, Array]) -> None:
        """‖𝒜(X)‖ ≤ reach·‖X‖, at X and after some power iterations, and the claimed eigenvalues likewise."""
        A, (m, n) = self.A, self.A.shape
        dense = (X[0] * X[1]) @ dagger(X[2])
        ratios = [float(np.linalg.norm(z) / np.linalg.norm(dense))]
        if m * n <= _LARGE:
            G = A.adjoint(y).dense()
            self.shortcuts(y, of_dense(A, G))
            for _ in range(6):
                image = of_dense(A, G / np.linalg.norm(G))
                ratios.append(float(np.linalg.norm(image)))
                G = A.adjoint(image).dense()
                if not np.linalg.norm(G) > 0:
                    break
        if hasattr(A, "coverage"):
            squares = [float(np.sum(part)) for part in A.coverage(None)]
            text = f"rows sum to {squares[0]:.6g} and columns to {squares[1]:.6g}, but ‖𝒜‖² is {max(ratios) ** 2:.6g}."
            self.expect("coverage", min(squares) >= max(ratios) ** 2 * (1 - 1e-9), text)
        if hasattr(A, "reach"):
            text = f"‖𝒜(X)‖ = {max(ratios):.6g}‖X‖ was met, more than the reach {float(A.reach):.6g} it claims."
            self.expect("reach", max(ratios) <= float(A.reach) * (1 + 1e-9), text)
        if hasattr(A, "extremes"):
            high, low = A.extremes(None, False)
            met, claimed = f"{min(ratios) ** 2:.6g} to {max(ratios) ** 2:.6g}", f"{low:.6g} to {high:.6g}"
            text = f"‖𝒜(X)‖² of {met} times ‖X‖² was met, claimed is {claimed}."
            inside = low * (1 - 1e-9) <= min(ratios) ** 2 and max(ratios) ** 2 <= high * (1 + 1e-9)
            self.expect("extremes", inside, text)
