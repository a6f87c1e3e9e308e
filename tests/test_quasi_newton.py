"""The quasi-Newton memory against the textbook two-loop recursion, its kernels against their NumPy twins."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spectraplex as sx
from spectraplex.methods.quasi_newton import LimitedMemory
from spectraplex.places import deck as passes
from spectraplex.places.deck import NumPyDeck

LARGE = 70_001  # beyond what stays with NumPy, and not a whole number of blocks


def two_loops(g, pairs, scaling, factor):
    """L-BFGS as every textbook prints it (Nocedal & Wright, Algorithm 7.4)."""
    q, alphas = g.copy(), []
    for s, t in reversed(pairs):
        alphas.append(s @ q / (s @ t))
        q -= alphas[-1] * t
    r = factor * scaling * q
    for (s, t), alpha in zip(pairs, reversed(alphas), strict=True):
        r += (alpha - t @ r / (s @ t)) * s
    return -r


def quadratic_run(size, steps, history, seed):
    """Follow the directions on ½yᵀHy with fixed step shares; returns memory, directions and what they should be."""
    rng = np.random.default_rng(seed)
    H = np.exp(rng.uniform(-1, 1, size))
    scaling = np.exp(rng.uniform(-1, 1, size))
    y = rng.standard_normal(size)
    g = H * y
    deck = deck_of(y, g.copy(), scaling, history)
    memory, pairs, factor, seen = LimitedMemory(deck, history), [], 1.0, []
    memory.factor = factor = 0.1
    for step in range(steps):
        want = two_loops(g, pairs[-history:], scaling, factor)
        fall, length, norm = memory.direction()
        d, ahead = deck.S[memory._free], deck.ahead[:, 0]
        seen.append((d.astype(float), want))
        assert fall == pytest.approx(d.astype(float) @ g, rel=1e-6)
        assert length == pytest.approx(d.astype(float) @ d.astype(float), rel=1e-6)
        assert norm == pytest.approx(ahead @ ahead, rel=1e-12)
        if step % 3 == 2:  # a shortened step
            assert memory.shorten(0.5) == pytest.approx(float(np.sum((deck.here[:, 0] + d) ** 2)), rel=1e-12)
        before, s, ahead = g, d.astype(float), ahead.copy()
        memory.turn((H * ahead)[:, None], 0.25, 1.0, float(np.linalg.norm(s)))
        g = deck.g.astype(float)
        np.testing.assert_allclose(g, H * ahead - 0.25 * ahead, rtol=0, atol=1e-12 * np.abs(g).max())
        t = g - before
        if s @ t > 0:
            pairs.append((s, t))
            factor = (s @ t) / (t @ (scaling * t))
    return memory, seen


def deck_of(y, g, scaling, history):
    return NumPyDeck(y[:, None].copy(), g[:, None], scaling[:, None], history, compiled=False)


@given(st.integers(1, 40), st.integers(1, 6), st.integers(0, 2**32 - 1))
@settings(max_examples=40, deadline=None)
def test_directions_are_those_of_the_two_loop_recursion(size, history, seed):
    _, seen = quadratic_run(size, 6, history, seed)
    for got, want in seen:
        # pairs are stored in single precision; near convergence the recursion magnifies that
        assert np.linalg.norm(got - want) <= 1e-3 * np.linalg.norm(want)


def test_the_recursion_also_holds_on_long_vectors():
    memory, seen = quadratic_run(LARGE, 7, 3, 0)
    assert len(memory.slots) == 3
    for got, want in seen:
        assert np.linalg.norm(got - want) <= 1e-5 * np.linalg.norm(want)


def test_a_pair_without_positive_curvature_is_left_out():
    deck = deck_of(np.zeros(3), np.array([1.0, 2.0, 3.0]), np.ones(3), 4)
    memory = LimitedMemory(deck, 4)
    memory.direction()
    memory.turn(-2.0 * deck.ahead, 0.0, 1.0, 1.0)  # the gradient of −‖y‖²: curvature is negative
    assert memory.slots == []
    memory.direction()
    memory.turn(2.0 * deck.ahead, 0.0, 1.0, 1.0)
    assert len(memory.slots) == 1
    memory.forget()
    assert memory.slots == []


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_kernels_equal_their_numpy_twins_for_any_number_of_threads(kind):
    def everything(plain=False):
        rng = np.random.default_rng(5)
        g, Y, ahead = (rng.standard_normal(LARGE).astype(kind) for _ in range(3))
        S, T = (rng.standard_normal((5, LARGE)).astype(np.float32) for _ in range(2))
        at, c = np.array([3, 0, 2]), rng.standard_normal(3)
        scaling = rng.random(LARGE).astype(np.float32)
        out, product = np.empty(LARGE, np.float32), rng.standard_normal(LARGE)
        dots = passes.back(g, T, at, c, scaling, out, plain)
        sums = passes.forth(out, 0.3, S, at, c, g, Y, S[4], ahead, plain)
        last = passes.turned(product, ahead, 0.1, 2.0, g, S, at, S[4], scaling, T[4], plain)
        return [dots, out, np.array(sums), S[4].copy(), ahead.copy(), last, g.copy(), T[4].copy()]

    before = sx.set_threads(1)
    try:
        alone = everything()
        sx.set_threads(3)
        for one, many in zip(alone, everything(), strict=True):
            np.testing.assert_array_equal(one, many)
    finally:
        sx.set_threads(before)
    for kernel, twin in zip(alone, everything(plain=True), strict=True):
        np.testing.assert_allclose(kernel, twin, rtol=1e-5, atol=1e-6 * np.abs(twin).max())
