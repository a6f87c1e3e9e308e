"""Smooth: a user's own function of a dense X."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..checks import kind_or_say, number, numbers, two_dimensions
from ..fingerprint import identity
from ..losses.curves import NotFinite, Smoothly
from ..matrices.factors import Rectangular, Symmetric
from ..matrices.operators import Dense
from ..places.numpy import Array, dagger, inner


class Smooth:
    """A differentiable convex function given as ``value_and_gradient(X) -> (value, gradient)``.

    It must be convex on the domain; what it is elsewhere steers methods at most, and proves nothing. (With a penalty
    the domain is all matrices of its shape, or all X ⪰ 0.)

    Parameters
    ----------
    value_and_gradient : gets a dense array of ``shape`` and returns a number and an array of that shape; the gradient
        G means f(X + D) ≈ f(X) + Re tr(GᴴD).
    shape : (m, n).
    dtype : "float64" or "complex128".
    smoothness, strong_convexity : constants in the Frobenius norm, where you know them. Methods that need a missing
        one refuse; ``spectraplex.check`` tests what is claimed.
    lower : a number that the function is nowhere below (over all matrices of the shape; zero for a sum of squares).
        With a penalty in place of a domain no lower bound can be proven without it.
    start : a matrix of the domain, dense or as factors, where the function is finite; for functions that are not at
        the domain's own start, such as −log det X or a likelihood at zero.
    parts : arrays that the function depends on, for its fingerprint: a certificate is then refused for other data. By
        default the function is known by its qualified name, and a certificate by the value at X.
    """

    def __init__(
        self,
        value_and_gradient: Callable[[Array], tuple[float, Array]],
        shape: tuple[int, int],
        dtype: str = "float64",
        smoothness: float | None = None,
        strong_convexity: float | None = None,
        lower: float | None = None,
        parts: Sequence[Any] = (),
        start: Any = None,
    ) -> None:
        if not callable(value_and_gradient):
            raise TypeError(f"Smooth: value_and_gradient must be callable, got {type(value_and_gradient).__name__}.")
        self.value_and_gradient = value_and_gradient
        self.shape = two_dimensions("Smooth", shape)
        self.dtype = kind_or_say("Smooth", dtype)
        self.smoothness = None if smoothness is None else number("Smooth", "smoothness", smoothness)
        self.strong_convexity = (
            None if strong_convexity is None else number("Smooth", "strong_convexity", strong_convexity)
        )
        self.lower = None if lower is None else number("Smooth", "lower", lower, sign=True)
        self._parts = tuple(np.array(part) for part in parts)
        self._start = numbers("Smooth", "start", start, ndim=2) if isinstance(start, list | np.ndarray) else start
        if isinstance(self._start, np.ndarray) and self._start.shape != self.shape:
            raise ValueError(f"Smooth: start has shape {self._start.shape}, but X has shape {self.shape}.")

    dense = True
    reach = 1.0  # the image is X itself

    @property
    def bend(self) -> float | None:
        return self.smoothness

    def parts(self) -> tuple[Any, ...]:
        """What is known of the function: its name, and the arrays that it was said to depend on."""
        told = "nothing" if self.lower is None else self.lower.hex()
        name = f"Smooth {self.shape[0]}×{self.shape[1]} {self.dtype} lower {told}"
        return (name, identity(self.value_and_gradient), *self._parts)

    def measure(self, U: Array, s: Array, V: Array) -> Array:
        return (U * s) @ dagger(V)

    def combine(self, a: float, z: Array, b: float, w: Array) -> Array:
        return a * z + b * w

    def evaluate(self, z: Array) -> tuple[float, Array]:
        answer: Any = self.value_and_gradient(z.copy())  # a copy: the image stays ours whatever the function does
        try:
            value, gradient = answer
            value, gradient = float(value), np.asarray(gradient) if isinstance(z, np.ndarray) else z.beside(gradient)
        except (TypeError, ValueError):
            raise TypeError(
                "Smooth: value_and_gradient must return (number, array), got " + _describe(answer) + "."
            ) from None
        if gradient.shape != self.shape:
            raise ValueError(f"Smooth: the gradient has shape {gradient.shape}, but X has shape {self.shape}.")
        if gradient.dtype.kind == "c" and self.dtype == "float64":
            raise TypeError("Smooth: the gradient is complex; say dtype='complex128' if X is meant to be complex.")
        if not (np.isfinite(value) and np.isfinite(gradient).all()):
            raise NotFinite("value_and_gradient returned NaN or infinity", float(value))
        return value, gradient.astype(self.dtype, copy=False)

    def along(self, z: Array, dz: Array) -> Smoothly:
        def at(size: float) -> tuple[float, float]:
            try:
                value, gradient = self.evaluate(z + size * dz)
            except NotFinite:
                return np.nan, np.nan
            return value, inner(gradient, dz)

        return Smoothly(at)

    def start(self, domain: Any) -> Any:
        """Where the function was said to be finite; None where nothing was said."""
        if not isinstance(self._start, np.ndarray):
            return self._start
        if domain.hermitian:
            values, vectors = np.linalg.eigh(self._start)
            return Symmetric(vectors[:, values > 0], values[values > 0])
        U, s, Vh = np.linalg.svd(self._start, full_matrices=False)
        return Rectangular(U, s, dagger(Vh))

    def pair(self, slope: Array, z: Array) -> float:
        return inner(slope, z)

    def gradient(self, slope: Array) -> Dense:
        return Dense(slope)

    def __repr__(self) -> str:
        name = getattr(self.value_and_gradient, "__name__", "function")
        return f"Smooth({name}, {self.shape[0]}×{self.shape[1]}, {self.dtype})"


def _describe(answer: Any) -> str:
    return f"a {len(answer)}-tuple" if isinstance(answer, tuple) else type(answer).__name__
