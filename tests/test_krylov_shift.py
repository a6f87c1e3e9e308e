"""A basis with a rank-one shift: its Ritz pairs and residuals are those of the shifted matrix, also after a restart."""

from __future__ import annotations

import numpy as np
import pytest

from spectraplex.eigen.krylov import Space
from spectraplex.matrices.lifted import Lifted
from spectraplex.matrices.operators import Dense


@pytest.mark.parametrize("kind", ["one side", "two sides", "two sides, x on one", "complex"])
@pytest.mark.parametrize("columns", [1, 2])
def test_residuals_are_those_of_the_shifted_matrix(kind, columns):
    rng = np.random.default_rng(4)
    m, n = (50, 50) if kind == "one side" else (40, 30)
    G, d = rng.standard_normal((m, n)), m if kind == "one side" else m + n
    if kind == "complex":
        G = G + 1j * rng.standard_normal((m, n))
    G = G + G.T if kind == "one side" else G
    left, right = (slice(0, d), slice(0, d)) if kind == "one side" else (slice(0, m), slice(m, d))
    operator = Lifted(Dense(G, kind == "one side", lambda: 0.0), left, right, d, 1.0)
    X, strength = rng.standard_normal((d, columns)).astype(G.dtype), np.array([9.0, 5.0])[:columns]
    if kind == "two sides, x on one":
        X[m:] = 0.0
    X /= np.linalg.norm(X, axis=0)
    whole = operator.dense() + (X * strength) @ X.conj().T
    space = Space(operator, G.dtype, (X, strength))
    space.seed(None, 1, rng)
    for turn in range(4):
        found = space.extract(2)
        vectors = space.assemble(found.parts)
        # where the basis has few vectors a Ritz vector need not be a unit vector but for rounding: it is made one
        residual = whole @ vectors - vectors * found.values
        told = np.concatenate(found.residual) if len(space.sides) == 2 else found.residual[0]
        assert np.abs(residual - told).max() <= 1e-12 * np.linalg.norm(whole, 2)
        space.chain(found, np.zeros(2, bool)[: found.values.size], 4, rng)
        if turn == 1:
            space.restart(3)
