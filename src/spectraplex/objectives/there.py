"""The same objective at another place: its arrays moved to a device, the code that was written for NumPy run on them.

``moved`` copies an objective and everything inside it that is an array, a pattern or a sparse matrix. What certificates
and methods want to know of an objective (constants, fingerprints) is asked of the one that stayed here, once.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, cast

import numpy as np
import torch

from ..fingerprint import fingerprint
from ..matrices.given import as_operator
from ..matrices.operators import Sparse
from ..matrices.protocol import column_scores
from ..places.device_memory import require_room
from ..places.here import HERE
from ..places.numpy import Array, inner
from ..places.pattern import Pattern
from ..places.tensors import TensorPlace
from ..places.torch import TorchPlace
from ..places.torch_array import TorchArray
from ..places.torch_kinds import on
from ..places.torch_marks import rows_mark
from ..places.torch_pattern import TorchPattern, TorchSparse
from ..places.torch_tall import TorchTall
from ..rounding import norm
from .facts import ObjectiveFacts, facts_of, facts_read
from .fused import FusedGradient, Sampled, Sloped, fused_table

_ASKED = ("parts", "called", "start", "require_hermitian", "require_signs", "fitted", "dense", "held", "single")
_MORE = ("inexact", "summed", "given_smoothness")
_NUMBERS = (
    "smoothness",
    "strong_convexity",
    "hermitian_smoothness",
    "hermitian_strong_convexity",
    "condition",
    "coverage",
    "reach",
    "bend",
    "steepest",
    "lower",
)


class TorchImages:
    """Verbs on images and slopes that are tensors; see images.py."""

    def __init__(self, place: TorchPlace) -> None:
        self.place = place

    def plain(self, z: Any) -> bool:
        return isinstance(z, TorchArray)

    def blend(self, a: float, z: Any, b: float, w: Any) -> Any:
        return a * z + b * w

    def norm(self, z: Any) -> float:
        return norm(z)

    def count(self, z: Any) -> int:
        return z.size if isinstance(z, TorchArray) else 1

    def mark(self, z: Any) -> str:
        return fingerprint(f"{z.dtype.str}{z.shape}", rows_mark(z.t))

    def pack(self, z: Any) -> Any:
        return TorchTall(TorchArray(z.t))

    def unpack(self, array: Any) -> Any:
        array = array.held if isinstance(array, TorchTall) else array
        return array if isinstance(array, TorchArray) else TorchArray(on(np.asarray(array), self.place.device))


@dataclass(frozen=True, eq=False)
class TorchOperator:
    """A gradient whose products are made on a device; its whole matrix, where somebody asks for it, comes here."""

    inside: Any
    place: TorchPlace
    _light: list[Sparse] = field(default_factory=list, repr=False)

    @property
    def shape(self) -> tuple[int, int]:
        return (int(self.inside.shape[0]), int(self.inside.shape[1]))

    @property
    def dtype(self) -> str:
        return str(self.inside.dtype)

    @property
    def hermitian(self) -> bool:
        return bool(self.inside.hermitian)

    def noise(self) -> float:
        return float(self.inside.noise())

    def matmat(self, V: Any) -> Any:
        return self._beside(V).matmat(V)

    def rmatmat(self, U: Any) -> Any:
        return self._beside(U).rmatmat(U)

    def stacked(self, U: Any, V: Any) -> Any:
        """G·V above Gᴴ·U, where both are written into one block; None elsewhere."""
        return self.inside.stacked(U, V) if isinstance(self.inside, FusedGradient) else None

    def _beside(self, V: Any) -> Any:
        """The entries of a sparse matrix are read in single precision for a block that is: half of the bytes."""
        if not isinstance(self.inside, Sparse) or V.dtype != np.float32 or self.inside.data.dtype != np.float64:
            return self.inside
        if not self._light:
            self._light.append(Sparse(self.inside.pattern, self.inside.data.astype(np.float32)))
        return self._light[0]

    def scores(self, P: Any, Q: Any, count: int) -> Array:
        return column_scores(self, P, Q, count, self.place)

    def dense(self) -> Array:
        whole = self.inside.dense()
        return np.asarray(whole.here() if isinstance(whole, TorchArray) else whole)


class There:
    """An objective whose tall things are on a device; ``home`` is the same one on this machine."""

    def __new__(cls, home: Any, place: TorchPlace, tensors: bool = False) -> There:
        # fingerprints name the class of an objective, and this is the same function at another place
        return object.__new__(type(type(home).__qualname__, (cls,), {}))

    device = None  # it is there already

    def __init__(self, home: Any, place: TorchPlace, tensors: bool = False) -> None:
        self.home, self.place, self.images = home, place, TorchImages(place)
        self.shape, self.dtype, self.tensors = home.shape, str(home.dtype), tensors
        self.returned: Any = TensorPlace(place) if tensors else HERE
        facts = facts_of(home)
        for name in (*_ASKED, *_MORE):
            setattr(self, name, getattr(facts, name))
        self._facts_here = facts
        self.some = self.units = None  # parts of the observations are taken on this machine alone
        self.conjugate = None if facts.conjugate is None else self._conjugate
        self.rounding = None if facts.rounding is None else self._rounding

    @cached_property
    def inside(self) -> Any:
        """The objective with its arrays on the device; moved when it is first used."""
        if self.place.device.type == "cuda":
            free = torch.cuda.mem_get_info(self.place.device)[0] + torch.cuda.memory_reserved(self.place.device)
            free -= torch.cuda.memory_allocated(self.place.device)
            require_room(self.home, image_size(self.home), free, str(self.place.device))
        return moved(self.home, self.place)

    @cached_property
    def _own_facts(self) -> ObjectiveFacts:
        """The record of this objective itself: rules of ``home`` that are used here ask for it, not for that inside."""
        return facts_read(self)

    def __getattr__(self, name: str) -> Any:
        if name in _NUMBERS:
            return getattr(self.__dict__["_facts_here"], name)
        if name.startswith("__") or "home" not in self.__dict__:
            raise AttributeError(name)
        return getattr(self.inside, name)

    @cached_property
    def fused(self) -> Any:
        """Fused passes over a table, on a GPU; None where there are none."""
        if self.place.device.type != "cuda":
            return None
        return fused_table(self.inside)

    def measure(self, U: Any, s: Array, V: Any) -> Any:
        if self.fused is not None and self.fused.fits(U, s, V):
            return self.fused.measure(U, s, V)
        return self.inside.measure(U, s, V)

    def combine(self, a: float, z: Any, b: float, w: Any) -> Any:
        if isinstance(z, TorchArray) and isinstance(w, TorchArray):
            return TorchArray(torch.add(z.t if a == 1.0 else a * z.t, w.t, alpha=b))
        return self.inside.combine(a, z, b, w)

    def evaluate(self, z: Any) -> tuple[float, Any]:
        if self.fused is not None and isinstance(z, Sampled) and not z.made:
            value, slope = self.fused.evaluate(z)
        else:
            value, slope = self.inside.evaluate(z)
        return float(value), slope

    def along(self, z: Any, dz: Any) -> Any:
        return self.inside.along(z, dz)

    def pair(self, slope: Any, z: Any) -> float:
        if isinstance(slope, Sloped) and slope.image is z:
            return float(slope.match)
        return inner(cast(Array, slope), z) if isinstance(slope, TorchArray) else float(self.inside.pair(slope, z))

    def gradient(self, slope: Any) -> TorchOperator:
        if isinstance(slope, Sloped):
            return TorchOperator(FusedGradient(self.fused, slope), self.place)
        return TorchOperator(as_operator(self.inside.gradient(slope)), self.place)

    def _conjugate(self, slope: Any) -> Any:
        return self.inside.conjugate(slope)

    def _rounding(self, value: float, slope: Any, size: float, terms: int) -> float:
        """The rule of the objective itself, with the constants from here and the numbers from there."""
        return float(type(self.home).rounding(self, value, slope, size, terms))

    def __repr__(self) -> str:
        return f"{self.home!r} on {self.place.device}"


def image_size(objective: Any) -> int:
    """How many numbers an image has; as many as the matrix where that is not known."""
    m, n = objective.shape
    for name in ("targets", "values"):
        if name in vars(objective):
            return int(np.size(vars(objective)[name]))
    return m * n


def moved(thing: Any, place: TorchPlace, known: dict[Any, Any] | None = None) -> Any:
    """A copy with every array, pattern and sparse matrix inside it on the device; what is shared stays shared."""
    known = {} if known is None else known
    if id(thing) in known:
        return known[id(thing)][1]
    new = _moved(thing, place, known)
    known[id(thing)] = (thing, new)  # the thing is held, so that its number is not given to another one
    return new


def _moved(thing: Any, place: TorchPlace, known: dict[Any, Any]) -> Any:
    if isinstance(thing, np.ndarray):
        return _array(thing, place, known)
    if thing is HERE:
        return place
    if isinstance(thing, Pattern):
        return TorchPattern.of(thing, place.device)
    if isinstance(thing, list | tuple) and type(thing) in (list, tuple):
        return type(thing)(moved(each, place, known) for each in thing)
    if hasattr(thing, "tocsr"):
        return TorchSparse(thing, place.device)
    if isinstance(thing, type) or callable(thing) or not hasattr(thing, "__dict__"):
        return thing
    new = copy.copy(thing)
    lazy = {
        name for each in type(thing).__mro__ for name, kept in vars(each).items() if isinstance(kept, cached_property)
    }
    for name, value in vars(thing).items():
        if name in lazy:
            new.__dict__.pop(name, None)
        else:
            new.__dict__[name] = moved(value, place, known)
    return new


def _array(array: Array, place: TorchPlace, known: dict[Any, Any]) -> Any:
    """Numbers go to the device; an array that is another one turned round stays that there."""
    if array.dtype.kind not in "buifc" or array.ndim == 0:
        return array
    key = (array.__array_interface__["data"][0], array.shape, array.strides, array.dtype.str)
    turned = (key[0], key[1][::-1], key[2][::-1], key[3])
    if key in known:
        return known[key][1]
    if array.ndim == 2 and turned in known:
        return known[turned][1].T
    new = TorchArray(on(array, place.device))
    known[key] = (array, new)
    return new
