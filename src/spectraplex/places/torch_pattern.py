"""The positions of a sparse matrix on a device, and what is done along them: pattern.py in Torch.

On a GPU the work is done by fused kernels (triton.py) where Triton is installed; elsewhere, and for complex numbers,
by Torch's own sparse products and by gathers of some megabytes at a time.
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
import torch

from .pattern import Pattern, fitting
from .torch_array import TorchArray
from .torch_kinds import on

_PIECE = 1 << 24  # numbers that a gather makes at a time

with warnings.catch_warnings():  # Torch says once that its sparse tensors are young
    warnings.simplefilter("ignore")
    torch.sparse_csr_tensor(torch.tensor([0, 1]), torch.tensor([0]), torch.ones(1), (1, 1))


class TorchPattern:
    """The observed positions of an m × n table, row by row, on a device; see ``Pattern`` for its verbs."""

    def __init__(self, indptr: torch.Tensor, indices: torch.Tensor, shape: tuple[int, int]) -> None:
        self._indptr, self._indices, self.shape = indptr, indices, shape

    @classmethod
    def of(cls, pattern: Pattern, device: torch.device) -> TorchPattern:
        small = torch.int32 if max(pattern.shape) < 2**31 else torch.int64
        indices = torch.as_tensor(pattern.indices.view(f"i{pattern.indices.itemsize}"), device=device)
        return cls(on(pattern.indptr.astype(np.int64), device), indices.to(small), pattern.shape)

    @classmethod
    def from_sorted(cls, rows: torch.Tensor, cols: torch.Tensor, shape: tuple[int, int]) -> TorchPattern:
        """From positions sorted by row, then column."""
        counts = torch.bincount(rows, minlength=shape[0])
        indptr = torch.zeros(shape[0] + 1, dtype=torch.int64, device=rows.device)
        torch.cumsum(counts, 0, out=indptr[1:])
        return cls(indptr, cols.to(torch.int32 if max(shape) < 2**31 else torch.int64), shape)

    def here(self) -> Pattern:
        """The same on this machine."""
        indices = self._indices.cpu().numpy()
        unsigned = indices.view(f"u{indices.itemsize}")
        return Pattern(self._indptr.cpu().numpy().astype(np.uint64), unsigned, self.shape)

    @property
    def size(self) -> int:
        return self._indices.numel()

    @property
    def device(self) -> torch.device:
        return self._indices.device

    @property
    def indices(self) -> TorchArray:
        return TorchArray(self._indices)

    @property
    def indptr(self) -> TorchArray:
        return TorchArray(self._indptr)

    @cached_property
    def rows(self) -> TorchArray:
        """The row of every entry."""
        counts = torch.diff(self._indptr)
        numbers = torch.arange(self.shape[0], dtype=self._indices.dtype, device=self.device)
        return TorchArray(torch.repeat_interleave(numbers, counts, output_size=self.size))

    @cached_property
    def transposed(self) -> tuple[TorchPattern, TorchArray]:
        """The pattern column by column, and for each of its entries the position in this one."""
        columns, order = torch.sort(self._indices, stable=True)
        small = torch.int32 if self.size < 2**31 else torch.int64
        rows = self.rows.t[order]
        turned = TorchPattern.from_sorted(columns, rows, (self.shape[1], self.shape[0]))
        return turned, TorchArray(order.to(small))

    @cached_property
    def kernels(self) -> Any:
        """Fused kernels for this pattern; None where there are none."""
        if self.device.type != "cuda":
            return None
        from .triton_device import kernels_for

        return kernels_for(self)

    def flip(self, data: TorchArray) -> tuple[TorchPattern, TorchArray]:
        """The conjugate transpose of the sparse matrix with these entries: its pattern and its entries."""
        pattern, order = self.transposed
        return pattern, TorchArray(torch.index_select(data.t, 0, order.t).conj().resolve_conj())

    def multiply(self, data: TorchArray, V: TorchArray, out: Any = None) -> TorchArray:
        """The sparse matrix with these entries times a vector or a block, summed in double precision."""
        values, block = data.t, V.t.resolve_conj()
        flat = block.ndim == 1
        block = block[:, None] if flat else block
        if self.kernels is not None and not (values.is_complex() or block.is_complex()):
            found = self.kernels.multiply(values, block.contiguous())
        else:
            kind = torch.promote_types(torch.promote_types(values.dtype, block.dtype), torch.float64)
            table = torch.sparse_csr_tensor(
                self._indptr, self._indices.long(), values.to(kind), self.shape, check_invariants=False
            )
            found = table @ block.to(kind).contiguous()
        return TorchArray(found[:, 0] if flat else found)

    def sample(self, U: TorchArray, V: TorchArray, s: Any = None) -> TorchArray:
        """The entries of U diag(s) Vᴴ at these positions, without forming it; summed in double precision."""
        kind = torch.promote_types(torch.promote_types(U.t.dtype, V.t.dtype), torch.float64)
        width = U.shape[1]
        if width == 0:
            return TorchArray(torch.zeros(self.size, dtype=kind, device=self.device))
        weights = torch.ones(width, dtype=torch.float64, device=self.device) if s is None else U.like(fitting(s, width))
        if self.kernels is not None and not kind.is_complex:
            return TorchArray(self.kernels.sample(U.t.contiguous(), V.t.contiguous(), weights))
        left, right = U.t.to(kind) * weights, V.t.to(kind).conj()
        rows, out = self.rows.t, torch.empty(self.size, dtype=kind, device=self.device)
        many = max(1, _PIECE // width)
        for low in range(0, self.size, many):
            part = slice(low, low + many)
            one, two = torch.index_select(left, 0, rows[part]), torch.index_select(right, 0, self._indices[part])
            torch.sum(one * two, dim=1, out=out[part])
        return TorchArray(out)

    def add(self, v: TorchArray) -> TorchArray:
        """The sparse matrix of ones at these positions times a real vector."""
        return self.multiply(self._ones, v)

    @cached_property
    def _ones(self) -> TorchArray:
        return TorchArray(torch.ones(self.size, dtype=torch.float32, device=self.device))

    def spread(self, z: TorchArray, b: TorchArray, c: TorchArray) -> TorchArray:
        """z + b[row] + c[column] at these positions."""
        found = torch.index_select(b.t, 0, self.rows.t)
        found += torch.index_select(c.t, 0, self._indices)
        return TorchArray(found.add_(z.t))

    def sums(self, entries: TorchArray) -> tuple[TorchArray, TorchArray]:
        """Over every row and every column."""
        turned, data = self.flip(entries)
        return self._row_sums(entries), turned._row_sums(data.conj())

    def _row_sums(self, entries: TorchArray) -> TorchArray:
        return self.multiply(entries, TorchArray(torch.ones(self.shape[1], dtype=torch.float64, device=self.device)))

    def scores(self, data: TorchArray, P: TorchArray, Q: TorchArray, count: int) -> Any:
        """Re P[:, k]ᴴ S Q[:, k] for the first ``count`` columns: by blocks of columns."""
        out = torch.empty(count, dtype=torch.float64, device=self.device)
        for low in range(0, count, 64):
            part = slice(low, min(low + 64, count))
            product = self.multiply(data, TorchArray(Q.t[:, part])).t
            terms = P.t[:, part].to(product.dtype).conj() * product
            out[part] = (terms.real if terms.is_complex() else terms).sum(0)
        return out.cpu().numpy()


class TorchSparse:
    """A scipy-sparse matrix on a device: products with blocks, and its entries."""

    def __init__(self, table: Any, device: torch.device) -> None:
        rows = table.tocsr()
        self.shape = (int(rows.shape[0]), int(rows.shape[1]))
        self.pattern = TorchPattern(on(rows.indptr.astype(np.int64), device), on(rows.indices, device), self.shape)
        self.data = TorchArray(on(rows.data, device))
        self.home: Any = rows  # the same matrix on this machine

    @classmethod
    def _made(cls, pattern: TorchPattern, data: TorchArray) -> TorchSparse:
        new = cls.__new__(cls)
        new.pattern, new.data, new.shape, new.home = pattern, data, pattern.shape, None
        return new

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.data.dtype

    def __matmul__(self, V: Any) -> TorchArray:
        V = V if isinstance(V, TorchArray) else TorchArray(on(V, self.pattern.device))
        return self.pattern.multiply(self.data, V)

    @cached_property
    def T(self) -> TorchSparse:
        pattern, data = self.pattern.flip(self.data)
        return TorchSparse._made(pattern, data.conj())

    def conj(self) -> TorchSparse:
        return TorchSparse._made(self.pattern, self.data.conj())

    def gram(self, weights: Any = None) -> Any:
        """Aᵀ diag(weights) A, on this machine, where a product of two sparse matrices is at hand."""
        assert self.home is not None
        heavy = self.home if weights is None else self.home.multiply(weights.here()[:, None])
        return np.asarray((self.home.T @ heavy).toarray())

    def power(self, exponent: float) -> TorchSparse:
        return TorchSparse._made(self.pattern, self.data**exponent)

    def sum(self, axis: int) -> TorchArray:
        """Over every column (0) or every row (1)."""
        return self.pattern.sums(self.data)[1 - axis]

    def toarray(self) -> TorchArray:
        out = torch.zeros(self.shape, dtype=self.data.t.dtype, device=self.pattern.device)
        out[self.pattern.rows.t.long(), self.pattern.indices.t.long()] = self.data.t
        return TorchArray(out)

    @property
    def indptr(self) -> TorchArray:
        return self.pattern.indptr

    def tocsr(self) -> TorchSparse:
        return self

    def __abs__(self) -> TorchSparse:
        return TorchSparse._made(self.pattern, abs(self.data))
