"""Intercepts and Implicit: the inner problem is solved, gradients are gradients, and bounds bound the joint problem."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.losses import Huber, Logistic, Squared
from spectraplex.objectives.implicit import Implicit
from spectraplex.objectives.intercepts import Intercepts

SHAPE = (12, 9)
LOSSES = {"squared": Squared(), "huber": Huber(0.5), "logistic": Logistic()}


def make(loss="squared", *, weights=False, ridges=(1.5, 0.7), scaled=True, twice=False, seed=0):
    rng = np.random.default_rng(seed)
    cells = rng.permutation(SHAPE[0] * SHAPE[1])[:60]
    cells = np.concatenate([cells, cells[:10]]) if twice else cells
    rows, cols = cells // SHAPE[1], cells % SHAPE[1]
    values = rng.standard_normal(cells.size) + 0.5 * rows - 0.3 * cols
    values = np.sign(values) if loss == "logistic" else values
    return Intercepts(
        rows,
        cols,
        values,
        SHAPE,
        LOSSES[loss],
        weights=rng.uniform(0.5, 2.0, cells.size) if weights else None,
        offset=0.25,
        ridges=ridges,
        scales=(rng.uniform(0.5, 2.0, SHAPE[0]), rng.uniform(0.5, 2.0, SHAPE[1])) if scaled else None,
    )


VARIANTS = [
    dict(),
    dict(loss="huber", weights=True),
    dict(loss="logistic", twice=True),
    dict(weights=True, twice=True),
    dict(loss="logistic", ridges=None, scaled=False),
]


def names(variant):
    return ", ".join(f"{name}={value}" for name, value in variant.items()) or "plain"


@pytest.mark.parametrize("variant", VARIANTS, ids=names)
@pytest.mark.parametrize("strength", [0.0, 0.8])
def test_gradient_conjugate_and_linearity_hold(variant, strength):
    objective = make(**variant)
    objective = Implicit(objective, strength) if strength else objective
    report = sx.check(objective)
    assert report.ok, str(report)


@pytest.mark.parametrize("variant", VARIANTS, ids=names)
def test_the_inner_problem_is_solved(variant):
    """No intercepts nearby do better, and those found are the ones that the slope asks for: ρb = −row sums."""
    objective = make(**variant)
    rng = np.random.default_rng(3)
    z = objective.measure(rng.standard_normal((12, 2)), np.ones(2), rng.standard_normal((9, 2)))
    found = objective.inner(z)
    rows, cols = objective.pattern.rows, objective.pattern.indices
    place = np.arange(rows.size) if objective.which is None else objective.which

    def total(b, c):
        pred = z + objective.offset + b[rows[place]] + c[cols[place]]
        loss = objective.loss.evaluate(pred, objective.values, objective.weights)[0]
        return loss + (
            0.0 if objective.ridges is None else 0.5 * (objective.ridges[0] * b @ b + objective.ridges[1] * c @ c)
        )

    assert found.value == pytest.approx(total(found.rows, found.cols), rel=1e-12)
    if objective.ridges is None:
        assert not found.rows.any() and not found.cols.any()
        return
    sums = np.bincount(rows[place], found.slope, 12), np.bincount(cols[place], found.slope, 9)
    assert np.allclose(objective.ridges[0] * found.rows, -sums[0], atol=1e-3)
    assert np.allclose(objective.ridges[1] * found.cols, -sums[1], atol=1e-3)
    for _ in range(20):
        b, c = found.rows + 0.01 * rng.standard_normal(12), found.cols + 0.01 * rng.standard_normal(9)
        assert total(b, c) > found.value


@pytest.mark.parametrize("ridge", [1e-6, 0.1, 10.0])
@pytest.mark.parametrize("blocks", [1, 3])
def test_intercepts_of_a_wide_table_are_those_of_a_dense_solver(ridge, blocks):
    """Wide enough for directions that are worked out first; in three blocks three of them are nearly singular."""
    rng = np.random.default_rng(5)
    rows, cols = np.nonzero((rng.random((90, 60)) < 0.2) & (np.arange(90)[:, None] % blocks == np.arange(60) % blocks))
    values, weights = rng.standard_normal(rows.size), rng.uniform(0.5, 2.0, rows.size)
    objective = Intercepts(rows, cols, values, (90, 60), Squared(), weights=weights, ridges=(ridge, 2.0 * ridge))
    design = np.zeros((rows.size, 150))
    design[np.arange(rows.size), rows] = design[np.arange(rows.size), 90 + cols] = 1.0
    bend = design.T @ (weights[:, None] * design) + np.diag(np.repeat([ridge, 2.0 * ridge], [90, 60]))
    best = np.linalg.solve(bend, design.T @ (weights * values))
    least = 0.5 * (weights @ values**2 - best @ (design.T @ (weights * values)))
    found = objective.inner(np.zeros(rows.size))
    assert least * (1 - 1e-12) <= found.value <= least * (1 + 2e-9)


@pytest.mark.parametrize("loss", ["squared", "huber", "logistic"])
@pytest.mark.parametrize("strength", [0.0, 0.8])
def test_the_joint_optimum_lies_between_bound_and_value(loss, strength):
    """Against a conic solver that is given intercepts and low-rank part as variables of one problem."""
    cp = pytest.importorskip("cvxpy")
    objective = make(loss, weights=True)
    inside, radius = objective, 4.0
    objective = Implicit(objective, strength) if strength else objective
    m, n = SHAPE
    W, b, c = cp.Variable(objective.shape), cp.Variable(m), cp.Variable(n)
    rows, cols = inside.pattern.rows.astype(int), inside.pattern.indices.astype(int)
    seen = W
    if strength:
        seen = W[:m] + objective.F.dense() @ W[m:]
    pred = inside.offset + b[rows] + c[cols] + cp.multiply(inside.scale, seen[rows, cols])
    if loss == "logistic":
        terms = cp.logistic(-cp.multiply(inside.values, pred))
    else:
        residual = pred - inside.values
        terms = 0.5 * cp.square(residual) if loss == "squared" else 0.5 * cp.huber(residual, 0.5)
    rho, kappa = inside.ridges
    total = inside.weights @ terms + 0.5 * rho * cp.sum_squares(b) + 0.5 * kappa * cp.sum_squares(c)
    best = cp.Problem(cp.Minimize(total), [cp.normNuc(W) <= radius]).solve(solver="CLARABEL")
    result = sx.solve(sx.Problem(objective, sx.NuclearBall(objective.shape, radius)), stop=sx.Stop(relative_gap=1e-5))
    assert result.status.name == "GAP"
    assert result.lower_bound <= best + 1e-5 * best and best <= result.value + 1e-5 * best


def test_certificates_can_be_verified_and_notice_other_ridges():
    problem = sx.Problem(make(), sx.NuclearBall(SHAPE, 4.0))
    result = sx.solve(problem, stop=sx.Stop(relative_gap=1e-3))
    assert sx.verify(result.certificate, problem, result)
    other = sx.Problem(make(ridges=(1.5, 0.8)), sx.NuclearBall(SHAPE, 4.0))
    assert not sx.verify(result.certificate, other, result)


def test_threads_do_not_change_a_bit():
    rng = np.random.default_rng(0)
    m, n = 900, 700
    cells = rng.permutation(m * n)[:60_000]
    objective = Intercepts(cells // n, cells % n, rng.standard_normal(60_000), (m, n), Squared(), ridges=(2.0, 2.0))
    z = objective.measure(rng.standard_normal((m, 8)), np.ones(8), rng.standard_normal((n, 8)))
    before = sx.set_threads(1)
    try:
        one = objective.inner(z)
        sx.set_threads(3)
        three = objective.inner(z)
    finally:
        sx.set_threads(before)
    assert one.value == three.value and np.array_equal(one.slope, three.slope) and np.array_equal(one.cols, three.cols)


@pytest.mark.parametrize("weighted", [False, True])
def test_directions_of_earlier_answers_save_sums_and_change_no_answer(weighted, monkeypatch):
    """Two values within a slack of the least one differ by no more than that."""
    rng = np.random.default_rng(5)
    cells = np.sort(rng.choice(60 * 50, 900, replace=False))
    rows, cols = np.divmod(cells, 50)
    values, weights = rng.standard_normal(900) + 0.1 * rows, rng.uniform(0.5, 2.0, 900)
    held = dict(weights=weights if weighted else None, ridges=(0.3, 0.2), slack=1e-9)
    counts, found = [], []
    for recycled in (False, True):
        objective = Intercepts(rows, cols, values, (60, 50), Squared(), recycled=recycled, **held)
        curvature, calls = objective.beside.curvature, [0]

        def down(v, curvature=curvature, calls=calls, honest=curvature.down):
            calls[0] += 1
            return honest(v)

        monkeypatch.setattr(curvature, "down", down)
        images = np.random.default_rng(6)
        each = []
        for _ in range(40):
            z = objective.measure(images.standard_normal((60, 3)), np.ones(3), images.standard_normal((50, 3)))
            each.append((objective.evaluate(z)[0], calls[0]))
        counts.append(each[-1][1])
        found.append([value for value, _ in each])
    np.testing.assert_allclose(found[1], found[0], rtol=2e-9)
    assert counts[1] < 0.75 * counts[0]
