"""Products of local measurements on this machine: one part after another, all settings at once or one by one."""

from __future__ import annotations

from typing import Any

import numpy as np

from .numpy import Array, dagger
from .pauli import tree


class Tensors:
    """States as tensors of real coefficients, d² a part; each part's are turned into chances, level by level of a tree.

    ``maps[j][s]`` turns the coefficients of part j into the chances of its measurement s. Parts are taken from the last
    to the first, so that settings with the same ends share work; level after level, all of its nodes at once.
    """

    __slots__ = ("_levels", "bases", "count", "digits", "dtype", "maps", "shared", "where", "width")  # stays here

    def __init__(self, digits: Array, maps: list[Array], bases: list[Array], dtype: str) -> None:
        self.digits, self.shared, self.where = tree(digits)
        self.maps, self.bases, self.dtype = maps, bases, dtype
        self.count, self.width = self.digits.shape[0], int(np.prod([each.shape[1] for each in maps]))
        self._levels = [np.unique(self.digits[:, : j + 1], axis=0, return_inverse=True) for j in range(len(maps))]

    def _parents(self, j: int) -> tuple[Array, Array]:
        """For each node of level j: its parent on the level above, and the measurement of part j."""
        nodes = self._levels[j][0]
        if j == 0:
            return np.zeros(nodes.shape[0], np.int64), nodes[:, 0]
        _, first = np.unique(self._levels[j][1].reshape(-1), return_index=True)
        return self._levels[j - 1][1].reshape(-1)[first], nodes[:, j]

    def measure(self, U: Array, s: Array) -> Array:
        held = self._coefficients((U * s) @ dagger(U))[None]  # (nodes, outcomes so far, what is left)
        for j, maps in enumerate(self.maps):
            parent, choice = self._parents(j)
            nodes, seen, rest = held.shape
            held = held.reshape(nodes, seen, maps.shape[2], rest // maps.shape[2])[parent]
            held = np.matmul(maps[choice][:, None], held).reshape(parent.size, seen * maps.shape[1], -1)
        return np.asarray(held[:, :, 0])

    def matrix(self, slope: Array) -> Array:
        held = slope[:, :, None]
        for j in range(len(self.maps) - 1, -1, -1):
            maps, (parent, choice) = self.maps[j], self._parents(j)
            nodes, seen, rest = held.shape
            held = held.reshape(nodes, seen // maps.shape[1], maps.shape[1], rest)
            held = np.matmul(maps[choice].swapaxes(1, 2)[:, None], held).reshape(nodes, seen // maps.shape[1], -1)
            above = np.zeros((int(parent.max()) + 1, *held.shape[1:]))
            np.add.at(above, parent, held)
            held = above
        return self._matrix(held.reshape(-1))

    def _coefficients(self, rho: Array) -> Array:
        """tr(Bρ) for all products of the local bases, (1, all)."""
        local = [B.shape[1] for B in self.bases]
        n = len(local)
        tensor = rho.reshape(*local, *local)
        order = [axis for j in range(n) for axis in (j, n + j)]
        held: Any = tensor.transpose(order).reshape([d * d for d in local])
        for B in self.bases:  # each moves the first axis to the end
            held = np.tensordot(held, B.swapaxes(1, 2).reshape(B.shape[0], -1), axes=(0, 1))
        return np.asarray(held.real.reshape(1, -1))

    def _matrix(self, given: Array) -> Array:
        """Σ given·B over all products of the local bases."""
        local = [B.shape[1] for B in self.bases]
        n = len(local)
        held: Any = given.reshape([d * d for d in local]).astype(complex)
        for B in self.bases:
            held = np.tensordot(held, B.reshape(B.shape[0], -1), axes=(0, 0))
        held = held.reshape([d for d in local for _ in (0, 1)])
        order = [2 * j for j in range(n)] + [2 * j + 1 for j in range(n)]
        G = held.transpose(order).reshape(int(np.prod(local)), -1)
        G = 0.5 * (G + dagger(G))
        return np.ascontiguousarray(G.real if self.dtype == "float64" else G)


class Amplitudes:
    """States as factors: amplitudes of the rank-one measurements that each part's elements are sums of, then sums.

    ``parts[j][s]`` is (Φ, C): the rows of Φ are the rank-one measurements, C[o, r] how much of r is in outcome o.
    """

    __slots__ = ("count", "digits", "dtype", "parts", "shared", "where", "width")  # stays here

    def __init__(self, digits: Array, parts: list[list[tuple[Array, Array]]], dtype: str) -> None:
        self.digits, self.shared, self.where = tree(digits)
        self.parts, self.dtype = parts, dtype
        self.count = self.digits.shape[0]
        self.width = int(np.prod([several[0][1].shape[0] for several in parts]))

    def _chosen(self, s: int) -> list[tuple[Array, Array]]:
        return [self.parts[j][choice] for j, choice in enumerate(self.digits[s])]

    def measure(self, U: Array, s: Array) -> Array:
        out = np.empty((self.count, self.width))
        for row in range(self.count):
            chosen = self._chosen(row)
            amplitudes = _each([phi for phi, _ in chosen], U)
            chances = (np.abs(amplitudes) ** 2).astype(np.float64) @ s
            out[row] = _each([C for _, C in chosen], chances[:, None])[:, 0]
        return out

    def multiply(self, slope: Array, V: Any) -> Any:
        if not isinstance(V, np.ndarray):
            from .pauli_torch import from_here

            return from_here(self.multiply(slope, V.here()), V)
        total = np.zeros(V.shape, np.result_type(self.dtype, V, np.float64))
        for row in range(self.count):
            chosen = self._chosen(row)
            weights = _each([C.T for _, C in chosen], slope[row][:, None])
            total += _each([dagger(phi) for phi, _ in chosen], weights * _each([phi for phi, _ in chosen], V))
        return total


def _each(maps: list[Array], block: Array) -> Array:
    """(M ⊗ N ⊗ …)·block, one factor after another."""
    sizes, width = [M.shape[1] for M in maps], block.shape[1]
    held = block.reshape(1, -1, width)
    for j, M in enumerate(maps):
        done = held.shape[0]
        held = held.reshape(done, sizes[j], -1)
        held = np.matmul(M, held).reshape(done * M.shape[0], -1, width)
    return np.asarray(held.reshape(-1, width))
