"""Fingerprints: what a certificate or a saved run is about, so that it is not taken for something else."""

from __future__ import annotations

from typing import Any

import numpy as np

from .arrays import random_unit
from .factors import Factors, Symmetric
from .linesearch import NotFinite
from .problem import Problem


def fingerprint(*parts: Any) -> str:
    """SHA-256 of arrays (shape, type, bytes) and strings."""
    import hashlib

    digest = hashlib.sha256()
    for part in parts:
        if isinstance(part, str):
            digest.update(part.encode())
        else:
            array = np.ascontiguousarray(part)
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(array.data if array.size else b"")
        digest.update(b"\x00")
    return digest.hexdigest()


def factors_fingerprint(X: Factors) -> str:
    return fingerprint(*X.triple()[: 2 if isinstance(X, Symmetric) else 3])


def data_fingerprint(problem: Problem) -> str:
    """Of everything the problem depends on; a user's own function is known by its values at two fixed matrices."""
    objective = problem.objective
    if hasattr(objective, "parts"):
        return fingerprint(repr(problem.domain), *objective.parts())
    rng = np.random.default_rng(0)
    seen: list[Any] = [repr(problem.domain), repr(objective)]
    for _ in range(2):
        vector = random_unit(problem.domain.dimension, problem.dtype, rng)
        atoms = problem.domain.start(problem.dtype, rng).blend(vector, 0.5)
        try:
            seen.append(float(problem.point(atoms).value).hex())
        except NotFinite:
            seen.append("not finite")
    return fingerprint(*seen)
