"""A device as a place: blocks are Torch tensors on a GPU, or on this machine's processor (``TorchArray``).

As in here.py a block upstairs is one array with its sides on top of each other. Small things are NumPy arrays of this
machine; what is summed for them is summed in double. Orthonormal blocks are made by Gram matrices and their
eigenvectors, twice: a factorisation of a tall block by cuSOLVER takes ten times as long.
"""

from __future__ import annotations

from typing import Any, cast

import numpy as np
import torch

from . import numpy as arrays
from . import torch_functions  # noqa: F401  (NumPy's functions on tensors)
from .here import NumPyPlace
from .numpy import Array
from .torch_array import TorchArray
from .torch_deck import TorchDeck
from .torch_kinds import on, torch_kind
from .torch_marks import rows_mark
from .torch_tall import TorchTall

_LOST = 1e-13  # share of the largest eigenvalue of a Gram matrix below which a direction is rounding
_PIECE = 1 << 24  # numbers of a tall block that are made double at a time
_LAPACK = 100  # rows up to which a small matrix is decomposed by LAPACK
_HOST = 1 << 22  # random numbers up to here are those of this machine


class TorchRoom:
    """Columns are stored as rows: a column is contiguous, and so are the first k of them."""

    def __init__(self, length: int, dtype: Any, device: torch.device) -> None:
        self.store = torch.empty((0, length), dtype=torch_kind(dtype), device=device)

    def write(self, at: int, columns: TorchArray) -> None:
        end = at + columns.shape[1]
        if self.store.shape[0] < end:
            many = max(end, 2 * self.store.shape[0], 16)
            grown = torch.empty((many, self.store.shape[1]), dtype=self.store.dtype, device=self.store.device)
            grown[:at] = self.store[:at]
            self.store = grown
        self.store[at:end] = columns.t.t()

    def first(self, count: int) -> TorchArray:
        return TorchArray(self.store[:count].t())


class TorchBuffer:
    """Columns that are only ever added; rows are contiguous."""

    def __init__(self, place: TorchPlace, columns: TorchArray, room: int = 16) -> None:
        self.place, count, t = place, columns.shape[1], columns.t
        self._store = torch.zeros((t.shape[0], count + room), dtype=t.dtype, device=t.device)
        self._store[:, :count] = t
        self.used = count
        self._single: torch.Tensor | None = None
        self._single_used = 0

    @property
    def block(self) -> TorchArray:
        return TorchArray(self._store)

    def append(self, column: TorchArray) -> int:
        if self.used == self._store.shape[1]:
            shape = (self._store.shape[0], 2 * self.used)
            grown = torch.zeros(shape, dtype=self._store.dtype, device=self._store.device)
            grown[:, : self.used] = self._store
            self._store = grown
        self._store[:, self.used] = column.t[:, 0]
        self.used += 1  # last, so that an interrupted append leaves nothing behind
        return self.used - 1

    def kept(self, index: Array) -> TorchBuffer:
        return TorchBuffer(self.place, self.block[:, index], room=index.size // 4 + 16)

    @property
    def single(self) -> TorchArray:
        """The columns in single precision, kept up to date as they come."""
        if self._single is None or self._single.shape != self._store.shape:
            kind = torch.complex64 if self._store.is_complex() else torch.float32
            self._single, self._single_used = torch.zeros_like(self._store, dtype=kind), 0
        new = slice(self._single_used, self.used)
        self._single[:, new] = self._store[:, new]
        self._single_used = self.used
        return TorchArray(self._single)


class TorchPlace(NumPyPlace):
    """The verbs of ``Place`` on tensors of one device; what is not written here is NumPy's, dispatched to Torch."""

    distant = False
    rounds = bytes = 0

    def __init__(self, device: torch.device) -> None:
        self.device = device
        self.name = f"torch {device}"
        self.wide = device.type != "cpu"  # many products at once take little more time than one

    # ------------------------------------------------------------------------------------------------ in and out

    def from_host(self, array: Any, part: slice | None = None) -> Any:
        if isinstance(array, TorchTall):
            array = array.held
        if not isinstance(array, TorchArray) or array.t.device != self.device:
            array = TorchArray(on(array.here() if isinstance(array, TorchArray) else array, self.device))
        return array if array.ndim == 2 else array.reshape(array.shape[0], -1)

    def to_host(self, A: Any) -> Array:
        return cast(Array, A.here())

    def packed(self, A: Any) -> Any:
        return TorchTall(A)

    def holds(self, thing: Any) -> bool:
        return isinstance(thing, TorchArray)

    def random(self, part: slice, count: int, dtype: str, rng: np.random.Generator) -> Any:
        length = part.stop - part.start
        if length * count <= _HOST:
            return self.from_host(NumPyPlace.random(self, part, count, dtype, rng))
        generator = torch.Generator(self.device).manual_seed(int(rng.integers(2**62)))
        kind = torch_kind(dtype)
        return self.unit(TorchArray(torch.randn((length, count), dtype=kind, device=self.device, generator=generator)))

    def axis(self, part: slice, at: int, dtype: str) -> Any:
        out = torch.zeros((part.stop - part.start, 1), dtype=torch_kind(dtype), device=self.device)
        out[at] = 1.0
        return TorchArray(out)

    # ------------------------------------------------------------------------------------------------ block-valued

    def padded(self, A: Any, more: int) -> Any:
        return A if more == 0 else TorchArray(torch.nn.functional.pad(A.t, (0, 0, 0, more)))

    def unit(self, A: Any) -> Any:
        return self._by(torch.div, A, on(self.norms(A), self.device))

    def copy(self, A: Any, dtype: Any) -> Any:
        copied = A.t.to(torch_kind(dtype), copy=True, memory_format=torch.contiguous_format)
        return TorchArray(copied.resolve_conj().contiguous())

    def turned(self, A: Any, small: Any) -> Any:
        """A piece at a time: nothing as tall as A is made double."""
        by = on(np.ascontiguousarray(small), self.device)
        kind = torch.promote_types(A.t.dtype, by.dtype)
        if kind == A.t.dtype:
            return TorchArray(A.t @ by.to(kind))
        out = torch.empty((A.shape[0], by.shape[1]), dtype=A.t.dtype, device=self.device)
        many, by = max(1, _PIECE // max(1, *by.shape)), by.to(kind)
        for low in range(0, A.shape[0], many):
            out[low : low + many] = A.t[low : low + many].to(kind) @ by
        return TorchArray(out)

    def scale(self, A: Any, weights: Any) -> Any:
        """In the precision of A: what is in single precision on a device stays so."""
        if isinstance(weights, np.ndarray) and weights.ndim:
            return self._by(torch.mul, A, on(weights, self.device))
        return TorchArray((A.t * float(weights)).to(A.t.dtype))

    def _by(self, how: Any, A: Any, numbers: torch.Tensor) -> Any:
        """Every column and its number, worked out in double and stored like A: nothing as tall in double."""
        out = torch.empty(A.t.shape, dtype=A.t.dtype, device=self.device)
        return TorchArray(how(A.t, numbers, out=out))

    def reciprocal(self, A: Any, a: float, b: float) -> Any:
        """Where A is: no second block as tall is made."""
        least = 1e-290 if A.t.dtype == torch.float64 else 1e-35
        return TorchArray(A.t.add_(b).clamp_(min=least).reciprocal_().mul_(a))

    def blend(self, a: float, A: Any, b: float, B: Any) -> Any:
        return TorchArray(torch.add(A.t if a == 1.0 else a * A.t, B.t, alpha=b))

    def without(self, A: Any, basis: Any) -> Any:
        """Nothing comes to this machine on the way."""
        inside = self._gram(basis, A).to(A.t.dtype)
        if basis.t.dtype != A.t.dtype:
            return A - basis @ TorchArray(inside)
        return TorchArray(torch.addmm(A.t, basis.t, inside, alpha=-1.0))

    def orthonormal(self, A: Any, basis: Any = None) -> Any:
        against = None if basis is None or self.width(basis) == 0 else basis
        reference = float(self.norms(A).max(initial=0.0))
        if reference == 0.0 or not np.isfinite(reference):
            return A[:, :0]
        A = A * arrays.size_one(reference)
        for _ in range(4):
            if against is not None:
                A = self.without(A, against)
            values, turn = self.eigh(self.gram(A, A))
            some = values > max(_LOST * values[-1], 1e-26)
            if not some.any():
                return A[:, :0]
            kept = bool(values[some].min() > 0.25)
            A = self.times(A, (turn[:, some] / np.sqrt(values[some])).astype(A.dtype))
            if kept:
                return A
        return A

    def qr(self, A: Any) -> tuple[Any, Array]:
        """A = Q·R; R is small, and need not be triangular."""
        if self.device.type == "cpu":
            Q, triangle = torch.linalg.qr(A.t)
            return TorchArray(Q), triangle.numpy()
        R = np.eye(self.width(A))
        for _ in range(2):
            values, turn = self.eigh(self.gram(A, A))
            roots = np.sqrt(np.maximum(values, _LOST * max(float(values[-1]), 1e-300)))
            A, R = self.times(A, turn / roots), (roots[:, None] * turn.conj().T) @ R
        return A, R

    def outer(self, part: slice, terms: list[tuple[slice, Array, Array]]) -> Any:
        shape, kind = (part.stop - part.start, terms[0][2].size), torch.float64
        if (
            shape[0] * shape[1] > _PIECE
            and max(np.max(each, initial=0.0) for _, *both in terms for each in both) < 1e15
        ):
            kind = torch.float32  # it scales directions, and half of the memory will do
        out = torch.zeros(shape, dtype=kind, device=self.device)
        for where, rows, columns in terms:
            out[where].addr_(self._near(rows).to(kind), self._near(columns).to(kind))
        return TorchArray(out)

    # ------------------------------------------------------------------------------------------------ small-valued

    def row(self, A: Any, at: int) -> Array:
        return cast(Array, A[at].here())

    def gram(self, A: Any, B: Any) -> Array:
        return self._gram(A, B).cpu().numpy()

    def _gram(self, A: Any, B: Any) -> torch.Tensor:
        kind = torch.complex128 if A.t.is_complex() or B.t.is_complex() else torch.float64
        if A.t.dtype == B.t.dtype == kind:
            return A.t.mH @ B.t
        many = max(1, _PIECE // max(1, A.shape[1], B.shape[1]))
        total = torch.zeros((A.shape[1], B.shape[1]), dtype=kind, device=self.device)
        for low in range(0, A.shape[0], many):
            one, two = A.t[low : low + many].to(kind), B.t[low : low + many].to(kind)
            total += one.mH @ two
        return total

    def dots(self, A: Any, B: Any, weights: Any = None) -> Array:
        total = torch.zeros(A.shape[1], dtype=torch.float64, device=self.device)
        many, complex_ = max(1, _PIECE // max(1, A.shape[1])), A.t.is_complex() or B.t.is_complex()
        kind = torch.complex128 if complex_ else torch.float64
        held = None if weights is None else self._near(weights)
        for low in range(0, A.shape[0], many):
            part = slice(low, low + many)
            terms = A.t[part].to(kind).conj() * B.t[part].to(kind)
            terms = terms.real if complex_ else terms
            total += terms.sum(0) if held is None else held[part] @ terms
        return total.cpu().numpy()

    def norms(self, A: Any) -> Array:
        wide = torch.complex128 if A.t.is_complex() else torch.float64
        found = torch.linalg.vector_norm(A.t, dim=0, dtype=wide).real.cpu().numpy()
        # the square of a number may leave the range of floating point where the number does not
        if found.size and not (found.min() > arrays.LOW**0.5 and found.max() < np.inf):
            tops = torch.amax(A.t.abs(), dim=0).double().cpu().numpy() if A.shape[0] else np.zeros(found.size)
            tops[(tops == 0.0) | ~np.isfinite(tops)] = 1.0
            units = np.ldexp(1.0, -np.clip(np.frexp(tops)[1], -1000, 1000))
            scaled = A.t * on(units, self.device)
            found = torch.linalg.vector_norm(scaled, dim=0, dtype=wide).real.cpu().numpy() / units
        return np.asarray(found)

    def largest(self, A: Any) -> float:
        """A norm, which makes no copy of A as abs() does."""
        return float(torch.linalg.vector_norm(A.t, ord=float("inf")).item()) if A.t.numel() else 0.0

    def finite(self, A: Any) -> bool:
        return bool(torch.isfinite(A.t).all().item())

    def mark(self, A: Any) -> Array:
        return rows_mark(A.t)

    def eigh(self, small: Array) -> tuple[Array, Array]:
        """A GPU takes 5 ms for 500 rows, a core of this machine 37."""
        if self.device.type != "cuda" or small.shape[0] < _LAPACK:
            return NumPyPlace.eigh(self, small)
        values, vectors = torch.linalg.eigh(on(small, self.device))
        return values.cpu().numpy(), vectors.cpu().numpy()

    # ------------------------------------------------------------------------------------------------ kept

    def room(self, part: slice, dtype: Any) -> Any:
        return TorchRoom(part.stop - part.start, dtype, self.device)

    def buffer(self, columns: Any) -> Any:
        return TorchBuffer(self, columns)

    def deck(self, Y: Any, gradient: Any, scaling: Any, history: int, compiled: bool) -> Any:
        return TorchDeck(Y, gradient, scaling, history)

    def _near(self, numbers: Any) -> torch.Tensor:
        """Numbers of a row or a column, on the device."""
        return numbers.t if isinstance(numbers, TorchArray) else on(numbers, self.device)


_PLACES: dict[str, TorchPlace] = {}


def place_on(device: torch.device) -> TorchPlace:
    """The place of a device: one for all who ask, so that blocks of two problems may be used together."""
    return _PLACES.setdefault(str(device), TorchPlace(device))
