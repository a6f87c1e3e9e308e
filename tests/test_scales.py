"""Data of any size that leaves f finite: no warning, no exception, and the answers of data of size one.

Scales are powers of two, so that multiplying by them rounds nothing: what differs is a number that left the range of
floating point on the way, or a constant that was not measured beside the data.
"""

from __future__ import annotations

from functools import cache
from importlib import import_module

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import problems
import spectraplex as sx
from problems import WHOLE
from spectraplex.eigen.leading import leading
from spectraplex.losses.curves import Smoothly
from spectraplex.matrices.operators import Dense
from spectraplex.places.numpy import norms

SCALES = [2.0**power for power in (-465, -332, -166, 166, 332, 465)]  # about 1e-140 … 1e140: f is up to about 1e280
STEPS = 8  # few enough for rounding errors to stay small
# After an exact line search between two atoms their scores are equal: rounding alone says which is the worst.
TIED = {"pairwise", "ror-adaptive"}


def quadratic(A, smoothness):
    def function(X):
        return 0.5 * float(np.sum((X - A) ** 2)), X - A

    return sx.Smooth(function, A.shape, smoothness=smoothness)


def made(name, c):
    rng = np.random.default_rng(0)
    A, B = rng.standard_normal((2, 6, 6))
    A, B = A + A.T, B[:, :5]
    rows, cols = np.nonzero(rng.random((6, 5)) < 0.7)
    values, ball = rng.standard_normal(rows.size), sx.NuclearBall((6, 5), 2 * c)
    matrices = [M + M.T for M in rng.standard_normal((9, 5, 5))]
    if name == "distance, spectrahedron":
        return sx.Problem(sx.Distance(c * A), sx.Spectrahedron(6, 2 * c))
    if name == "distance, trace ball":
        return sx.Problem(sx.Distance(c * A), sx.TraceBall(6, 2 * c))
    if name == "distance, ball":
        return sx.Problem(sx.Distance(c * B), ball)
    if name == "distance, sparse":
        return sx.Problem(sx.Distance(csr_matrix(c * B)), ball)
    if name == "completion":
        return sx.Problem(sx.Completion(rows, cols, c * values, (6, 5)), ball)
    if name == "completion, huber":
        return sx.Problem(sx.Completion(rows, cols, c * values, (6, 5), "huber", delta=c), ball)
    if name == "sensing":
        return sx.Problem(sx.Sensing(matrices, c * rng.standard_normal(9)), sx.Spectrahedron(5, c))
    return sx.Problem(quadratic(c * A, 1.0 if name == "own function" else None), sx.Spectrahedron(6, 2 * c))


NAMES = [
    "distance, spectrahedron",
    "distance, trace ball",
    "distance, ball",
    "distance, sparse",
    "completion",
    "completion, huber",
    "sensing",
    "own function",
    "own function, no smoothness",
]


def runs(method):
    """The problems a method can be asked for."""
    return [name for name in NAMES if not (name == "own function, no smoothness" and method in ("ror", "ror-full"))]


@cache
def solved(method, name, c):
    """With the same random starts at every scale: usually they depend on the data, and the data are scaled."""
    with pytest.MonkeyPatch.context() as patch:
        for module in ("run", "certificates.certifier"):
            room = import_module(f"spectraplex.{module}")
            patch.setattr(room, "stream", lambda seed, *marks: np.random.default_rng(seed))
        return sx.solve(made(name, c), method, sx.Stop(max_steps=STEPS, relative_gap=1e-9))


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("method", WHOLE)
def test_answers_do_not_hang_on_the_unit_of_the_data(method, scale):
    for name in runs(method):
        one, other = solved(method, name, 1.0), solved(method, name, scale)
        assert other.lower_bound <= other.value, name
        if method in TIED:
            assert other.value / scale / scale == pytest.approx(one.value, abs=0.01 * one.trace[0].value), name
            continue
        assert other.value / scale / scale == pytest.approx(one.value, rel=1e-6, abs=1e-9), name
        X, Y = one.X.dense(), other.X.dense() / scale
        np.testing.assert_allclose(Y, X, atol=1e-3 * np.abs(X).max(), err_msg=name)


@pytest.mark.parametrize("scale", SCALES)
@pytest.mark.parametrize("method", ["hybrid", "cg", "in-face", "apgd"])
def test_bounds_do_not_hang_on_the_unit_of_the_data(method, scale):
    for name in runs(method):
        one, other = solved(method, name, 1.0), solved(method, name, scale)
        assert other.lower_bound / scale / scale == pytest.approx(one.lower_bound, rel=1e-5, abs=1e-9), name
        # a run that ends near the gap that was asked for may fall on either side of it
        near = all(each.gap <= 1e-8 * each.value for each in (one, other))
        assert other.status is one.status or near, name


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1.0, 1e160, 1e300])
@pytest.mark.parametrize("columns", [1, 4])
def test_norms_are_those_of_size_one(columns, scale):
    block = np.random.default_rng(1).standard_normal((50, columns))
    np.testing.assert_allclose(norms(scale * block), scale * np.linalg.norm(block, axis=0), rtol=1e-12)
    assert not norms(0.0 * block).any()
    assert np.isinf(norms(np.full((3, columns), np.inf))).all()


@pytest.mark.parametrize("scale", [1e-300, 1e-160, 1e160, 1e300])
def test_eigenvectors_of_any_size(scale):
    A = problems.normal(np.random.default_rng(2), (30, 30), False)
    A = A + A.T
    found = leading(Dense(scale * A, hermitian=True), 2, rng=np.random.default_rng(3))
    np.testing.assert_allclose(found.values / scale, np.linalg.eigvalsh(A)[::-1][:2], rtol=1e-10)
    assert found.converged and np.all(found.errors <= 1e-7 * scale)


@pytest.mark.parametrize("scale", [1e-250, 1e250])
def test_a_line_search_on_a_curve_of_any_size(scale):
    curve = Smoothly(lambda s: (scale * (np.exp(3 * s) - 5 * s), scale * (3 * np.exp(3 * s) - 5)))
    assert curve.minimize(1.0) == pytest.approx(np.log(5 / 3) / 3, rel=1e-9)
