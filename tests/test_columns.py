"""The hybrid method's columns: none goes at the wrong time, weights are balanced, descents end when they should."""

import numpy as np
import pytest

import dense
import spectraplex as sx
from spectraplex.datasets import ratings_like
from spectraplex.matrices.atoms import Atoms
from spectraplex.methods.columns import compress, shed
from spectraplex.methods.descent import descend
from spectraplex.methods.hybrid import Hybrid
from spectraplex.methods.oracle import begin
from spectraplex.start import first_point

DTYPES = ("float64", "complex128")


def completion(seed, dtype="float64", m=30, n=20, radius=40.0):
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random((m, n)) < 0.5)
    values = dense.normal(rng, rows.size, dtype) * 3
    return sx.Problem(sx.Completion(rows, cols, values, (m, n)), sx.NuclearBall((m, n), radius))


def descended(problem, rank, seed, most=15):
    Y = dense.normal(np.random.default_rng(seed), (problem.domain.dimension, rank), problem.dtype)
    return descend(problem, Y / np.linalg.norm(Y), None, 1.0, most=most, fading=0.0)


def full(point):
    V = point.atoms.vectors
    return (V * point.atoms.weights) @ V.conj().T


def clicks(seed):
    """Counts of clicks, every cell given: weights from 1 to thousands, the condition number of the loss."""
    rng = np.random.default_rng(seed)
    counts = rng.poisson(np.exp(rng.normal(size=(40, 2)) @ rng.normal(size=(2, 25)) - 1.5)).ravel()
    rows, cols = np.indices((40, 25)).reshape(2, -1)
    weights = np.where(counts > 0, 10.0 * counts, 1.0)
    return sx.Penalized(sx.Completion(rows, cols, 1.0 * (counts > 0), (40, 25), weights=weights), 5.0)


def exact_gap(problem, X):
    """⟨∇f, X⟩ + radius·σ₁(∇f), from a dense decomposition, as a share of the value."""
    f = problem.objective
    z = f.measure(*X.triple())
    value, slope = f.evaluate(z)
    top = np.linalg.norm(f.gradient(slope).dense(), 2)
    return (f.pair(slope, z) + problem.domain.radius * top) / value


@pytest.mark.parametrize("dtype", DTYPES)
def test_the_pull_of_a_descent_is_that_of_the_gradient_at_its_end(dtype):
    problem = completion(0, dtype)
    found = descended(problem, 5, 1)
    point = problem.point(Atoms.of(found.Y, np.linalg.norm(found.Y, axis=0) ** 2))
    G = problem.descent(point).dense()
    here = np.vdot(found.Y, G @ found.Y).real
    expected = found.Y.conj().T @ (G @ found.Y - here * found.Y)
    assert np.abs(found.pull - expected).max() <= 1e-10 * np.abs(here)
    assert abs(np.trace(found.pull)) <= 1e-10 * np.abs(here)  # what some columns have too much of, others lack


@pytest.mark.parametrize("dtype", DTYPES)
def test_compressing_changes_nothing_and_balancing_lowers_value_and_excess_without_a_new_column(dtype):
    problem = completion(1, dtype)
    found = descended(problem, 6, 2, most=5)
    plain = compress(problem, found.Y, np.inf)
    assert np.abs(full(plain) - found.Y @ found.Y.conj().T).max() <= 1e-12
    assert plain.value == pytest.approx(found.value, rel=1e-12)
    balanced = compress(problem, found.Y, np.inf, found.pull)
    assert balanced.value < plain.value and len(balanced.atoms) <= len(plain.atoms)
    Q = plain.atoms.vectors
    assert np.abs(full(balanced) - Q @ (Q.conj().T @ full(balanced))).max() <= 1e-12  # the same span

    def excess(point):
        G = problem.descent(point).dense()
        here = np.trace(G @ full(point)).real
        return float(np.linalg.eigvalsh(Q.conj().T @ G @ Q)[-1]) - here

    assert excess(balanced) < 0.7 * excess(plain)


def test_a_light_column_goes_only_where_that_changes_nothing_or_a_descent_follows():
    """Its loss raises the gap by first order and the value by second: at the end of a step it stays."""
    problem = completion(2)
    result = sx.solve(problem, stop=sx.Stop(relative_gap=1e-6))
    atoms = problem.domain.raised(result.X)
    weights = atoms.weights.copy()
    light = int(np.argmin(weights))
    weights[light] = 5e-4 * weights.mean()
    Y = atoms.vectors * np.sqrt(weights / weights.sum())
    whole = problem.point(Atoms.of(atoms.vectors, weights))
    assert len(compress(problem, Y, whole.value + 1e-12 * whole.value).atoms) == len(weights)
    assert len(compress(problem, Y, whole.value + 1e12 * whole.value).atoms) == len(weights) - 1
    assert len(shed(problem, whole, 0.0).atoms) == len(weights)  # it ought to grow: dropping it costs something
    assert len(shed(problem, whole, 1e12 * whole.value).atoms) == len(weights) - 1


def test_factors_are_kept_in_single_precision_only_where_that_leaves_the_value_near():
    problem = completion(3)
    start = descended(problem, 4, 0, most=3)  # far from the optimum f sees that Y is rounded
    point = problem.point(Atoms.of(start.Y, np.linalg.norm(start.Y, axis=0) ** 2))
    rough = descend(problem, start.Y, point.image, 1.0, most=1, fading=0.0, single=True, near=(point.value, np.inf))
    exact = descend(problem, start.Y, point.image, 1.0, most=1, fading=0.0, single=True, near=(point.value, 0.0))
    double = descend(problem, start.Y, point.image, 1.0, most=1, fading=0.0)
    assert abs(exact.value - double.value) <= 1e-13 * abs(double.value)
    assert abs(rough.value - double.value) > 1e-11 * abs(double.value)


@pytest.mark.parametrize("problem_seed", [1, 3])
def test_descents_of_few_columns_are_not_cut_short_for_ever(problem_seed):
    """With fewer than 50 columns no descent was longer than 8 steps: 46 and 86 steps here, 200 with larger weights."""
    problem = clicks(problem_seed)
    for seed in range(3):
        result = sx.solve(problem, stop=sx.Stop(relative_gap=1e-5, max_steps=30), seed=seed)
        assert result.status is sx.Status.GAP, (seed, result.gap / result.value)


@pytest.mark.parametrize("radius", [600.0, pytest.param(700.0, marks=pytest.mark.slow)])
def test_near_the_optimum_the_gap_is_near_too(radius):
    """gap ≤ radius·√(2·error) always; a point shows less only if no column is missing and all are balanced."""
    table = ratings_like(200, 150, 6000, rank=6, noise=0.6, seed=3)
    task = sx.Problem(
        sx.Completion(table.rows, table.cols, table.values, table.shape), sx.NuclearBall(table.shape, radius)
    )
    optimum = sx.solve(task, stop=sx.Stop(relative_gap=1e-7)).value
    gaps = []
    for seed in range(6):
        result = sx.solve(task, stop=sx.Stop(value=optimum * (1 + 1e-6), max_steps=60), seed=seed, certify=False)
        gaps.append(exact_gap(task, result.X))
    assert max(gaps) <= 1e-3 and np.median(gaps) <= 4e-4, gaps


def test_the_first_step_in_a_long_table_goes_as_far_as_is_best(monkeypatch):
    """X₁ at the border of a large ball is worse than zero; its best multiple costs no product more."""
    monkeypatch.setattr("spectraplex.methods.hybrid._LONG", 0)
    rng = np.random.default_rng(1)
    rows, cols = np.nonzero(rng.random((30, 20)) < 0.5)
    objective = sx.Completion(rows, cols, rng.standard_normal(rows.size), (30, 20))
    problem = sx.Problem(objective, sx.NuclearBall((30, 20), 40.0))
    first = first_point(problem, None, rng)
    point = Hybrid().init(problem, first, rng)[0]
    zero = objective.evaluate(np.zeros(rows.size))[0]
    assert point.value < zero < begin(problem, first, rng)[0].value
    inside = problem.lifted.seen(point.image)
    size = np.linalg.norm(point.slope) * np.linalg.norm(inside)
    assert abs(float(point.slope @ inside)) <= 1e-9 * size  # the least value along X₁
    assert problem.point(point.atoms).value == pytest.approx(point.value, rel=1e-12)
    result = sx.solve(problem, stop=sx.Stop(relative_gap=1e-3))
    assert result.gap <= 1e-3 * result.value and sx.verify(result.certificate, problem, result.X)
