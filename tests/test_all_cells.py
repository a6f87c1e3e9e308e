"""AllCells against the same function written densely: value, gradient, conjugate, line search, certificates."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spectraplex as sx
from spectraplex.objectives.all_cells import AllCells
from spectraplex.objectives.distance import Factored

SHAPE = (14, 11)


class Both:
    """The function, and a dense ``Fit`` of all cells that differs from it by a constant; dense matrices of weights."""

    def __init__(self, seed=0, scaled=True, share=0.25):
        rng = np.random.default_rng(seed)
        m, n = SHAPE
        seen = rng.random(SHAPE) < share
        seen[0, 0] = True
        rows, cols = np.nonzero(seen)
        weights, targets = rng.uniform(0.2, 4.0, rows.size), rng.uniform(0.5, 1.5, rows.size)
        ones = (np.ones(m), np.ones(n))
        s, t = (rng.uniform(0.5, 2.0, m), rng.uniform(0.5, 2.0, n)) if scaled else ones
        a, d = rng.uniform(0.3, 1.2, m), rng.uniform(0.3, 1.2, n)
        scales = (s, t) if scaled else None
        self.sparse = AllCells(rows, cols, targets, weights, SHAPE, (a, d), scales)
        sigma, each = np.outer(s, t), np.outer(a, d) ** 2
        bend, pull = each.copy(), np.zeros(SHAPE)
        bend[rows, cols] += weights * sigma[rows, cols] ** 2
        pull[rows, cols] = weights * sigma[rows, cols] * targets
        self.dense = sx.Fit(sx.Identity(SHAPE), (pull / bend).reshape(-1), weights=bend.reshape(-1))
        self.constant = 0.5 * float(weights @ targets**2) - 0.5 * float((pull**2 / bend).sum())
        self.rng, self.steepest = rng, float(bend.max())

    def factors(self, rank=3):
        return self.rng.standard_normal((SHAPE[0], rank)), self.rng.random(rank), self.rng.standard_normal((11, rank))


@pytest.mark.parametrize("scaled", [True, False])
def test_gradient_conjugate_and_linearity_hold(scaled):
    report = sx.check(Both(scaled=scaled).sparse)
    assert report.ok, str(report)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.booleans(), st.floats(-2.0, 2.0), st.floats(-2.0, 2.0))
def test_every_number_is_that_of_the_dense_function(seed, scaled, a, b):
    both = Both(seed, scaled)
    f, g, U, V = both.sparse, both.dense, both.factors(), both.factors(2)
    z, w, y, x = f.measure(*U), f.measure(*V), g.measure(*U), g.measure(*V)
    z, y = f.combine(a, f.combine(1.0, z, b, w), 0.5, z), g.combine(a, g.combine(1.0, y, b, x), 0.5, y)
    assert z.s.size == 5  # the columns of one matrix are held once
    value, slope = f.evaluate(z)
    other, dense = g.evaluate(y)
    close = {"rel": 1e-10, "abs": 1e-9}
    assert value == pytest.approx(other + both.constant, **close)
    assert np.allclose(f.gradient(slope).dense(), g.gradient(dense).dense(), atol=1e-10 * (1 + np.abs(dense).max()))
    assert f.pair(slope, w) == pytest.approx(g.pair(dense, x), **close)
    mine, theirs = f.along(z, w), g.along(y, x)
    assert mine.derivative(0.0) == pytest.approx(theirs.derivative(0.0), **close)
    assert mine.curvature(0.0) == pytest.approx(theirs.curvature(0.0), **close)
    assert mine.value(0.7) == pytest.approx(theirs.value(0.7) + both.constant, **close)
    # Fenchel's equality fixes the conjugate at the slope; along c it is the quadratic of Σ over all cells
    conjugate = f.conjugate(slope)
    assert value + conjugate.at(1.0) == pytest.approx(f.pair(slope, z), **close)
    rounding = f.rounding(value, slope, float(np.abs(z.s).sum()) * 100, z.s.size)
    assert abs(f.evaluate(f.measure(z.U, z.s, z.V))[0] - value) <= rounding < 1e-6 * (1.0 + value)


def test_the_conjugate_is_a_supremum():
    """f*(c·y) ≥ ⟨c·y, (z, S)⟩ − f for any seen entries and any matrix, also where they belong to no common W."""
    both = Both(3)
    f, rng = both.sparse, both.rng
    slope = f.evaluate(f.measure(*both.factors()))[1]
    a, d = f.everywhere
    S = a[:, None] * (slope.U * slope.s) @ slope.V.T * d
    for c in (0.3, 1.0, 2.5):
        best = f.conjugate(slope).at(c)
        for _ in range(50):
            z, M = rng.standard_normal(f.targets.size), rng.standard_normal(SHAPE)
            loss = 0.5 * float(f.weights @ (z - f.targets) ** 2) + 0.5 * float((M**2).sum())
            assert c * float(slope.entries @ z + (S * M).sum()) - loss <= best + 1e-9
        z, M = f.targets + c * slope.entries / f.weights, c * S
        loss = 0.5 * float(f.weights @ (z - f.targets) ** 2) + 0.5 * float((M**2).sum())
        assert c * float(slope.entries @ z + (S * M).sum()) - loss == pytest.approx(best, rel=1e-10)


@pytest.mark.parametrize("radius", [0.5, 4.0, 60.0])
@pytest.mark.parametrize("scaled", [True, False])
def test_solutions_bounds_and_certificates_are_those_of_the_dense_problem(radius, scaled):
    both = Both(5, scaled)
    ball, stop = sx.NuclearBall(SHAPE, radius), sx.Stop(relative_gap=1e-7, max_steps=200)
    problem = sx.Problem(both.sparse, ball)
    result = sx.solve(problem, stop=stop)
    other = sx.solve(sx.Problem(both.dense, ball), stop=stop)
    assert result.certificate.value - both.constant == pytest.approx(other.certificate.value, rel=1e-6, abs=1e-7)
    least = other.certificate.lower_bound + both.constant
    assert result.certificate.lower_bound <= other.certificate.value + both.constant + 1e-12
    # no step that moves the value by less than its last digits is seen: a slope of √(2·curvature·digits) may be left,
    # and where the ball does not bind the gap is the radius times that
    value = result.certificate.value
    left = np.sqrt(2.0 * both.steepest * 4.0 * np.finfo(float).eps * value)
    assert result.certificate.gap <= max(1e-6 * value, 2.0 * radius * left) and value >= least - 1e-12
    assert sx.verify(result.certificate, problem, result.X)
    assert sx.verify(result.certificate.to_json(), problem, result)
    anew = sx.certify(problem, result.X)
    assert sx.verify(anew, problem, result.X)
    assert not sx.verify(anew, sx.Problem(Both(6, scaled).sparse, ball), result.X)


@pytest.mark.parametrize("method", ["cg", "pairwise", "ror-adaptive"])
def test_other_methods_solve_it_too(method):
    both = Both(7)
    problem = sx.Problem(both.sparse, sx.NuclearBall(SHAPE, 3.0))
    best = sx.solve(problem, stop=sx.Stop(relative_gap=1e-8, max_steps=200)).certificate
    result = sx.solve(problem, method=method, stop=sx.Stop(relative_gap=1e-3, max_steps=2000))
    assert result.certificate.gap <= 1e-3 * result.certificate.value
    assert result.certificate.lower_bound <= best.value and result.certificate.value >= best.lower_bound
    assert sx.verify(result.certificate, problem, result)


def test_a_saved_run_goes_on(tmp_path):
    problem = sx.Problem(Both(8).sparse, sx.NuclearBall(SHAPE, 4.0))
    part = sx.solve(problem, stop=sx.Stop(max_steps=2))
    part.save(tmp_path / "run")
    whole = sx.solve(problem, start=sx.load(tmp_path / "run"), stop=sx.Stop(relative_gap=1e-6, max_steps=100))
    assert whole.certificate.gap <= 1e-6 * whole.certificate.value


def test_a_path_has_certified_answers_between_its_radii():
    problem = sx.Problem(Both(12).sparse, sx.NuclearBall(SHAPE, 4.0))
    path = sx.path(problem, (1.0, 4.0), gap=0.02)
    for size in (1.3, 2.0, 3.7):
        X, certificate = path.at(size)
        there = sx.Problem(Both(12).sparse, sx.NuclearBall(SHAPE, size))
        best = sx.solve(there, stop=sx.Stop(relative_gap=1e-8, max_steps=200)).certificate
        assert certificate.lower_bound <= best.value and certificate.value >= best.lower_bound
        assert certificate.gap <= 0.021 * certificate.value
        assert sx.verify(certificate, there, X)


def test_fingerprints_name_the_data():
    f, again, other = Both(9).sparse, Both(9).sparse, Both(10).sparse
    ball = sx.NuclearBall(SHAPE, 1.0)
    marks = [sx.Problem(each, ball).fingerprint for each in (f, again, other)]
    assert marks[0] == marks[1] != marks[2]
    lighter = AllCells(
        f.pattern.rows.astype(int),
        f.pattern.indices.astype(int),
        f.targets,
        f.weights,
        SHAPE,
        (0.5 * f.everywhere[0], f.everywhere[1]),
        f.scales,
    )
    assert sx.Problem(lighter, ball).fingerprint != marks[0]
    assert "seen of 154 cells of a 14×11 table" in repr(f)


def test_images_are_factored():
    f = Both(11).sparse
    image = f.measure(np.ones((14, 1), np.float32), np.ones(1), np.ones((11, 1), np.float32))
    assert isinstance(image, Factored) and image.U.dtype == np.float64
