"""Features of rows and columns in the objective: the joint problem, against dense and conic solutions."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.sparse import csr_matrix

import spectraplex as sx
from spectraplex.losses import Huber, Logistic, Squared
from spectraplex.objectives.implicit import Implicit
from spectraplex.objectives.intercepts import Intercepts
from spectraplex.objectives.sides import Featured, SideFeatures

SHAPE = (12, 9)
LOSSES = {"squared": Squared(), "huber": Huber(0.5), "logistic": Logistic()}
WHICH = {"rows": (3, 0), "columns": (0, 2), "both": (3, 2), "more features than rows": (20, 15)}


def made(loss="squared", which="both", *, ridges=(1.5, 0.7), charges=(0.4, 0.2), sparse=False, weights=True, seed=0):
    rng = np.random.default_rng(seed)
    cells = rng.permutation(SHAPE[0] * SHAPE[1])[:60]
    cells = np.concatenate([cells, cells[:10]])  # ten pairs come twice
    rows, cols = cells // SHAPE[1], cells % SHAPE[1]
    values = rng.standard_normal(cells.size) + 0.5 * rows - 0.3 * cols
    values = np.sign(values) if loss == "logistic" else values
    designs = [rng.standard_normal((count, d)) if d else None for count, d in zip(SHAPE, WHICH[which], strict=True)]
    if sparse:
        designs = [None if X is None else csr_matrix(X) for X in designs]
    return Intercepts(
        rows,
        cols,
        values,
        SHAPE,
        LOSSES[loss],
        weights=rng.uniform(0.5, 2.0, cells.size) if weights else None,
        offset=0.25,
        ridges=ridges,
        features=SideFeatures(*designs, charges),
        scales=(rng.uniform(0.5, 2.0, SHAPE[0]), rng.uniform(0.5, 2.0, SHAPE[1])),
    )


def places(objective):
    which = np.arange(objective.pattern.rows.size) if objective.which is None else objective.which
    return objective.pattern.rows.astype(int)[which], objective.pattern.indices.astype(int)[which]


def designs(objective):
    """Those of rows and of columns as arrays, without columns where nothing is known."""
    both = zip((objective.features.rows, objective.features.cols), SHAPE, strict=True)
    return [np.zeros((count, 0)) if X is None else X if isinstance(X, np.ndarray) else X.toarray() for X, count in both]


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("which", WHICH)
def test_gradient_conjugate_and_linearity_hold(loss, which):
    report = sx.check(made(loss, which))
    assert report.ok, str(report)


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize("which", WHICH)
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_effects_are_those_of_a_dense_least_squares_problem(which, sparse, scale):
    """Intercepts and weights of features as unknowns of one linear system."""
    objective = made(which=which, charges=(0.4 * scale, 0.2 * scale), sparse=sparse)
    (rows, cols), (m, n) = places(objective), SHAPE
    X, Y = designs(objective)
    row_design, column_design = np.hstack([np.eye(m), X]), np.hstack([np.eye(n), Y])
    A = np.hstack([row_design[rows], column_design[cols]])
    prices = np.concatenate(
        [np.full(m, 1.5), np.full(X.shape[1], 0.4 * scale), np.full(n, 0.7), np.full(Y.shape[1], 0.2 * scale)]
    )
    z = np.random.default_rng(1).standard_normal(rows.size)
    target = objective.values - objective.offset - z
    w = objective.weights
    best = np.linalg.solve(A.T @ (w[:, None] * A) + np.diag(prices), A.T @ (w * target))
    least = 0.5 * (w @ (target - A @ best) ** 2 + prices @ best**2)
    found = objective.inner(z)
    assert least * (1 - 1e-11) <= found.value <= least * (1 + 1e-9)
    effects = row_design @ best[: m + X.shape[1]], column_design @ best[m + X.shape[1] :]
    assert np.allclose(found.rows, effects[0], rtol=0, atol=1e-4) and np.allclose(
        found.cols, effects[1], rtol=0, atol=1e-4
    )
    row = objective.beside.sides[0]
    if isinstance(row, Featured):
        own, weights = row.split(effects[0])
        assert np.allclose(np.concatenate([own, weights]), best[: m + X.shape[1]], rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_no_effects_nearby_do_better(loss):
    objective = made(loss)
    (rows, cols), rng = places(objective), np.random.default_rng(3)
    z = rng.standard_normal(rows.size)
    found, (row, col) = objective.inner(z), objective.beside.sides

    def total(b, c):
        loss = objective.loss.evaluate(z + objective.offset + b[rows] + c[cols], objective.values, objective.weights)[0]
        return loss + row.price(b) + col.price(c)

    assert found.value == pytest.approx(total(found.rows, found.cols), rel=1e-12)
    for _ in range(20):
        b, c = found.rows + 0.01 * rng.standard_normal(12), found.cols + 0.01 * rng.standard_normal(9)
        assert total(b, c) > found.value


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("strength", [0.0, 0.8])
@pytest.mark.parametrize("which", ["both", "columns"])
def test_the_joint_optimum_lies_between_bound_and_value(loss, strength, which):
    """Against a conic solver with intercepts, weights of features and low-rank part as variables of one problem."""
    cp = pytest.importorskip("cvxpy")
    inside, radius = made(loss, which), 4.0
    objective = Implicit(inside, strength) if strength else inside
    (rows, cols), (m, n) = places(inside), SHAPE
    X, Y = designs(inside)
    W, b, c = cp.Variable(objective.shape), cp.Variable(m), cp.Variable(n)
    seen = W[:m] + objective.F.dense() @ W[m:] if strength else W
    scale = inside.scales[0][rows] * inside.scales[1][cols]
    pred = inside.offset + b[rows] + c[cols] + cp.multiply(scale, seen[rows, cols])
    price = 0.5 * 1.5 * cp.sum_squares(b) + 0.5 * 0.7 * cp.sum_squares(c)
    for design, codes, charge in ((X, rows, 0.4), (Y, cols, 0.2)):
        if design.shape[1]:
            weights = cp.Variable(design.shape[1])
            pred, price = pred + design[codes] @ weights, price + 0.5 * charge * cp.sum_squares(weights)
    if loss == "logistic":
        terms = cp.logistic(-cp.multiply(inside.values, pred))
    else:
        residual = pred - inside.values
        terms = 0.5 * cp.square(residual) if loss == "squared" else 0.5 * cp.huber(residual, 0.5)
    best = cp.Problem(cp.Minimize(inside.weights @ terms + price), [cp.normNuc(W) <= radius]).solve(solver="CLARABEL")
    result = sx.solve(sx.Problem(objective, sx.NuclearBall(objective.shape, radius)), stop=sx.Stop(relative_gap=1e-5))
    assert result.status.name == "GAP"
    assert result.lower_bound <= best + 1e-5 * best and best <= result.value + 1e-5 * best


def test_certificates_can_be_verified_and_notice_other_features():
    problem = sx.Problem(made(), sx.NuclearBall(SHAPE, 4.0))
    result = sx.solve(problem, stop=sx.Stop(relative_gap=1e-3))
    assert sx.verify(result.certificate, problem, result)
    same = sx.Problem(made(sparse=True), sx.NuclearBall(SHAPE, 4.0))  # the same numbers in another kind of matrix
    assert sx.verify(result.certificate, same, result)
    moved = made()
    moved.features.rows[3, 1] += 1e-9
    for other in (made(charges=(0.4, 0.3)), made(which="rows"), moved):
        assert not sx.verify(result.certificate, sx.Problem(other, sx.NuclearBall(SHAPE, 4.0)), result)


def test_features_without_weight_change_nothing():
    """A charge of 1e12 leaves no linear term, and zeros say nothing."""
    plain = made()
    plain = Intercepts(
        *places(plain), plain.values, SHAPE, Squared(), weights=plain.weights, offset=0.25, ridges=(1.5, 0.7)
    )
    z = np.random.default_rng(2).standard_normal(70)
    without = plain.inner(z)
    for features in (
        SideFeatures(np.ones((12, 1)), np.ones((9, 1)), (1e12, 1e12)),
        SideFeatures(np.zeros((12, 4)), csr_matrix((9, 2))),
        SideFeatures(),
    ):
        other = Intercepts(
            *places(plain),
            plain.values,
            SHAPE,
            Squared(),
            weights=plain.weights,
            offset=0.25,
            ridges=(1.5, 0.7),
            features=features,
        )
        assert other.inner(z).value == pytest.approx(without.value, rel=1e-9)
        assert np.allclose(other.inner(z).rows, without.rows, rtol=0, atol=1e-6)
