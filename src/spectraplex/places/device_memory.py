"""How much memory a problem needs on a device, before any work; and what is said where there is too little."""

from __future__ import annotations

from typing import Any

import numpy as np

from .pattern import Pattern

_ENTRY = 4 + 4 + 4 + 4 + 8  # bytes of a position: both ways, its order, its row, and what sorting takes
_IMAGES = 4  # images and slopes that are held at a time
_ATOMS = 64  # atoms that there should be room for at least
_COPIES = 13  # of the atoms: those before and after a step, the point, the gradient, six pairs with three digits


class DeviceFull(MemoryError):
    """A problem does not fit a device."""


def bytes_of(thing: Any, seen: set[int] | None = None) -> int:
    """The arrays inside an objective, as they will lie on a device."""
    seen = set() if seen is None else seen
    if id(thing) in seen:
        return 0
    seen.add(id(thing))
    if isinstance(thing, np.ndarray):
        if thing.base is not None and id(thing.base) in seen:
            return 0
        seen.add(id(thing.base))
        return thing.nbytes if thing.dtype.kind in "buifc" else 0
    if isinstance(thing, Pattern):
        return _ENTRY * thing.size + 16 * sum(thing.shape)
    if hasattr(thing, "tocsr"):
        return int(2 * (thing.data.nbytes + 4 * thing.data.size))
    if isinstance(thing, list | tuple):
        return sum(bytes_of(each, seen) for each in thing)
    if isinstance(thing, type) or callable(thing) or not hasattr(thing, "__dict__"):
        return 0
    return sum(bytes_of(each, seen) for each in vars(thing).values())


def require_room(objective: Any, count: int, free: float, device: str) -> None:
    """Refuse an objective whose arrays, images of ``count`` numbers and a few atoms need more than is free."""
    m, n = objective.shape
    data, images, atoms = bytes_of(objective), 8 * _IMAGES * count, 8 * _COPIES * (m + n) * _ATOMS // 2
    whole = data + images + atoms
    if whole <= free:
        return
    raise DeviceFull(
        f"{device} has {free / 1e9:.1f} GB free, and this problem needs {whole / 1e9:.1f} GB: {data / 1e9:.1f} for the "
        f"data, {images / 1e9:.1f} for images of it, {atoms / 1e9:.1f} for {_ATOMS} atoms and what a descent keeps of "
        "them. Free memory there, use a device with more, compute on this machine (no device), or share the rows out "
        "over a cluster (docs/cluster.md)."
    )


def is_full(error: BaseException) -> bool:
    """Whether a device ran out of memory."""
    return type(error).__name__ == "OutOfMemoryError"


def let_go() -> None:
    """Give cached memory back to the device, where Torch is in use."""
    import sys

    torch = sys.modules.get("torch")
    if torch is not None and torch.cuda.is_available():
        torch.cuda.empty_cache()
