"""NumPy's and scipy.special's elementwise functions on ``TorchArray``s, by name; see torch_array.py."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from .torch_array import TorchArray, times

#: elementwise functions of NumPy and of scipy.special: name ↦ what Torch calls them
_UFUNCS: dict[str, Callable[..., torch.Tensor]] = {
    "add": torch.add,
    "subtract": torch.sub,
    "multiply": torch.mul,
    "divide": torch.true_divide,
    "true_divide": torch.true_divide,
    "power": torch.pow,
    "negative": torch.neg,
    "absolute": torch.abs,
    "conjugate": torch.conj_physical,
    "sqrt": torch.sqrt,
    "square": torch.square,
    "exp": torch.exp,
    "expm1": torch.expm1,
    "log": torch.log,
    "log1p": torch.log1p,
    "logaddexp": torch.logaddexp,
    "hypot": torch.hypot,
    "maximum": torch.maximum,
    "minimum": torch.minimum,
    "sign": torch.sign,
    "isfinite": torch.isfinite,
    "isnan": torch.isnan,
    "greater": torch.gt,
    "greater_equal": torch.ge,
    "less": torch.lt,
    "less_equal": torch.le,
    "equal": torch.eq,
    "not_equal": torch.ne,
    "logical_and": torch.logical_and,
    "logical_or": torch.logical_or,
    "logical_not": torch.logical_not,
    "bitwise_and": torch.logical_and,
    "bitwise_or": torch.logical_or,
    "invert": torch.logical_not,
    "expit": torch.special.expit,
    "xlogy": torch.special.xlogy,
    "xlog1py": torch.special.xlog1py,
    "entr": torch.special.entr,
    "gammaln": torch.special.gammaln,
    "log_expit": torch.nn.functional.logsigmoid,
}
_TENSORS_ONLY = {"logaddexp", "hypot", "maximum", "minimum", "xlogy", "xlog1py"}
_REDUCED = {"add": "sum", "maximum": "max", "minimum": "min"}


def run_ufunc(one: TorchArray, ufunc: Any, method: str, inputs: Any, named: dict[str, Any]) -> Any:
    name = ufunc.__name__
    if named.get("out") is not None or named.get("where", True) is not True:
        raise TypeError(f"numpy.{name} with out= or where= is not known for arrays on a device; use numpy.where.")
    if method == "reduceat" and name in _REDUCED:
        values, starts = one.like(inputs[0]), one.like(inputs[1])
        ends = torch.cat([starts.long(), torch.tensor([values.numel()], device=values.device)])
        return TorchArray(torch.segment_reduce(values, _REDUCED[name], offsets=ends))
    if method == "reduce" and name in _REDUCED:
        return getattr(TorchArray(one.like(inputs[0])), _REDUCED[name])(axis=named.get("axis", 0))
    if name in ("matmul", "vecdot"):
        return times(*(one.like(each) for each in inputs))
    if method != "__call__" or name not in _UFUNCS:
        raise TypeError(f"numpy.{name} ({method}) is not known for arrays on a device.")
    given = [one.like(each) for each in inputs]
    if len(given) > 1 and (name in _TENSORS_ONLY or not isinstance(given[0], torch.Tensor)):
        given = _tensors(given, one.t.device)
    return TorchArray(_UFUNCS[name](*given))


def _tensors(given: list[Any], device: Any) -> list[torch.Tensor]:
    """Numbers become tensors of the type of what they stand beside."""
    kind = next(each.dtype for each in given if isinstance(each, torch.Tensor) and each.ndim)
    for each in given:
        if isinstance(each, torch.Tensor):
            kind = torch.promote_types(kind, each.dtype)
    return [
        each.to(kind) if isinstance(each, torch.Tensor) else torch.as_tensor(each, dtype=kind, device=device)
        for each in given
    ]
