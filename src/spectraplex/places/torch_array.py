"""Tensors that NumPy's own functions work on: what losses and measurements written for NumPy run with on a GPU.

Written by hand because a Torch tensor does not take part in NumPy's dispatch (NEP 13 and NEP 18), and the array API
standard lacks much that losses use (``logaddexp``, ``xlogy``, ``reduceat``, ``einsum``). A ``TorchArray`` holds one
tensor. Arithmetic (torch_operators.py), elementwise functions (torch_ufuncs.py) and the others that
are known (torch_functions.py) are done where it lies; a number that comes out of one (a
sum, a norm) is a number of this machine. Whatever is not in those lists is refused, so nothing tall moves unseen.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .torch_kinds import KINDS, on, torch_kind
from .torch_operators import Operators

#: Who does NumPy's functions: torch_functions.py says so when it is loaded.
DISPATCH: dict[str, Callable[..., Any]] = {}


class TorchArray(Operators):
    """A tensor with the manners of a NumPy array."""

    __slots__ = ("__weakref__", "t")
    __array_priority__ = 1000.0

    def __init__(self, t: torch.Tensor) -> None:
        self.t = t

    @staticmethod
    def of(t: torch.Tensor) -> TorchArray:
        """An ordinary one, also from what makes its tensor only when it is read (objectives/fused.py)."""
        return TorchArray(t)

    # ------------------------------------------------------------------------------------------------------ what it is

    @property
    def dtype(self) -> np.dtype[Any]:
        return KINDS[self.t.dtype]

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.t.shape)

    @property
    def ndim(self) -> int:
        return self.t.ndim

    @property
    def size(self) -> int:
        return self.t.numel()

    @property
    def nbytes(self) -> int:
        return self.t.numel() * self.t.element_size()

    @property
    def T(self) -> TorchArray:
        return TorchArray(self.t.t() if self.t.ndim == 2 else self.t)

    @property
    def real(self) -> TorchArray:
        return TorchArray(self.t.real) if self.t.is_complex() else self

    @property
    def imag(self) -> TorchArray:
        return TorchArray(self.t.imag if self.t.is_complex() else torch.zeros_like(self.t))

    def here(self) -> Any:
        """As an array of this machine."""
        return self.t.detach().resolve_conj().cpu().numpy()

    # ---------------------------------------------------------------------------------------------------------- shapes

    def conj(self) -> TorchArray:
        return TorchArray(self.t.conj()) if self.t.is_complex() else self

    def reshape(self, *shape: Any) -> TorchArray:
        return TorchArray(self.t.reshape(*shape))

    def ravel(self) -> TorchArray:
        return TorchArray(self.t.reshape(-1))

    def astype(self, dtype: Any, copy: bool = True) -> TorchArray:
        kind = torch_kind(dtype)
        return self if not copy and kind == self.t.dtype else TorchArray(self.t.to(kind, copy=copy))

    def gram(self, weights: Any = None) -> Any:
        """Aᵀ diag(weights) A, on this machine: as small as A has columns."""
        return times(self.t.t(), self.t if weights is None else self.like(weights)[:, None] * self.t).here()

    def copy(self) -> TorchArray:
        return TorchArray(self.t.resolve_conj().clone(memory_format=torch.contiguous_format))

    def __len__(self) -> int:
        return len(self.t)

    def __getitem__(self, index: Any) -> TorchArray:
        return TorchArray(self.t[self._index(index)])

    def __setitem__(self, index: Any, value: Any) -> None:
        self.t[self._index(index)] = self.like(value)

    def _index(self, index: Any) -> Any:
        if isinstance(index, tuple):
            return tuple(self._index(each) for each in index)
        if isinstance(index, TorchArray):
            return index.t if index.t.dtype == torch.bool else index.t.long()
        if isinstance(index, np.ndarray):
            return torch.as_tensor(index if index.dtype == bool else index.astype(np.int64), device=self.t.device)
        return index

    # ------------------------------------------------------------------------------------------------------ reductions

    def sum(self, axis: Any = None, dtype: Any = None) -> Any:
        return _told(torch.sum(self.t) if axis is None else torch.sum(self.t, dim=axis))

    def mean(self, axis: Any = None) -> Any:
        return _told(torch.mean(self.t) if axis is None else torch.mean(self.t, dim=axis))

    def max(self, axis: Any = None, initial: float | None = None) -> Any:
        return self._extreme(torch.amax, axis, initial, max)

    def min(self, axis: Any = None, initial: float | None = None) -> Any:
        return self._extreme(torch.amin, axis, initial, min)

    def _extreme(self, how: Any, axis: Any, initial: float | None, pick: Any) -> Any:
        if self.t.numel() == 0 and axis is None:
            if initial is None:
                raise ValueError("zero-size array to reduction operation which has no identity")
            return initial
        t = self.t.to(torch.uint8) if self.t.dtype == torch.bool else self.t
        if axis is not None:
            found = how(t, dim=axis)
            return TorchArray(found if initial is None else torch.clamp(found, **{_CLAMPS[pick]: initial}))
        found = _told(how(t))
        return found if initial is None else pick(found, initial)

    def all(self, axis: Any = None) -> Any:
        return _told(torch.all(self.t) if axis is None else torch.all(self.t, dim=axis))

    def any(self, axis: Any = None) -> Any:
        return _told(torch.any(self.t) if axis is None else torch.any(self.t, dim=axis))

    def argmax(self, axis: Any = None) -> Any:
        return _told(torch.argmax(self.t) if axis is None else torch.argmax(self.t, dim=axis))

    def argmin(self, axis: Any = None) -> Any:
        return _told(torch.argmin(self.t) if axis is None else torch.argmin(self.t, dim=axis))

    def __float__(self) -> float:
        return float(self.t.item())

    def __bool__(self) -> bool:
        return bool(self.t.item())

    # -------------------------------------------------------------------------------------------- beside other arrays

    def like(self, other: Any) -> Any:
        """Another operand as a tensor beside this one, or as a plain number."""
        if isinstance(other, TorchArray):
            return other.t
        if isinstance(other, torch.Tensor):
            return other
        if isinstance(other, np.ndarray):
            if other.ndim == 0:
                return other.item()
            return on(other, self.t.device)
        return other.item() if isinstance(other, np.generic) else other

    def beside(self, other: Any) -> TorchArray:
        """Another array or tensor, on this one's device."""
        return other if isinstance(other, TorchArray) else TorchArray(torch.as_tensor(other, device=self.t.device))

    def __matmul__(self, other: Any) -> Any:
        return times(self.t, self.like(other))

    def __rmatmul__(self, other: Any) -> Any:
        return times(self.like(other), self.t)

    # ----------------------------------------------------------------------------------------------------------- NumPy

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Any:
        raise TypeError(
            "an array on a device was handed to NumPy; only the verbs of its place bring it to this machine"
        )

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **named: Any) -> Any:
        return DISPATCH["ufunc"](self, ufunc, method, inputs, named)

    def __array_function__(self, function: Any, types: Any, arguments: Any, named: Any) -> Any:
        return DISPATCH["function"](self, function, arguments, named)

    @classmethod
    def __torch_function__(cls, function: Any, types: Any, arguments: Any = (), named: Any = None) -> Any:
        """Torch's own functions take it for the tensor that it holds."""
        return function(*_bare(arguments), **_bare(named or {}))

    def __repr__(self) -> str:
        return f"TorchArray({self.dtype} {self.shape} on {self.t.device})"


def _bare(thing: Any) -> Any:
    if isinstance(thing, dict):
        return {name: _bare(each) for name, each in thing.items()}
    if isinstance(thing, list | tuple):
        return type(thing)(_bare(each) for each in thing)
    return thing.t if isinstance(thing, TorchArray) else thing


_CLAMPS = {max: "min", min: "max"}


def times(A: Any, B: Any) -> Any:
    """A·B in the wider of both types."""
    if A.dtype != B.dtype:
        kind = torch.promote_types(A.dtype, B.dtype)
        A, B = A.to(kind), B.to(kind)
    return _told(A @ B)


def _told(t: torch.Tensor) -> Any:
    """A single number comes to this machine."""
    if t.ndim:
        return TorchArray(t)
    return np.asarray(t.item(), KINDS[t.dtype])[()]
