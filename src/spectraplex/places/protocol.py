"""What a place is: where everything as long as the matrix lives, and the verbs that methods handle it with.

Tall things are *blocks*: columns as long as the matrix upstairs, or as one of its sides. Methods never look inside one.
What is at most as large as a basis (Gram matrices, coordinates, weights, scores) is *small*: a NumPy array, everywhere.
``HERE`` (here.py) is this machine with NumPy arrays; ``spectraplex.check(place)`` tries any other.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np

from .numpy import Array

#: Tall columns, known to their place alone.
Block = Any


class Room(Protocol):
    """Columns that are written one after the other, without copying those that are there."""

    def write(self, at: int, columns: Block) -> None:
        """Put columns at a position; what lay there and behind is lost."""

    def first(self, count: int) -> Block:
        """The first columns, as a block."""


class Buffer(Protocol):
    """The columns of atoms: only ever added to, shared by many ``Atoms``."""

    @property
    def used(self) -> int: ...
    @property
    def place(self) -> Place: ...
    @property
    def block(self) -> Block:
        """All columns, and perhaps some more behind the first ``used``."""

    @property
    def single(self) -> Block:
        """The same in single precision, for comparing atoms, never for values."""

    def append(self, column: Block) -> int:
        """Add one column; where it is."""
        ...

    def kept(self, index: Array) -> Buffer:
        """A new buffer with some of the columns, and room for more."""
        ...


class Deck(Protocol):
    """What a limited-memory quasi-Newton method keeps of a block: pairs (s, t), their scaling, and three passes.

    Slot ``free`` is where the direction under trial lies: where there is no other of the ``slots``, that of the oldest
    pair, which ``forth`` still reads before it writes. All sums are in double. See methods/quasi_newton.py.
    """

    slots: int

    def rescale(self, scaling: Block) -> None: ...
    def back(self, slots: list[int], a: Array) -> Array:
        """r = scaling·(g − Σ aᵢTᵢ), kept; ⟨Tᵢ, r⟩."""
        ...

    def forth(self, slots: list[int], c: Array, factor: float, free: int) -> tuple[float, float, float]:
        """d = −(factor·r + Σ cᵢSᵢ) and ahead = Y + d, kept; ⟨d, g⟩, ‖d‖² and ‖ahead‖²."""
        ...

    def shorten(self, free: int, share: float) -> float:
        """d becomes share·d, and ahead Y + d; ‖ahead‖²."""
        ...

    def turn(self, slots: list[int], free: int, product: Block, lean: float, factor: float) -> Array:
        """g becomes factor·(product − lean·ahead), T its change, Y what was ahead.

        ⟨Sᵢ, g⟩ for every slot, then ⟨d, g⟩, ⟨d, t⟩, ⟨t, scaling·t⟩ and ‖t‖².
        """
        ...

    @property
    def here(self) -> Block:
        """Y."""

    @property
    def ahead(self) -> Block:
        """Y + d; the next turn or pass overwrites it."""


class Place(Protocol):
    """The verbs. A is a block with k columns; an index is a slice, integers, or one boolean a column.

    A *part* is where a block lies upstairs, as a slice of rows: the whole, or one side. Two sides may be equally long.
    """

    name: str
    distant: bool  # every question is dear: a trip to other machines
    wide: bool  # many products at once take little more time than one
    rounds: int  # such trips so far, and
    bytes: int  # what they carried; zeros where nothing travels

    # ------------------------------------------------------------------------------------------------ in and out
    def from_host(self, array: Array, part: slice | None = None) -> Block:
        """A block that lies in a part; None is the whole."""

    def to_host(self, A: Block) -> Array: ...
    def packed(self, A: Block) -> Any:
        """As an array of this machine, or, where that would be too tall, as a ``Tall``; ``from_host`` takes both."""
        ...

    def holds(self, thing: Any) -> bool:
        """Whether this is a block of this place."""
        ...

    def random(self, part: slice, count: int, dtype: str, rng: np.random.Generator) -> Block:
        """Unit columns, each uniform on the sphere."""

    def axis(self, part: slice, at: int, dtype: str) -> Block:
        """One column of zeros, but for a one in row ``at`` of the part."""

    # ------------------------------------------------------------------------------------------------ block-valued
    def columns(self, A: Block, index: Any) -> Block: ...
    def join(self, *blocks: Block) -> Block:
        """[A, B, …]."""

    def rows(self, A: Block, part: slice) -> Block:
        """One side of a block upstairs."""

    def stack(self, *blocks: Block) -> Block:
        """Sides on top of each other."""

    def padded(self, A: Block, more: int) -> Block:
        """With rows of zeros below."""

    def times(self, A: Block, small: Array) -> Block:
        """A·small."""

    def turned(self, A: Block, small: Array) -> Block:
        """A·small, summed in double and stored in the precision of A."""

    def scale(self, A: Block, weights: Array | float) -> Block:
        """Every column times a number of its own, or all times one."""

    def blend(self, a: float, A: Block, b: float, B: Block) -> Block:
        """a·A + b·B."""

    def divide(self, A: Block, numbers: Array) -> Block:
        """Every column divided by a number of its own."""

    def unit(self, A: Block) -> Block:
        """Every column divided by its norm."""

    def cast(self, A: Block, dtype: Any) -> Block:
        """In another precision, or complex; perhaps the same block where it is that already."""

    def copy(self, A: Block, dtype: Any) -> Block:
        """The same, and in any case a block of its own."""

    def orthonormal(self, A: Block, basis: Block | None = None) -> Block:
        """Orthonormal columns with the span of A, orthogonal to a basis; directions lost to rounding are left out."""

    def without(self, A: Block, basis: Block) -> Block:
        """A less its part in the span of an orthonormal basis: A − B·(BᴴA)."""

    def qr(self, A: Block) -> tuple[Block, Array]:
        """A = Q·R with orthonormal columns and a small R; for blocks that are at least as long as wide."""
        ...

    def outer(self, part: slice, terms: list[tuple[slice, Array, Array]]) -> Block:
        """Σ rows·columnᵀ: each term has numbers a row, on a part of the rows, and numbers a column."""

    def reciprocal(self, A: Block, a: float, b: float) -> Block:
        """a/(A + b), entry by entry; A and b are at least zero, and not both zero. A may be overwritten."""

    # ------------------------------------------------------------------------------------------------ small-valued
    def length(self, A: Block) -> int: ...
    def width(self, A: Block) -> int: ...
    def kind(self, A: Block) -> np.dtype[Any]:
        """What its numbers are."""
        ...

    def row(self, A: Block, at: int) -> Array:
        """One row: k numbers."""
        ...

    def gram(self, A: Block, B: Block) -> Array:
        """AᴴB, summed in double."""
        ...

    def dots(self, A: Block, B: Block, weights: Array | None = None) -> Array:
        """Re aₖᴴbₖ of the columns, the rows weighted."""
        ...

    def norms(self, A: Block) -> Array:
        """‖aₖ‖ of the columns, summed in double."""
        ...

    def largest(self, A: Block) -> float:
        """max |entry|."""
        ...

    def finite(self, A: Block) -> bool: ...
    def mark(self, A: Block) -> Array:
        """Two words that stand for all of it, the same at every place; see marks.py."""
        ...

    def eigh(self, small: Array) -> tuple[Array, Array]:
        """Eigenvalues, least first, and eigenvectors of a small Hermitian matrix: by whatever is quick at hand."""
        ...

    # ------------------------------------------------------------------------------------------------ kept
    def room(self, part: slice, dtype: Any) -> Room: ...
    def buffer(self, columns: Block) -> Buffer: ...
    def deck(self, Y: Block, gradient: Block, scaling: Block, history: int, compiled: bool) -> Deck: ...


def on_device(place: Place) -> bool:
    """Whether many products at once take little more time than one, and no question is dear: a GPU."""
    return place.wide and not place.distant
