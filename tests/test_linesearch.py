"""Line searches find the minimiser that a dense grid finds, respect their limit, and refuse NaN."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dense
from spectraplex.losses import Squared
from spectraplex.losses.curves import NotFinite, Quadratic, Smoothly
from spectraplex.places.numpy import mixture

CURVES = {
    "quartic": lambda s: ((s - 0.4) ** 4 + 0.1 * s, 4 * (s - 0.4) ** 3 + 0.1),
    "exponential": lambda s: (np.exp(3 * s) - 6 * s, 3 * np.exp(3 * s) - 6),
    "steep": lambda s: (np.logaddexp(0, 50 * (s - 0.3)) - 5 * s, 50 / (1 + np.exp(-50 * (s - 0.3))) - 5),
    "flat bottom": lambda s: (min(s - 0.2, 0) ** 2 + max(s - 0.6, 0) ** 2, 2 * min(s - 0.2, 0) + 2 * max(s - 0.6, 0)),
    "falling": lambda s: (np.exp(-s), -np.exp(-s)),
    "rising": lambda s: (np.exp(s), np.exp(s)),
    "constant": lambda s: (1.0, 0.0),
    "tiny": lambda s: (1e-30 * (s - 0.5) ** 2, 2e-30 * (s - 0.5)),
}


def grid_minimum(value, limit):
    return min(value(s) for s in np.linspace(0.0, limit, 20_001))


@settings(max_examples=200)
@given(st.floats(-5, 5), st.floats(0, 20), st.floats(0.01, 3))
def test_the_quadratic_minimiser_beats_a_grid(slope, bend, limit):
    curve = Quadratic(0.0, slope, bend)
    size = curve.minimize(limit)
    assert 0.0 <= size <= limit
    s = np.linspace(0.0, limit, 2001)
    assert curve.value(size) <= (s * slope + 0.5 * s**2 * bend).min() + 1e-12


def test_a_quadratic_is_its_formula():
    curve = Quadratic(2.0, -3.0, 4.0)
    assert (curve.value(0.5), curve.derivative(0.5), curve.curvature(0.5)) == (1.0, -1.0, 4.0)
    assert curve.minimize(10.0) == 0.75
    assert curve.minimize(0.5) == 0.5
    assert curve.minimize(0.0) == 0.0
    assert Quadratic(2.0, 3.0, 4.0).minimize(10.0) == 0.0
    assert Quadratic(2.0, -3.0, 0.0).minimize(10.0) == 10.0
    assert Quadratic(2.0, 0.0, 0.0).minimize(10.0) == 0.0


@pytest.mark.parametrize(("slope", "bend"), [(np.nan, 1.0), (-1.0, np.nan), (-np.inf, 1.0), (-1.0, np.inf)])
def test_a_quadratic_that_is_not_finite_is_refused(slope, bend):
    with pytest.raises(NotFinite, match="not finite"):
        Quadratic(0.0, slope, bend).minimize(1.0)


@pytest.mark.parametrize("limit", [0.05, 0.5, 1.0, 2.0])
@pytest.mark.parametrize("name", CURVES)
def test_the_safeguarded_search_beats_a_grid(name, limit):
    at = CURVES[name]
    size = Smoothly(at).minimize(limit)
    assert 0.0 <= size <= limit
    best = grid_minimum(lambda s: at(s)[0], limit)
    assert at(size)[0] <= best + 1e-12 * max(abs(at(0.0)[0]), abs(best))


def test_known_minimisers():
    assert Smoothly(CURVES["falling"]).minimize(0.7) == 0.7
    assert Smoothly(CURVES["rising"]).minimize(0.7) == 0.0
    assert Smoothly(CURVES["constant"]).minimize(0.7) == 0.0
    np.testing.assert_allclose(Smoothly(CURVES["exponential"]).minimize(1.0), np.log(2) / 3, rtol=1e-9)
    np.testing.assert_allclose(Smoothly(CURVES["tiny"]).minimize(1.0), 0.5, rtol=1e-9)
    np.testing.assert_allclose(Smoothly(CURVES["exponential"]).minimize(100.0), np.log(2) / 3, rtol=1e-9)


@pytest.mark.parametrize("loss", ["huber", "logistic"])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_losses_are_minimised_along_a_line(loss, seed):
    rng = np.random.default_rng(seed)
    case = dense.completion(rng, (5, 4), loss, weighted=True)
    f = case.objective
    U, s, V = dense.factors(rng, (5, 4), 2)
    P, t, Q = dense.factors(rng, (5, 4), 2)
    Z = dense.matrix((U, 3 * s, V))
    t = -np.sign(dense.real_inner(case.gradient(Z), dense.matrix((P, t, Q)))) * t  # downhill
    D = dense.matrix((P, t, Q))
    size = f.along(f.measure(U, 3 * s, V), f.measure(P, t, Q)).minimize(2.0)
    assert 0.0 < size <= 2.0
    assert case.value(Z + size * D) <= grid_minimum(lambda a: case.value(Z + a * D), 2.0) + 1e-12


# ------------------------------------------------------------------------------------------------- what is not finite


@pytest.mark.parametrize("bad", [np.nan, np.inf, -np.inf])
def test_a_curve_that_starts_not_finite_is_refused(bad):
    for at in (lambda s: (bad, -1.0), lambda s: (1.0, bad)):
        with pytest.raises(NotFinite, match="at the current point"):
            Smoothly(at).minimize(1.0)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_barrier_ahead_is_respected(bad):
    def at(s):  # a logarithmic barrier at 0.3, and a minimum at 0.05
        if s >= 0.3:
            return bad, bad
        return -4 * s - np.log(0.3 - s), -4 + 1 / (0.3 - s)

    for limit in (0.04, 0.2, 0.5, 1.0, 100.0):
        size = Smoothly(at).minimize(limit)
        np.testing.assert_allclose(size, min(0.05, limit), rtol=1e-8)


def test_a_curve_that_exists_nowhere_ahead_is_refused():
    with pytest.raises(NotFinite, match="not finite anywhere near"):
        Smoothly(lambda s: (1.0, -1.0) if s == 0 else (np.nan, np.nan)).minimize(1.0)


@pytest.mark.parametrize("good", range(2, 9))
def test_a_curve_that_stops_being_finite_midway_never_raises_anything_else(good):
    calls = iter(range(100))

    def at(s):
        return CURVES["quartic"](s) if next(calls) < good else (np.nan, np.nan)

    try:
        size = Smoothly(at).minimize(1.0)
    except NotFinite:
        return
    assert 0.0 <= size <= 1.0


def test_a_function_that_is_not_convex_still_falls():
    def at(s):  # the derivative lies: it promises a minimum at 0.5, where the value is above the start
        return s * (s - 0.3), s - 0.5

    assert at(Smoothly(at).minimize(1.0))[0] < at(0.0)[0]
    assert Smoothly(lambda s: (s, s - 0.5)).minimize(1.0) == 0.0  # and nowhere below it


def test_the_curvature_met_is_the_mean_one():
    curve = Smoothly(CURVES["exponential"])
    np.testing.assert_allclose(curve.curvature(0.5), (3 * np.exp(1.5) - 3) / 0.5, rtol=1e-12)
    np.testing.assert_allclose(curve.curvature(0.0), 9.0, rtol=1e-5)
    assert Smoothly(lambda s: (-(s**2), -2 * s)).curvature(1.0) == 0.0
    assert (curve.value(0.2), curve.derivative(0.2)) == CURVES["exponential"](0.2)


def test_an_edge_may_be_closer_than_any_fixed_share():
    """−s − 10⁻¹⁵ ln(10⁻¹⁴ − s): finite only up to 10⁻¹⁴ of the way, least at 9·10⁻¹⁵."""

    def at(size):
        left = 1e-14 - size
        return (-size - 1e-15 * np.log(left), -1.0 + 1e-15 / left) if left > 0 else (np.inf, np.nan)

    assert Smoothly(at).minimize(1.0) == pytest.approx(9e-15, rel=1e-6)


@pytest.mark.parametrize("count", [1, 3, 4, 5, 6])
@pytest.mark.parametrize("size", [7, 30_000])
@pytest.mark.parametrize("kind", ["real", "weighted", "complex", "matrix"])
def test_several_ways_at_once_are_the_same_as_one_by_one(count, size, kind):
    rng = np.random.default_rng(count)
    weights = rng.uniform(0.5, 2.0, size) if kind == "weighted" else None

    def image():
        z = rng.standard_normal(size)
        return z + 1j * rng.standard_normal(size) if kind == "complex" else z

    z, target, v, others = image(), image(), image(), [image() for _ in range(count)]
    loss = Squared()
    slope = loss.evaluate(z, target, weights)[1]
    shape = (-1, 1 if size % 100 else 100) if kind == "matrix" else (-1,)  # as the images of a dense distance are
    slopes, bends = loss.ways(slope.reshape(shape), v.reshape(shape), [each.reshape(shape) for each in others], weights)
    ways = [v - other for other in others]
    bound = 1e-13 * size * 40.0
    for i, way in enumerate(ways):
        curve = loss.along(z, way, target, weights)
        assert abs(slopes[i] - curve.derivative(0.0)) <= bound
        for j, other in enumerate(ways):
            both = loss.along(z, way + other, target, weights).curvature(0.0)
            assert abs(bends[i, j] - 0.5 * (both - bends[i, i] - bends[j, j])) <= 4.0 * bound
    sizes = rng.standard_normal(count + 1)
    found = mixture(sizes.tolist(), [each.reshape(shape) for each in (v, *others)])
    assert found.shape == v.reshape(shape).shape
    assert (
        np.abs(found.reshape(-1) - sum(s * o for s, o in zip(sizes, [v, *others], strict=True))).max() <= 1e-13 * 40.0
    )
