"""Products with wide blocks are done some columns at a time: the same numbers."""

import numpy as np
import pytest

import dense
from spectraplex.places import pattern as patterns
from spectraplex.places.pattern import Pattern


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("width", [2, 3, 32, 33, 65, 150])
def test_columns_taken_some_at_a_time(monkeypatch, dtype, width):
    rng = np.random.default_rng(2)
    rows, cols = np.nonzero(rng.random((60, 40)) < 0.3)
    observed = Pattern.from_sorted(rows, cols, (60, 40))
    kind = "complex128" if dtype == "complex128" else "float64"
    U, V = (dense.normal(rng, (size, width), kind).astype(dtype) for size in (60, 40))
    data, weights = dense.normal(rng, rows.size, kind), rng.random(width)
    whole = observed.multiply(data, V), observed.sample(U, V, weights)
    assert len(patterns._blocks(V)) == 1
    monkeypatch.setattr(patterns, "_SCATTERED", 0)
    monkeypatch.setattr(patterns, "_GATHERED", 0)
    several = patterns._blocks(V)
    assert len(several) == -(-width // 32)
    assert [column for some in several for column in range(width)[some]] == list(range(width))
    np.testing.assert_array_equal(observed.multiply(data, V), whole[0])  # every column is summed alone
    sizes = np.abs(U[rows]) * weights * np.abs(V[cols])
    allowed = 4 * width * np.finfo(np.float64).eps * sizes.sum(axis=1)
    assert np.all(np.abs(observed.sample(U, V, weights) - whole[1]) <= allowed)
