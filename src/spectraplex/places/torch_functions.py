"""NumPy's functions on ``TorchArray``s, by name; see torch_array.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import torch

from .torch_array import DISPATCH, TorchArray, times
from .torch_kinds import on, torch_kind
from .torch_ufuncs import run_ufunc

_FUNCTIONS: dict[Any, Callable[..., Any]] = {}


def _for(*functions: Any) -> Callable[..., Any]:
    def keep(own: Callable[..., Any]) -> Callable[..., Any]:
        for function in functions:
            _FUNCTIONS[function] = own
        return own

    return keep


def run_function(one: TorchArray, function: Any, arguments: Any, named: Any) -> Any:
    own = _FUNCTIONS.get(function)
    if own is None:
        raise TypeError(f"numpy.{function.__name__} is not known for arrays on a device.")
    return own(one, *arguments, **named)


@_for(np.sum)
def _sum(one: Any, a: TorchArray, axis: Any = None, **rest: Any) -> Any:
    return a.sum(axis)


@_for(np.mean)
def _mean(one: Any, a: TorchArray, axis: Any = None) -> Any:
    return a.mean(axis)


@_for(np.max, np.amax)
def _max(one: Any, a: TorchArray, axis: Any = None, initial: Any = None) -> Any:
    return a.max(axis, initial)


@_for(np.min, np.amin)
def _min(one: Any, a: TorchArray, axis: Any = None, initial: Any = None) -> Any:
    return a.min(axis, initial)


@_for(np.all)
def _all(one: Any, a: TorchArray, axis: Any = None) -> Any:
    return a.all(axis)


@_for(np.any)
def _any(one: Any, a: TorchArray, axis: Any = None) -> Any:
    return a.any(axis)


@_for(np.argmax)
def _argmax(one: Any, a: TorchArray, axis: Any = None) -> Any:
    return a.argmax(axis)


@_for(np.argmin)
def _argmin(one: Any, a: TorchArray, axis: Any = None) -> Any:
    return a.argmin(axis)


@_for(np.where)
def _where(one: TorchArray, condition: Any, x: Any, y: Any) -> TorchArray:
    pair = [one.like(each) for each in (x, y)]
    if any(isinstance(each, torch.Tensor) for each in pair):
        kinds = [each.dtype for each in pair if isinstance(each, torch.Tensor)]
        kind = kinds[0] if len(kinds) == 1 else torch.promote_types(*kinds)
    else:
        kind = torch_kind(np.result_type(*(np.asarray(each) for each in pair)))
    device = one.t.device
    x, y = (
        each.to(kind) if isinstance(each, torch.Tensor) else torch.as_tensor(each, dtype=kind, device=device)
        for each in pair
    )
    return TorchArray(torch.where(one.like(condition), x, y))


@_for(np.clip)
def _clip(one: Any, a: TorchArray, low: Any = None, high: Any = None, **rest: Any) -> TorchArray:
    return TorchArray(torch.clamp(a.t, one.like(low), one.like(high)))


@_for(np.dot)
def _dot(one: TorchArray, a: Any, b: Any) -> Any:
    return times(one.like(a), one.like(b))


@_for(np.vdot)
def _vdot(one: TorchArray, a: Any, b: Any) -> Any:
    a, b = (one.like(each).reshape(-1) for each in (a, b))
    kind = torch.promote_types(a.dtype, b.dtype)
    return np.asarray(torch.vdot(a.to(kind), b.to(kind)).item())[()]


@_for(np.einsum)
def _einsum(one: TorchArray, how: str, *operands: Any) -> Any:
    given = [one.like(each) for each in operands]
    kind = given[0].dtype
    for each in given[1:]:
        kind = torch.promote_types(kind, each.dtype)
    given = [each.to(kind) for each in given]
    if how == "ik,ik->k":
        return TorchArray((given[0] * given[1]).sum(0))
    if how in ("ik,ik->i", "ek,ek->e"):
        return TorchArray((given[0] * given[1]).sum(1))
    return TorchArray(torch.einsum(how, *given))


@_for(np.concatenate)
def _concatenate(one: TorchArray, arrays: Any, axis: int = 0) -> TorchArray:
    given = [one.like(np.asarray(each) if isinstance(each, list) else each) for each in arrays]
    kind = given[0].dtype
    for each in given[1:]:
        kind = torch.promote_types(kind, each.dtype)
    return TorchArray(torch.cat([each.to(kind) for each in given], dim=axis))


@_for(np.append)
def _append(one: TorchArray, a: Any, more: Any) -> TorchArray:
    return _concatenate(one, [a, np.atleast_1d(more)])


@_for(np.argsort)
def _argsort(one: Any, a: TorchArray, kind: Any = None) -> TorchArray:
    return TorchArray(torch.argsort(a.t, stable=True))


@_for(np.stack)
def _stack(one: TorchArray, arrays: Any, axis: int = 0) -> TorchArray:
    return TorchArray(torch.stack([one.like(each) for each in arrays], dim=axis))


def _new(a: TorchArray, dtype: Any, shape: Any) -> dict[str, Any]:
    kind = a.t.dtype if dtype is None else torch_kind(dtype)
    size = a.shape if shape is None else (shape,) if isinstance(shape, int) else tuple(shape)
    return dict(size=size, dtype=kind, device=a.t.device)


@_for(np.zeros_like)
def _zeros_like(one: Any, a: TorchArray, dtype: Any = None, shape: Any = None) -> TorchArray:
    return TorchArray(torch.zeros(**_new(a, dtype, shape)))


@_for(np.ones_like)
def _ones_like(one: Any, a: TorchArray, dtype: Any = None, shape: Any = None) -> TorchArray:
    return TorchArray(torch.ones(**_new(a, dtype, shape)))


@_for(np.empty_like)
def _empty_like(one: Any, a: TorchArray, dtype: Any = None) -> TorchArray:
    return TorchArray(torch.empty_like(a.t, dtype=None if dtype is None else torch_kind(dtype)))


@_for(np.full_like)
def _full_like(one: Any, a: TorchArray, value: Any, dtype: Any = None) -> TorchArray:
    return TorchArray(torch.full_like(a.t, value, dtype=None if dtype is None else torch_kind(dtype)))


@_for(np.linalg.norm)
def _norm(one: Any, a: TorchArray, axis: Any = None) -> Any:
    found = torch.linalg.vector_norm(a.t, dim=axis)
    return TorchArray(found) if found.ndim else float(found.item())


@_for(np.linalg.eigh)
def _eigh(one: Any, a: TorchArray) -> tuple[Any, TorchArray]:
    """Eigenvalues are small, and come here."""
    values, vectors = torch.linalg.eigh(a.t)
    return values.cpu().numpy(), TorchArray(vectors)


@_for(np.linalg.svd)
def _svd(one: Any, a: TorchArray, full_matrices: bool = True) -> tuple[TorchArray, Any, TorchArray]:
    U, s, Vh = torch.linalg.svd(a.t, full_matrices=full_matrices)
    return TorchArray(U), s.cpu().numpy(), TorchArray(Vh)


@_for(np.bincount)
def _bincount(one: TorchArray, which: Any, weights: Any = None, minlength: int = 0) -> TorchArray:
    at = one.like(which).long()
    length = max(minlength, int(at.max().item()) + 1 if at.numel() else 0)
    w = torch.ones(at.shape, dtype=torch.float64, device=at.device) if weights is None else one.like(weights).double()
    return TorchArray(torch.zeros(length, dtype=w.dtype, device=at.device).index_add_(0, at, w))


@_for(np.repeat)
def _repeat(one: TorchArray, a: Any, many: Any, axis: Any = None) -> TorchArray:
    t = on(a, one.t.device) if isinstance(a, np.ndarray) else one.like(a)
    return TorchArray(torch.repeat_interleave(t, one.like(many), dim=axis))


@_for(np.nonzero)
def _nonzero(one: Any, a: TorchArray) -> tuple[TorchArray, ...]:
    return tuple(TorchArray(each) for each in torch.nonzero(a.t, as_tuple=True))


@_for(np.diff)
def _diff(one: Any, a: TorchArray) -> TorchArray:
    return TorchArray(torch.diff(a.t))


@_for(np.result_type)
def _result_type(one: Any, *given: Any) -> np.dtype[Any]:
    return np.result_type(*(each.dtype if isinstance(each, TorchArray) else each for each in given))


@_for(np.outer)
def _outer(one: TorchArray, a: Any, b: Any) -> TorchArray:
    return TorchArray(torch.outer(one.like(a), one.like(b)))


@_for(np.shape)
def _shape(one: Any, a: TorchArray) -> tuple[int, ...]:
    return a.shape


@_for(np.ndim)
def _ndim(one: Any, a: TorchArray) -> int:
    return a.ndim


@_for(np.size)
def _size(one: Any, a: TorchArray) -> int:
    return a.size


DISPATCH.update(ufunc=run_ufunc, function=run_function)
