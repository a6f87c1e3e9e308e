"""What is measured: one file a linear map. ``MEASUREMENTS`` names them; all are tested against every loss."""

from __future__ import annotations

from typing import Any

from .differences import Differences
from .entries import Entries
from .features import Features
from .identity import Identity
from .matrices import Matrices
from .pauli import Pauli
from .product import Product
from .protocol import Measurements
from .rank_ones import RankOnes

#: Name → what makes one.
MEASUREMENTS: dict[str, Any] = {
    "entries": Entries,
    "matrices": Matrices,
    "rank-ones": RankOnes,
    "identity": Identity,
    "features": Features,
    "differences": Differences,
    "pauli": Pauli,
    "product": Product,
}

__all__ = [
    "MEASUREMENTS",
    "Differences",
    "Entries",
    "Features",
    "Identity",
    "Matrices",
    "Measurements",
    "Pauli",
    "Product",
    "RankOnes",
]
