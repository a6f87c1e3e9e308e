"""Stochastic steps: with all observations they are the deterministic ones, they converge, they go on, they refuse."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx


def table(seed=0, shape=(30, 20), count=400, loss="squared", weights=False):
    rng, (m, n) = np.random.default_rng(seed), shape
    A = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n))
    rows, cols = np.divmod(rng.choice(m * n, count, replace=False), n)
    values = A[rows, cols] + 0.3 * rng.standard_normal(count)
    w = rng.uniform(0.5, 2.0, count) if weights else None
    fit = sx.Fit(sx.Entries(rows, cols, shape), values, loss, w)
    return sx.Problem(fit, sx.NuclearBall(shape, 30.0))


def classes(seed=0, samples=600):
    rng = np.random.default_rng(seed)
    W, X = rng.standard_normal((8, 4)), rng.standard_normal((samples, 8))
    labels = np.argmax(X @ W + rng.gumbel(size=(samples, 4)), axis=1)
    return sx.Problem(sx.Fit(sx.Features(X, 4), labels, "softmax"), sx.NuclearBall((8, 4), 5.0))


PROBLEMS = {"entries": table, "weighted": lambda: table(loss="huber", weights=True), "classes": classes}


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("reduced", [True, False])
def test_with_all_observations_it_is_the_deterministic_method(name, reduced):
    problem = PROBLEMS[name]()
    stop = sx.Stop(max_steps=25)
    ours = sx.solve(problem, sx.Stochastic(batch=1.0, reduced=reduced), stop)
    theirs = sx.solve(problem, sx.ConditionalGradient(step="open-loop"), stop)
    seen, known = (each.trace.as_dict()["value"] for each in (ours, theirs))
    # the same steps; the image is measured afresh each time, where CG carries it along
    np.testing.assert_allclose(seen, known, rtol=1e-9)


@pytest.mark.parametrize("name", PROBLEMS)
def test_it_reaches_the_gap_asked_for_and_the_bracket_is_true(name):
    problem = PROBLEMS[name]()
    best = sx.solve(problem, "hybrid", sx.Stop(relative_gap=1e-7))
    result = sx.solve(problem, "stochastic", sx.Stop(relative_gap=2e-2, max_steps=2000))
    assert result.status is sx.Status.GAP and result.gap <= 2e-2 * result.value
    assert result.lower_bound <= best.value and best.lower_bound <= result.value
    assert sx.verify(result.certificate, problem, result.X)
    assert {"sampled"} <= {record.kind for record in result.trace}


@pytest.mark.parametrize("name", PROBLEMS)
def test_a_part_is_a_part(name):
    """The parts of a partition sum to the whole: value, and gradient at a point."""
    objective = PROBLEMS[name]().objective
    rng, (m, n) = np.random.default_rng(1), objective.shape
    U, V = np.linalg.qr(rng.standard_normal((m, 3)))[0], np.linalg.qr(rng.standard_normal((n, 3)))[0]
    s = np.array([3.0, 2.0, 1.0])
    image = objective.measure(U, s, V)
    value, slope = objective.evaluate(image)
    order, total, gradient = rng.permutation(objective.units), 0.0, 0.0
    for index in np.array_split(order, 3):
        part, at = objective.some(np.sort(index))
        z = part.measure(U, s, V)
        np.testing.assert_allclose(z, image[at], atol=1e-12)
        own, turned = part.evaluate(z)
        np.testing.assert_allclose(turned, slope[at], atol=1e-12)
        total, gradient = total + own, gradient + part.gradient(turned).dense()
    assert total == pytest.approx(value, rel=1e-12)
    np.testing.assert_allclose(gradient, objective.gradient(slope).dense(), atol=1e-10)


@pytest.mark.parametrize("reduced", [True, False])
def test_a_sample_stands_for_the_whole_on_average(reduced):
    from spectraplex.matrices.atoms import Atoms
    from spectraplex.methods.stochastic import _Round

    problem, rng = table(), np.random.default_rng(2)
    point = problem.point(Atoms.of(rng.standard_normal((50, 2))))
    here = _Round(problem, point, -problem.lifted.pair(point.slope, point.image), reduced)
    here.move(here.look(None), v := rng.standard_normal((50, 1)) / 7.0, 0.0, 0.3)
    here.pulled = 0.0
    exact = problem.descent(problem.point(here.atoms)).dense()
    draws = 300
    mean = sum(here.look(np.sort(rng.choice(400, 100, replace=False))).operator.dense() for _ in range(draws)) / draws
    # one draw scales each entry by 4 or 0: its spread is √3 times the entry, or of the change of it
    assert np.linalg.norm(mean - exact) <= 3.0 * np.sqrt(3.0 / draws) * np.linalg.norm(exact)
    seen = here.look(np.arange(100))
    assert v.shape == (50, 1)
    X = here.atoms
    whole = float(np.sum(X.weights * np.einsum("ij,ij->j", X.vectors, seen.operator.dense() @ X.vectors)))
    if reduced:  # ⟨−g, X⟩ moves along at no product
        here.pulled = float(
            np.sum(X.weights * np.einsum("ij,ij->j", X.vectors, problem.descent(point).dense() @ X.vectors))
        )
    assert here.look(np.arange(100)).beat == pytest.approx(whole)


def test_it_goes_on_from_a_saved_state(tmp_path):
    problem = table()
    whole = sx.solve(problem, "stochastic", sx.Stop(max_steps=8))
    half = sx.solve(problem, "stochastic", sx.Stop(max_steps=4))
    half.save(tmp_path)
    result = sx.solve(problem, "stochastic", sx.Stop(max_steps=4), start=sx.load(tmp_path))
    assert result.value == whole.value and np.array_equal(result.X.dense(), whole.X.dense())


def test_what_it_cannot_do_is_refused():
    square = sx.Problem(sx.Distance(np.eye(4)), sx.Spectrahedron(4))
    with pytest.raises(ValueError, match=r"Stochastic needs an objective with some\(index\)"):
        sx.solve(square, "stochastic")
    groups = sx.losses.Softmax(np.array([0, 0, 1, 1]))
    entries = sx.Fit(sx.Entries([0, 0, 1, 1], [0, 1, 0, 1], (3, 2)), [1.0, 0.0, 0.0, 1.0], groups)
    with pytest.raises(ValueError, match="Stochastic needs"):
        sx.solve(sx.Problem(entries, sx.NuclearBall((3, 2), 1.0)), "stochastic")
    for settings in ({"batch": 0.0}, {"batch": 1.5}, {"growth": 0.5}):
        with pytest.raises(ValueError, match=next(iter(settings))):
            sx.Stochastic(**settings)
    with pytest.raises((TypeError, ValueError), match="batch must be a number between 0 and 1"):
        sx.Stochastic(batch=True)
    with pytest.raises(TypeError, match="reduced"):
        sx.Stochastic(reduced="yes")
