"""The in-face method: its targets on real ratings, its guarantee step by step, its rate, and what it says it costs."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx
from problems import PROBLEMS, completion, dual_ball
from spectraplex.matrices import operators
from spectraplex.methods import in_face, oracle
from spectraplex.places.here import HERE

# radius → (f*, rank of the optimum, relative error wanted within 300 eigenvectors)
TARGETS = {2500.0: (67945.055, 3, 1e-5), 3500.0: (37867.016, 41, 1e-3), 5000.0: (16570.033, 119, 0.05)}


@pytest.mark.slow
@pytest.mark.data
@pytest.mark.parametrize("radius", TARGETS)
def test_targets_on_real_ratings(movielens_100k, radius):
    table, (optimum, rank, wanted) = movielens_100k, TARGETS[radius]
    objective = sx.Completion(table.rows, table.cols, table.values, table.shape)
    problem = sx.Problem(objective, sx.NuclearBall(table.shape, radius))
    stop = sx.Stop(max_steps=300, value=optimum * (1 + wanted))
    result = sx.solve(problem, "in-face", stop, certify=False)
    assert result.status is sx.Status.VALUE, f"{result.value / optimum - 1:.2e} above the optimum"
    assert len(result.X.s) <= 1.2 * rank + 3
    assert result.X.svd()[1].sum() <= radius * (1 + 1e-12)
    assert 0.5 * np.sum((result.X.entries(table.rows, table.cols) - table.values) ** 2) == pytest.approx(result.value)


@pytest.mark.parametrize("name", PROBLEMS)
def test_no_step_is_worse_than_conditional_gradients(name):
    problem = PROBLEMS[name](np.random.default_rng(3)).problem
    method, rng = sx.InFace(), np.random.default_rng(4)
    start = problem.point(problem.domain.start(problem.dtype, rng), fresh=True)
    point, memory, _ = method.init(problem, start, rng)
    for _ in range(12):
        new, memory, _ = method.step(problem, point, memory, rng)
        dz = problem.lifted.combine(1.0, problem.image_of(memory.guess), -1.0, point.image)
        curve = problem.curve(point, dz)
        toward = curve.value(curve.minimize(1.0))
        assert new.value <= toward + 1e-13 * abs(toward) + 1e-15
        measured = problem.point(new.atoms)
        assert measured.value == pytest.approx(new.value, rel=1e-10, abs=1e-14)
        point = new


@pytest.mark.parametrize("seed", range(3))
def test_linear_where_conditional_gradient_is_not(seed):
    rng = np.random.default_rng(seed)
    known = completion(rng, *dual_ball(rng, (40, 30), 3, 10.0), sx.NuclearBall((40, 30), 10.0), "squared")
    errors = {}
    for name in ("in-face", "cg"):
        values = sx.solve(known.problem, name, sx.Stop(max_steps=61), certify=False).trace.as_dict()["value"]
        errors[name] = (values - known.optimum) / (values[0] - known.optimum)
    assert errors["cg"][60] > 1e-5
    assert errors["in-face"][40] <= 1e-8
    fifth, twentieth, fortieth = (
        max(float(errors["in-face"][step]), 1e-14) for step in (5, 20, 40)
    )  # less is rounding
    assert fortieth <= max(1e-2 * twentieth, 1e-14) and twentieth <= max(1e-2 * fifth, 1e-14)


def test_one_eigenvector_a_step_and_every_product_counted(monkeypatch):
    """Where eigenvectors are searched for, as in large dimensions: a decomposition is counted as a whole matrix."""
    monkeypatch.setattr("spectraplex.eigen.small.LIMIT", 0)
    rng = np.random.default_rng(0)
    known = completion(rng, *dual_ball(rng, (30, 25), 3, 10.0), sx.NuclearBall((30, 25), 10.0), "squared")
    asked, columns, leading = [], [], oracle.leading
    monkeypatch.setattr(oracle, "leading", lambda *args, **more: asked.append(1) or leading(*args, **more))
    for side in ("matmat", "rmatmat"):
        plain = getattr(operators.Sparse, side)
        monkeypatch.setattr(
            operators.Sparse, side, lambda self, V, plain=plain: columns.append(V.shape[1]) or plain(self, V)
        )
    result = sx.solve(known.problem, "in-face", sx.Stop(max_steps=20), certify=False)
    assert len(asked) == len(result.trace) == 20
    assert result.products == 0.5 * sum(columns)


@pytest.mark.parametrize("name", ["rank 1 of 12", "ball, squared", "spectrahedron, squared", "complex rank 3 of 9"])
def test_no_more_atoms_than_the_rank(name):
    known = PROBLEMS[name](np.random.default_rng(5))
    result = sx.solve(known.problem, "in-face", sx.Stop(max_steps=100))
    assert result.trace[-1].atoms <= known.rank + 2  # the newest direction on either side may still be there
    assert result.value - known.optimum <= 1e-9 * known.problem.lifted.smoothness


@pytest.mark.parametrize("turns", [0, 3])
@pytest.mark.parametrize("moves", [1, 3])
def test_every_form_converges(moves, turns):
    for name in ("rank 3 of 12", "ball, complex", "trace ball, inside", "ball, logistic"):
        known = PROBLEMS[name](np.random.default_rng(6))
        result = sx.solve(known.problem, sx.InFace(moves=moves, turns=turns), sx.Stop(max_steps=100))
        assert result.value - known.optimum <= 1e-4 * known.problem.lifted.smoothness


def test_a_basis_that_is_not_orthonormal_is_mended():
    rng = np.random.default_rng(7)
    block = rng.standard_normal((20, 5))
    for columns in (block, np.linalg.qr(block)[0], block[:, :1], np.repeat(block, 2, axis=1)):
        P, coordinates = in_face._span(HERE, columns)
        np.testing.assert_allclose(P.T @ P, np.eye(P.shape[1]), atol=1e-12)
        np.testing.assert_allclose(P @ coordinates, columns, atol=1e-12)


def test_refusals():
    for wrong in (0, -1, 1.5, True):
        with pytest.raises(ValueError, match="InFace: moves must be a whole number ≥ 1"):
            sx.InFace(moves=wrong)
    with pytest.raises(ValueError, match="InFace: turns must be a whole number ≥ 0, got -1"):
        sx.InFace(turns=-1)
