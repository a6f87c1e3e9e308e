"""Rooms and buffers on a cluster: columns joined as they come."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .numpy import Array
from .rounds import Pair

if TYPE_CHECKING:
    from .dask import ClusterPlace


class ClusterRoom:
    """Columns of the left side, joined as they come."""

    def __init__(self, place: ClusterPlace, part: slice, dtype: Any) -> None:
        self.place, self.part, self.dtype = place, part, dtype
        self.block: Any = None

    def write(self, at: int, columns: Any) -> None:
        columns = self.place.cast(columns, self.dtype)
        self.block = columns if at == 0 else self.place.join(self.first(at), columns)

    def first(self, count: int) -> Any:
        place = self.place
        if self.block is None:
            none = place.left("zeros", 0, np.dtype(self.dtype).name, -1, width=0, dtype=self.dtype)
            below = self.part.stop - place.m
            return none if below == 0 else Pair(none, np.empty((below, 0), self.dtype))
        return self.block if place.width(self.block) == count else place.columns(self.block, slice(0, count))


class ClusterBuffer:
    """The columns of atoms, joined as they come."""

    def __init__(self, place: ClusterPlace, columns: Any) -> None:
        self.place, self.block = place, columns

    @property
    def used(self) -> int:
        return self.place.width(self.block)

    @property
    def single(self) -> Any:
        kind = np.complex64 if self.place.kind(self.block).kind == "c" else np.float32
        return self.place.cast(self.block, kind)

    def append(self, column: Any) -> int:
        self.block = self.place.join(self.block, self.place.cast(column, self.place.kind(self.block)))
        return self.used - 1

    def kept(self, index: Array) -> ClusterBuffer:
        return ClusterBuffer(self.place, self.place.columns(self.block, index))
