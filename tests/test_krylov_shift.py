"""A basis with a rank-one shift: its Ritz pairs and residuals are those of the shifted matrix, also after a restart."""

from __future__ import annotations

import numpy as np
import pytest

from spectraplex.eigen.krylov import Space
from spectraplex.eigen.leading import leading
from spectraplex.matrices.lifted import Lifted, Shifted
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


@pytest.mark.parametrize("d", [20, 300])
def test_only_the_outermost_shift_is_left_out(d):
    """A penalty's descent is a shifted one itself, and its own shift stays."""
    rng = np.random.default_rng(2)
    A = rng.standard_normal((d, d))
    inside = Shifted(Lifted(Dense(A + A.T, True, lambda: 0.0), slice(0, d), slice(0, d), d, 1.0), *unit(rng, d, 200.0))
    x, strength = unit(rng, d, 3.0)
    found = leading(Shifted(inside, x, strength), plain=True, rng=rng, accuracy=1e-8)
    want = np.linalg.eigvalsh(A + A.T + 200.0 * inside.X @ inside.X.T)[-1]
    assert found.plain[0] == pytest.approx(want, rel=1e-6)
    assert leading(inside.inside, plain=True, rng=rng).plain is None


def unit(rng, d, strength):
    x = rng.standard_normal((d, 1))
    return x / np.linalg.norm(x), np.array([strength])


@pytest.mark.parametrize("size", [(40, 30), (160, 140)])  # decomposed whole, and searched for
@pytest.mark.parametrize("complex_", [False, True])
def test_the_vector_without_the_shift_costs_no_product(size, complex_):
    rng = np.random.default_rng(7)
    m, n = size
    G = rng.standard_normal((m, n)) + (1j * rng.standard_normal((m, n)) if complex_ else 0.0)
    d, scale = m + n, 2.0
    x = rng.standard_normal((d, 1)).astype(G.dtype)
    x /= np.linalg.norm(x)
    asked = {"accuracy": 1e-9, "max_products": 3000.0}
    alone, both = (Lifted(Dense(G), slice(0, m), slice(m, d), d, scale) for _ in range(2))
    first = leading(Shifted(alone, x, np.array([3.0])), rng=np.random.default_rng(1), **asked)
    found = leading(Shifted(both, x, np.array([3.0])), rng=np.random.default_rng(1), plain=True, **asked)
    assert first.plain is None
    assert both.products == (2 if d <= 200 else 1) * alone.products  # a small one is formed twice
    np.testing.assert_array_equal(found.vectors, first.vectors)
    value, vector = found.plain
    A = Lifted(Dense(G), slice(0, m), slice(m, d), d, scale).dense()
    assert np.linalg.norm(vector) == pytest.approx(1.0, abs=1e-12)
    assert value == pytest.approx(float((vector.conj().T @ A @ vector)[0, 0].real), rel=1e-10)
    top = float(np.linalg.svd(G, compute_uv=False)[0])  # of scale/2·[[0, G], [Gᴴ, 0]]
    if d <= 200:
        assert value == pytest.approx(top, rel=1e-12)
    else:  # the space was grown for another vector: it is as good as that one let it become
        v = found.vectors
        assert 0.9 * top <= value <= top * (1.0 + 1e-12)
        assert value >= float((v.conj().T @ A @ v)[0, 0].real) - 1e-10 * top
