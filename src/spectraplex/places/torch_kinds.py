"""Types of NumPy and of Torch, and arrays of this machine as tensors on a device."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch

#: what a tensor's type is called in NumPy
KINDS: dict[torch.dtype, np.dtype[Any]] = {
    torch.float64: np.dtype(np.float64),
    torch.float32: np.dtype(np.float32),
    torch.complex128: np.dtype(np.complex128),
    torch.complex64: np.dtype(np.complex64),
    torch.int64: np.dtype(np.int64),
    torch.int32: np.dtype(np.int32),
    torch.bool: np.dtype(np.bool_),
}
_TENSORS = {kind: name for name, kind in KINDS.items()}


def torch_kind(dtype: Any) -> torch.dtype:
    """The tensor type of a NumPy type; unsigned whole numbers become signed ones of 64 bits."""
    kind = np.dtype(dtype)
    if kind.kind in "iu" and kind not in _TENSORS:
        return torch.int64
    return _TENSORS[kind]


def on(array: Any, device: Any) -> torch.Tensor:
    """An array of this machine as a tensor there; signed whole numbers, because tensors know few others."""
    array = np.asarray(array)
    if array.dtype.kind == "u":
        array = array.astype(np.int32 if array.dtype.itemsize <= 4 and array.max(initial=0) < 2**31 else np.int64)
    if array.dtype not in _TENSORS:
        array = array.astype(np.complex128 if array.dtype.kind == "c" else np.float64)
    if any(step < 0 for step in array.strides) or not array.flags.writeable:
        array = array.copy()
    return torch.as_tensor(array, device=device)
