"""Checks at the door: what was wrong, where, and what to do about it."""

from __future__ import annotations

import math
from numbers import Integral, Real
from operator import index
from typing import Any

import numpy as np

from .places.numpy import Array

_BLOCK = 1 << 20  # numbers of a block that is looked at in one piece


def numbers(owner: str, name: str, values: Any, *, ndim: int | None = None) -> Array:
    """A float64 or complex128 array without NaN or infinity."""
    if np.ma.is_masked(values):
        raise ValueError(f"{owner}: {name} has masked entries; leave those out (values.compressed()) or fill them in.")
    array = as_array(owner, name, values)
    if array.dtype.kind not in "buifc":
        raise TypeError(f"{owner}: {name} must be numbers, got dtype {array.dtype}.")
    if ndim is not None and array.ndim != ndim:
        raise ValueError(f"{owner}: {name} must have {ndim} dimension(s), got shape {array.shape}.")
    array = np.ascontiguousarray(array, dtype=np.complex128 if array.dtype.kind == "c" else np.float64)
    bad = ~np.isfinite(array)
    if bad.any():
        place = tuple(int(i) for i in np.argwhere(bad)[0])
        where = place[0] if array.ndim == 1 else place
        raise ValueError(
            f"{owner}: {name}[{where}] is {array[place]}; remove or replace it ({int(bad.sum())} such in all)."
        )
    return array


def as_array(owner: str, name: str, values: Any) -> Array:
    """An array of anything; rows of different lengths are none."""
    try:
        return np.asarray(from_tensor(values))
    except ValueError:
        raise ValueError(f"{owner}: {name} is ragged: all rows need the same length.") from None


def from_tensor(values: Any) -> Any:
    """A Torch tensor as an array of this machine; anything else as it is."""
    if not _is_tensor(values):
        return values
    values = values.detach().resolve_conj().cpu()
    return (values.float() if str(values.dtype) in ("torch.bfloat16", "torch.float16") else values).numpy()


def device_of(*values: Any) -> str | None:
    """The device of the tensors among what a user gave: the problem is computed there. None where there is none."""
    found = sorted({str(each.device) for each in values if _is_tensor(each)})
    if len(found) > 1:
        raise ValueError(f"tensors on different devices were given, {' and '.join(found)}; move them to one.")
    return found[0] if found else None


def _is_tensor(values: Any) -> bool:
    """Without loading Torch."""
    return type(values).__module__.split(".")[0] == "torch" and hasattr(values, "detach")


def indices(owner: str, name: str, values: Any, bound: int) -> Array:
    """A one-dimensional integer array within 0 … bound − 1."""
    array = as_array(owner, name, values)
    if array.ndim != 1:
        raise ValueError(f"{owner}: {name} must be one-dimensional, got shape {array.shape}.")
    if array.size and array.dtype.kind not in "iu":
        if array.dtype.kind != "f":
            raise TypeError(f"{owner}: {name} must be integers, got dtype {array.dtype}.")
        broken = ~np.isfinite(array) | (array != np.floor(array))
        if broken.any():
            place = int(np.argmax(broken))
            raise TypeError(f"{owner}: {name}[{place}] is {array[place]}, but indices must be integers.")
    outside = (array < 0) | (array >= bound)
    if outside.any():
        place = int(np.argmax(outside))
        raise ValueError(
            f"{owner}: {name}[{place}] is {array[place]}, outside 0 … {bound - 1}; "
            "indices count from zero, or the shape is too small."
        )
    return array.astype(np.int64) if array.dtype.kind == "f" else array


def positive_weights(owner: str, weights: Any, count: int) -> Array | None:
    if weights is None:
        return None
    array = numbers(owner, "weights", weights, ndim=1)
    if array.dtype.kind == "c":
        raise TypeError(f"{owner}: weights must be real, got complex numbers.")
    if array.size != count:
        raise ValueError(f"{owner}: {array.size} weights for {count} observations; give one each.")
    if not (array > 0).all():
        place = int(np.argmin(array > 0))
        raise ValueError(f"{owner}: weights[{place}] is {array[place]}; weights are positive (leave the entry out).")
    return array


def number(owner: str, name: str, value: Any, *, positive: bool = False, sign: bool = False) -> float:
    """A finite real number that is not negative, or that is positive, or (``sign``) any."""
    words = "positive and finite" if positive else "a finite number" if sign else "a non-negative number"
    if isinstance(value, np.ndarray | np.generic):
        fine = value.ndim == 0 and value.dtype.kind in "iuf"
    else:
        fine = hasattr(value, "__float__") and not isinstance(value, bool | type)
    if not fine:
        raise TypeError(f"{owner}: {name} must be a number, got {value!r}.")
    given = as_float(value)
    if not np.isfinite(given) or (given < 0 and not sign) or (positive and given == 0):
        raise ValueError(f"{owner}: {name} must be {words}, got {value!r}.")
    return given


def as_float(value: Any) -> float:
    """A whole number too large for floating point is infinite."""
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def not_tiny(owner: str, name: str, value: float, least: float) -> float:
    """Refuse what would leave too few digits for its parts."""
    if value < least:
        raise ValueError(
            f"{owner}: {name} {value!r} is too small for floating point (less than {least:.3g}); multiply data and "
            f"{name} by the same large number, and divide X by it."
        )
    return value


def whole(owner: str, name: str, value: Any, least: int = 1) -> int:
    """A whole number, at least ``least``."""
    if not is_whole(value) or value < least:
        raise ValueError(f"{owner}: {name} must be a whole number ≥ {least}, got {value!r}.")
    return index(value)


def setting(model: Any, name: str, words: str, fine: bool) -> None:
    """Refuse a parameter of an estimator that is not what ``words`` say."""
    if not fine:
        raise ValueError(f"{type(model).__name__}: {name} must be {words}, got {getattr(model, name)!r}.")


def radius_setting(model: Any) -> None:
    """An estimator's radius is a positive number, or "auto"."""
    radius = model.radius
    fine = is_word(radius, "auto") or (is_real(radius) and 0 < radius < math.inf)
    setting(model, "radius", "a positive number or 'auto'", fine)


def share(owner: str, name: str, value: Any) -> float:
    """A number between 0 and 1, neither of them."""
    if not is_real(value) or not 0 < value < 1:
        raise ValueError(f"{owner}: {name} must be a number between 0 and 1, got {value!r}.")
    return float(value)


def chance(owner: str, name: str, value: Any) -> float:
    """A probability that something fails: neither never nor always."""
    if not is_real(value) or not 0 < value < 1:
        raise ValueError(f"{owner}: {name} is a probability between 0 and 1, got {value!r}.")
    return float(value)


def is_real(value: Any) -> bool:
    """Whether it is a real number, of whatever library; True and False are none."""
    return isinstance(value, Real) and not isinstance(value, bool)


def is_whole(value: Any) -> bool:
    """Whether it is a whole number by its type; True and False are none, 3.0 is none."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_word(value: Any, word: str) -> bool:
    """Whether it is this word. An array compared with a word is no truth value, so that the type is asked first."""
    return isinstance(value, str) and value == word


def is_flag(value: Any) -> bool:
    """True or False, Python's or NumPy's."""
    return isinstance(value, bool | np.bool_)


def kind_or_say(owner: str, dtype: Any) -> str:
    """ "float64" or "complex128", from whatever NumPy takes for one of them."""
    try:
        kind = str(np.dtype(dtype).name)
    except TypeError:
        kind = ""
    if kind not in ("float64", "complex128"):
        raise ValueError(f"{owner}: dtype must be 'float64' or 'complex128', got {dtype!r}.")
    return kind


def flag(owner: str, name: str, value: Any) -> bool:
    """True or False; a word such as "no" is neither."""
    if not is_flag(value):
        raise TypeError(f"{owner}: {name} must be True or False, got {value!r}.")
    return bool(value)


def two_dimensions(owner: str, shape: Any) -> tuple[int, int]:
    try:
        m, n = shape
    except (TypeError, ValueError):
        raise ValueError(f"{owner}: shape must be (rows, columns), got {shape!r}.") from None
    try:
        m, n = index(m), index(n)
    except TypeError:
        raise ValueError(f"{owner}: shape must be two whole numbers, got {shape!r}.") from None
    if m < 1 or n < 1:
        raise ValueError(f"{owner}: shape must be at least 1 × 1, got {shape!r}.")
    return m, n


def hermitian_or_say(owner: str, name: str, matrix: Array) -> bool:
    """Refuse a matrix that differs from its conjugate transpose, saying where; True when it is exactly Hermitian."""
    if matrix.shape[-1] != matrix.shape[-2]:
        raise ValueError(f"{owner}: {name} is {matrix.shape[-2]}×{matrix.shape[-1]}; this domain needs square ones.")
    worst, place = _skewest(matrix)
    if worst > 0.0 and worst > 1e-10 * max(_largest(matrix), np.finfo(float).tiny):
        raise ValueError(
            f"{owner}: {name} is not Hermitian: {name}[{place}] = {matrix[place]:.6g} differs from the conjugate of "
            f"its mirror by {worst:.3g}; pass ({name} + {name}ᴴ)/2 if that is what you mean."
        )
    return worst == 0.0


def _skewest(matrix: Array) -> tuple[float, tuple[int, ...]]:
    """The largest |A − Aᴴ| of one matrix or a stack, and where; by blocks, because a stack may fill the memory."""
    n, worst, place = matrix.shape[-1], 0.0, (0, 0, 0)
    stack = matrix.reshape(math.prod(matrix.shape[:-2]), n, n)
    step, rows = max(1, _BLOCK // max(1, n * n)), max(1, _BLOCK // max(1, n))
    for at in range(0, len(stack), step):
        part = stack[at : at + step]
        for first in range(0, n, rows):  # what lies below this block's columns was a mirror of earlier ones
            mirror = part[:, first:, first : first + rows].conj().swapaxes(-1, -2)
            difference = np.abs(part[:, first : first + rows, first:] - mirror)
            if not difference.max() <= worst:
                i, j, k = (int(i) for i in np.unravel_index(np.argmax(difference), difference.shape))
                worst, place = float(difference[i, j, k]), (at + i, first + j, first + k)
    return worst, place[3 - matrix.ndim :]


def _largest(matrix: Array) -> float:
    """The largest |entry|, by blocks."""
    flat = matrix.reshape(-1)
    return max(float(np.abs(flat[at : at + _BLOCK]).max()) for at in range(0, flat.size, _BLOCK))
