"""A second place, for the tests: its blocks and images can be handled by the verbs of a place and by nothing else.

Whoever adds two blocks, asks one for its shape or hands one to NumPy gets a ``TypeError`` that says what was tried. The
numbers are those of this machine: ``Sealed(objective)`` is the objective there.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from spectraplex.objectives.facts import facts_of
from spectraplex.places.here import HERE

_BLOCK_VALUED = (
    "axis", "blend", "cast", "columns", "copy", "divide", "from_host", "join", "orthonormal", "outer", "padded",
    "random", "reciprocal", "rows", "scale", "stack", "times", "turned", "unit", "without",
)  # fmt: skip
_SMALL_VALUED = (
    "dots",
    "finite",
    "gram",
    "kind",
    "largest",
    "length",
    "mark",
    "norms",
    "packed",
    "row",
    "to_host",
    "width",
)
_FORBIDDEN = """
add radd sub rsub mul rmul matmul rmatmul truediv rtruediv pow neg pos abs len iter getitem setitem contains lt le gt ge
bool float int complex index array array_ufunc array_function array_interface iadd isub imul
""".split()  # noqa: SIM905


class Shut:
    """Something tall: whatever is not a verb of its place is refused."""

    __slots__ = ("_inside",)

    def __init__(self, inside: Any) -> None:
        object.__setattr__(self, "_inside", inside)

    def __getattr__(self, name: str) -> Any:
        raise TypeError(f"a block was asked for {name!r}; only the verbs of its place may look inside")


def _refuses(name: str) -> Any:
    def refuse(self: Any, *arguments: Any, **named: Any) -> Any:
        raise TypeError(f"{name} of a block; only the verbs of its place may look inside")

    return refuse


for _name in _FORBIDDEN:
    setattr(Shut, f"__{_name}__", _refuses(f"__{_name}__"))


class ShutImage(Shut):
    """An image or a slope."""

    __slots__ = ()


def opened(thing: Any) -> Any:
    if isinstance(thing, list | tuple):
        return type(thing)(opened(each) for each in thing)
    return object.__getattribute__(thing, "_inside") if isinstance(thing, Shut) else thing


def _strictly(verb: str, arguments: tuple[Any, ...]) -> None:
    """A verb takes blocks of its own place: an array that slipped in would be a mistake on any other machine."""
    if verb in ("from_host", "axis", "random", "outer"):
        return
    if isinstance(arguments[0], np.ndarray | ShutImage):
        raise TypeError(f"{verb} was given an array or an image where a block belongs")


class SealedRoom:
    def __init__(self, inside: Any) -> None:
        self.inside = inside

    def write(self, at: int, columns: Shut) -> None:
        _strictly("write", (columns,))
        self.inside.write(at, opened(columns))

    def first(self, count: int) -> Shut:
        return Shut(self.inside.first(count))


class SealedBuffer:
    def __init__(self, place: SealedPlace, inside: Any) -> None:
        self.place, self.inside = place, inside

    @property
    def used(self) -> int:
        return self.inside.used

    @property
    def block(self) -> Shut:
        return Shut(self.inside.block)

    @property
    def single(self) -> Shut:
        return Shut(self.inside.single)

    def append(self, column: Shut) -> int:
        _strictly("append", (column,))
        return self.inside.append(opened(column))

    def kept(self, index: np.ndarray) -> SealedBuffer:
        return SealedBuffer(self.place, self.inside.kept(index))


class SealedDeck:
    def __init__(self, inside: Any) -> None:
        self.inside, self.slots = inside, inside.slots
        self.back, self.forth, self.shorten = inside.back, inside.forth, inside.shorten

    @property
    def here(self) -> Shut:
        return Shut(self.inside.here.copy())  # a block that was handed out does not change: who needs the new one asks

    @property
    def ahead(self) -> Shut:
        return Shut(self.inside.ahead.copy())

    def rescale(self, scaling: Shut) -> None:
        self.inside.rescale(opened(scaling))

    def turn(self, slots: Any, free: int, product: Shut, lean: float, factor: float) -> np.ndarray:
        return self.inside.turn(slots, free, opened(product), lean, factor)


class SealedPlace:
    """The verbs, each on what is inside."""

    name = "sealed"
    distant = wide = False
    rounds = bytes = 0

    def __init__(self) -> None:
        for verb in _BLOCK_VALUED:
            setattr(self, verb, self._of(verb, Shut))
        for verb in _SMALL_VALUED:
            setattr(self, verb, self._of(verb, lambda value: value))

    @staticmethod
    def _of(verb: str, wrap: Any) -> Any:
        def call(*arguments: Any) -> Any:
            _strictly(verb, arguments)
            return wrap(getattr(HERE, verb)(*opened(arguments)))

        return call

    def holds(self, thing: Any) -> bool:
        return isinstance(thing, Shut) and not isinstance(thing, ShutImage)

    def eigh(self, small: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        return HERE.eigh(small)

    def qr(self, A: Shut) -> tuple[Shut, np.ndarray]:
        Q, R = HERE.qr(opened(A))
        return Shut(Q), R

    def room(self, part: slice, dtype: Any) -> SealedRoom:
        return SealedRoom(HERE.room(part, dtype))

    def buffer(self, columns: Shut) -> SealedBuffer:
        _strictly("buffer", (columns,))
        return SealedBuffer(self, HERE.buffer(opened(columns)))

    def deck(self, Y: Shut, gradient: Shut, scaling: Shut, history: int, compiled: bool) -> SealedDeck:
        return SealedDeck(HERE.deck(*opened((Y, gradient, scaling)), history, compiled))


SEALED = SealedPlace()


class SealedImages:
    def __init__(self, inside: Any) -> None:
        self.inside = inside

    def plain(self, z: Any) -> bool:
        return isinstance(z, ShutImage) and self.inside.plain(opened(z))

    def blend(self, a: float, z: Any, b: float, w: Any) -> Any:
        return ShutImage(self.inside.blend(a, opened(z), b, opened(w)))

    def norm(self, z: Any) -> float:
        return self.inside.norm(opened(z))

    def count(self, z: Any) -> int:
        return self.inside.count(opened(z))

    def mark(self, z: Any) -> str:
        return self.inside.mark(opened(z))

    def pack(self, z: Any) -> np.ndarray:
        return self.inside.pack(opened(z))

    def unpack(self, array: np.ndarray) -> ShutImage:
        assert isinstance(array, np.ndarray)
        return ShutImage(self.inside.unpack(array))


@dataclass(frozen=True, eq=False)
class SealedOperator:
    """A gradient that multiplies sealed blocks."""

    inside: Any

    def __post_init__(self) -> None:
        for name in ("shape", "dtype", "hermitian", "noise", "dense"):
            object.__setattr__(self, name, getattr(self.inside, name))

    def matmat(self, V: Shut) -> Shut:
        _strictly("matmat", (V,))
        return Shut(self.inside.matmat(opened(V)))

    def rmatmat(self, U: Shut) -> Shut:
        _strictly("rmatmat", (U,))
        return Shut(self.inside.rmatmat(opened(U)))

    def scores(self, P: Shut, Q: Shut, count: int) -> np.ndarray:
        _strictly("scores", (P,))
        return self.inside.scores(opened(P), opened(Q), count)


class Sealed:
    """An objective on the sealed place: blocks in, images out, both shut."""

    place = SEALED

    def __new__(cls, inside: Any) -> Sealed:
        # fingerprints name the class of an objective, and this is the same function at another place
        return object.__new__(type(type(inside).__qualname__, (cls,), {}))

    def __init__(self, inside: Any) -> None:
        facts = facts_of(inside)
        self.inside, self.shape, self.dtype = inside, inside.shape, inside.dtype
        self.images = SealedImages(facts.images)
        for name in (
            "parts",
            "called",
            "start",
            "require_hermitian",
            "fitted",
            "dense",
            "held",
            "single",
            "inexact",
            "summed",
        ):
            setattr(self, name, getattr(facts, name))
        if facts.conjugate is not None:
            self.conjugate = lambda slope: facts.conjugate(opened(slope))
        if facts.rounding is not None:
            self.rounding = lambda value, slope, *sizes: facts.rounding(value, opened(slope), *sizes)
        names = ("smoothness", "strong_convexity", "hermitian_smoothness", "hermitian_strong_convexity", "condition")
        for name in (*names, "coverage", "reach", "bend", "steepest", "lower"):
            setattr(self, name, getattr(facts, name))

    def measure(self, U: Shut, s: np.ndarray, V: Shut) -> ShutImage:
        _strictly("measure", (U,))
        _strictly("measure", (V,))
        left = opened(U)
        return ShutImage(self.inside.measure(left, s, left if V is U else opened(V)))

    def combine(self, a: float, z: ShutImage, b: float, w: ShutImage) -> ShutImage:
        return ShutImage(self.inside.combine(a, opened(z), b, opened(w)))

    def evaluate(self, z: ShutImage) -> tuple[float, ShutImage]:
        assert isinstance(z, ShutImage)
        value, slope = self.inside.evaluate(opened(z))
        return value, ShutImage(slope)

    def along(self, z: ShutImage, dz: ShutImage) -> Any:
        return self.inside.along(opened(z), opened(dz))

    def pair(self, slope: ShutImage, z: ShutImage) -> float:
        return self.inside.pair(opened(slope), opened(z))

    def gradient(self, slope: ShutImage) -> SealedOperator:
        assert isinstance(slope, ShutImage)
        return SealedOperator(self.inside.gradient(opened(slope)))

    def __repr__(self) -> str:
        return f"sealed {self.inside!r}"
