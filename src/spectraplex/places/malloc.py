"""How the C library gives memory back, for processes that should stay small."""

from __future__ import annotations

import ctypes
import sys

_MMAP_THRESHOLD, _LARGE = -3, 1 << 20  # the number of the setting in malloc.h, and bytes


def large_blocks_go_back() -> bool:
    """Have the memory of blocks above a megabyte go back to the system as soon as they are freed; False if it cannot.

    glibc begins so, but raises that limit to the size of every such block that is freed, up to 32 MB: arrays of
    some megabytes then lie among smaller things, and what is free between them is kept. With the columns of a
    table on a client that is half as much again as what is in use.
    """
    if sys.platform != "linux":
        return False
    try:
        return bool(ctypes.CDLL(None).mallopt(_MMAP_THRESHOLD, _LARGE))
    except (AttributeError, OSError):  # another C library
        return False
