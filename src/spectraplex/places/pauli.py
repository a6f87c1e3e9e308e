"""Pauli measurements on this machine: arrays prepared for the compiled loops. One class a way to get there.

``Whole`` works on the matrix of a state, ``Factored`` on its factors. Both measure distinct words in the order of a
tree and give one row a word; ``where`` says which row a word of the user's has. Factors on a device are rotated there
(pauli_torch.py), and small matrices come here: both have slots, so that their plan stays on this machine.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np

from .numpy import Array, dagger


def tree(digits: Array) -> tuple[Array, Array, Array]:
    """The distinct rows in the order of a tree, how many digits each shares with the one before, and where each row
    of the user's is among them."""
    distinct, where = np.unique(digits, axis=0, return_inverse=True)
    same = np.cumprod(distinct[1:] == distinct[:-1], axis=1).sum(axis=1)
    shared = np.concatenate([[0], same]).astype(np.int64)
    return np.ascontiguousarray(distinct), shared, where.reshape(-1)


def through(matrices: list[Array], rows: Array) -> Array:
    """(C ⊗ D ⊗ …)·row for every row of chances: one 2×2 matrix a qubit, that of the first letter first."""
    held = rows
    for j, C in enumerate(matrices):
        parts = held.reshape(-1, 2, 1 << (len(matrices) - 1 - j))
        first, second = parts[:, 0], parts[:, 1]
        held = np.stack([float(C[o, 0]) * first + float(C[o, 1]) * second for o in (0, 1)], axis=1)
    return held.reshape(rows.shape)


class Whole:
    """States as matrices: tr(Pρ) of all 4ⁿ strings by Walsh-Hadamard transforms, then a tree over the settings."""

    __slots__ = ("_index", "_signs", "_spread", "count", "digits", "dtype", "n", "shared", "strings", "where")

    def __init__(self, digits: Array, strings: bool, dtype: str) -> None:
        n = digits.shape[1]
        self.n, self.strings, self.dtype = n, strings, dtype
        self.digits, self.shared, self.where = tree(digits[:, ::-1])  # the last qubit first
        self.count = self.digits.shape[0]
        bits = np.arange(1 << n)[:, None] >> np.arange(n) & 1
        self._spread = bits @ (1 << 2 * np.arange(n)[::-1])  # bit b of a mask is digit n − 1 − b of a string
        self._signs = np.array([1.0, -1.0, -1.0, 1.0])[bits.sum(axis=1) % 4]
        self._index = self.digits @ (1 << 2 * np.arange(n)[::-1])

    def measure(self, U: Array, s: Array) -> Array:
        """One row of chances a setting, or one number a string."""
        if not isinstance(U, np.ndarray):
            from .pauli_torch import from_here

            return cast(Array, from_here(self.measure(U.here(), s), U))
        return self.of_matrix((U * s) @ dagger(U))

    def of_matrix(self, rho: Array) -> Array:
        """The same of a Hermitian matrix."""
        from . import pauli_kernels as kernels

        strings = np.empty(1 << 2 * self.n)
        kernels.coefficients(np.ascontiguousarray(rho), self._spread, self._signs, strings)
        if self.strings:
            return np.asarray(strings[self._index, None] * (1 << self.n))
        out = np.empty((self.count, 1 << self.n))
        kernels.chances(strings, self.digits, self.shared, out)
        return out

    def matrix(self, slope: Array) -> Array:
        """𝒜*(slope), Hermitian to the last bit."""
        if not isinstance(slope, np.ndarray):
            from .pauli_torch import from_here

            return cast(Array, from_here(self.matrix(slope.here()), slope))
        from . import pauli_kernels as kernels

        strings = np.zeros(1 << 2 * self.n)
        if self.strings:
            strings[self._index] = slope[:, 0] * (1 << self.n)
        else:
            kernels.from_chances(slope, self.digits, self.shared, strings)
        out = np.empty((1 << self.n, 1 << self.n), self.dtype)
        fold = kernels.from_coefficients if self.dtype == "complex128" else kernels.from_real_coefficients
        fold(strings, self._spread, self._signs, out)
        return out


class Factored:
    """States as factors, whose rows are rotated: memory for a few blocks of vectors, however many the settings are."""

    __slots__ = (
        "_depth",
        "_flips",
        "_phases",
        "_scale",
        "_turns",
        "count",
        "digits",
        "dtype",
        "n",
        "shared",
        "strings",
        "where",
    )

    def __init__(self, digits: Array, strings: bool, dtype: str) -> None:
        n = digits.shape[1]
        self.n, self.strings, self.dtype = n, strings, dtype
        self.digits, shared, self.where = tree(digits)
        self.count = self.digits.shape[0]
        # few settings have more letters in common than this, and rotating those again costs less than keeping them
        self._depth = min(int(shared.max()), max(0, round(np.log(self.count) / np.log(3.0)) - 1))
        self.shared = np.minimum(shared, self._depth)
        self._scale = 0.5 ** (self.digits != 1).sum(axis=1)
        bits = 1 << np.arange(n)[::-1]
        self._flips, self._phases = (self.digits >= 2) @ bits, (self.digits % 2) @ bits
        self._turns = (self.digits == 3).sum(axis=1) % 4

    def _planes(self, V: Array) -> Array:
        """Real and imaginary parts, each flat, row by row; of real vectors, where no letter is Y, the first alone."""
        kind = np.float32 if V.dtype in (np.float32, np.complex64) else np.float64
        if self.dtype == "float64" and V.dtype.kind == "f":
            return np.ascontiguousarray(V, kind).reshape(1, -1)
        out = np.empty((2, V.size), kind)
        out[0].reshape(V.shape)[:], out[1].reshape(V.shape)[:] = V.real, V.imag
        return out

    def _vectors(self, planes: Array, V: Array) -> Array:
        if planes.shape[0] == 1:
            return planes.reshape(V.shape).astype(np.float64, copy=False)
        out = np.empty(V.shape, np.complex128)
        out.real, out.imag = planes[0].reshape(V.shape), planes[1].reshape(V.shape)
        return out

    def measure(self, U: Array, s: Array) -> Array:
        """One row of chances a setting, or one number a string."""
        if not isinstance(U, np.ndarray):
            return cast(Array, self._chances_there(U, s))
        from . import pauli_rotations, pauli_strings

        F, width, weights = self._planes(U), U.shape[1], np.ascontiguousarray(s, np.float64)
        if self.strings:
            out = np.empty((self.count, 1))
            pauli_strings.string_values(F, width, weights, self._flips, self._phases, self._turns, out[:, 0])
            return out
        out = np.empty((self.count, 1 << self.n))
        pauli_rotations.rotated_chances(F, width, weights, self.digits, self.shared, self._depth, self._scale, out)
        return out

    def multiply(self, slope: Array, V: Array) -> Array:
        """𝒜*(slope)·V."""
        if not isinstance(V, np.ndarray):
            return cast(Array, self._products_there(slope, V))
        from . import pauli_rotations, pauli_strings

        F, width = self._planes(V), V.shape[1]
        total = np.zeros_like(F)
        if self.strings:
            pauli_strings.string_products(F, width, slope[:, 0], self._flips, self._phases, self._turns, total)
        else:
            pauli_rotations.rotated_products(F, width, slope, self.digits, self.shared, self._depth, self._scale, total)
        return self._vectors(total, V)

    def _chances_there(self, U: Any, s: Array) -> Any:
        from . import pauli_torch as there

        if self.strings:
            return there.string_values((self._flips, self._phases, self._turns), U, s)
        return there.chances(self.digits, self._scale, U, s)

    def _products_there(self, slope: Any, V: Any) -> Any:
        from . import pauli_torch as there

        if self.strings:
            return there.string_products((self._flips, self._phases, self._turns), slope, V)
        return there.products(self.digits, self._scale, slope, V)
