"""radius_for: λ of the penalised form and the radius mean the same model, whatever its loss, intercepts and weights."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array

import spectraplex as sx
from spectraplex.estimators import MatrixCompletion, radius_for

# descents compare values of f, which have eps of rounding: a gap below a few √eps ≈ 1.5e-8 may be had or not
EXACT = 1e-7


def table(seed=0, shape=(12, 9), missing=0.4):
    """A table of rank two with noise and holes; no row and no column is empty."""
    rng = np.random.default_rng(seed)
    M = 3.0 + rng.normal(size=(shape[0], 2)) @ rng.normal(size=(2, shape[1])) + 0.3 * rng.normal(size=shape)
    holes = rng.random(shape) < missing
    holes[np.arange(max(shape)) % shape[0], np.arange(max(shape)) % shape[1]] = False
    M[holes] = np.nan
    return M


def everywhere(M):
    return [(i, j) for i in range(M.shape[0]) for j in range(M.shape[1])]


@pytest.mark.slow
@settings(max_examples=10, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    seed=st.integers(0, 1000),
    lam=st.floats(0.5, 1.5),
    loss=st.sampled_from(["squared", "huber"]),
    weighting=st.sampled_from(["plain", "frequency"]),
    intercepts=st.booleans(),
    weighted=st.booleans(),
)
def test_the_radius_of_a_price_has_that_price_and_predicts_the_same(seed, lam, loss, weighting, intercepts, weighted):
    M = table(seed)
    rows, cols = np.nonzero(~np.isnan(M))
    values, pairs = M[rows, cols], np.column_stack([rows, cols])
    weights = np.random.default_rng(seed).uniform(0.5, 2.0, values.size) if weighted else None
    model = MatrixCompletion(loss=loss, weighting=weighting, intercepts=intercepts, tolerance=1e-6, clip=False)
    radius = radius_for(model, lam, pairs, values, weights, tolerance=1e-6)
    model.set_params(radius=radius).fit(pairs, values, weights)
    assert model.multiplier_ == pytest.approx(lam, rel=1e-2)
    # the penalised problem itself, from the model's own parts: the fit solves it, intercepts included
    penalized = sx.Penalized(model.problem(pairs, values, weights).objective, lam)
    certificate = sx.certify(penalized, (model.U_, model.s_, model.V_))
    assert certificate.gap <= 1e-5 * certificate.value
    other = sx.solve(penalized, stop=sx.Stop(relative_gap=1e-6, max_steps=200))
    wide = other.X.dense() * np.outer(model.row_scales_, model.column_scales_)
    ours = (model.U_ * model.s_) @ model.V_.T * np.outer(model.row_scales_, model.column_scales_)
    assert np.abs(wide - ours)[rows, cols].max() <= 2e-3 * np.abs(values).max()


def test_a_price_is_paid_in_full():
    """Another price, another radius: the dearer, the smaller; and a fit at twice the price is another one."""
    M, model = table(3), MatrixCompletion(tolerance=1e-6)
    radii = [radius_for(model, lam, M) for lam in (0.5, 1.0, 2.0)]
    assert radii[0] > 1.1 * radii[1] > 1.21 * radii[2]
    fits = [MatrixCompletion(radius, tolerance=1e-6).fit_matrix(M).predict(everywhere(M)) for radius in radii[1:]]
    assert np.abs(fits[0] - fits[1]).max() > 0.05


def test_the_iteration_of_soft_impute_ends_at_the_same_table():
    M, lam = table(5), 1.5
    seen, Z = ~np.isnan(M), np.zeros(M.shape)
    for _ in range(5000):  # fill in, decompose, take λ off every singular value
        U, s, Vh = np.linalg.svd(np.where(seen, M, Z), full_matrices=False)
        Z = (U * np.maximum(s - lam, 0.0)) @ Vh
    model = MatrixCompletion(intercepts=False, weighting="plain", clip=False, tolerance=EXACT)
    radius = radius_for(model, lam, M, tolerance=EXACT)
    assert radius == pytest.approx(np.linalg.norm(Z, "nuc"), rel=1e-5)
    ours = model.set_params(radius=radius).fit_matrix(M).predict(everywhere(M)).reshape(M.shape)
    np.testing.assert_allclose(ours, Z, atol=2e-3)


def test_ridges_on_wide_factors_are_the_nuclear_norm():
    """½·reg·(‖P‖² + ‖Q‖²), alternating least squares: λ = reg; every entry counts, with a weight."""
    rng = np.random.default_rng(2)
    clicks = rng.poisson(0.6, size=(14, 9)).astype(float)
    liked, confidence, reg = (clicks > 0) * 1.0, np.where(clicks > 0, 4.0 * clicks, 1.0), 2.0
    P, Q = rng.normal(size=(14, 9)), rng.normal(size=(9, 9))
    for _ in range(2000):
        for A, B, C, T in ((P, Q, confidence, liked), (Q, P, confidence.T, liked.T)):
            for i in range(len(A)):
                A[i] = np.linalg.solve((B.T * C[i]) @ B + reg * np.eye(9), B.T @ (C[i] * T[i]))
    pairs = everywhere(clicks)
    model = MatrixCompletion(intercepts=False, weighting="plain", clip=False, tolerance=EXACT)
    given = (pairs, liked.ravel(), confidence.ravel())
    model.set_params(radius=radius_for(model, reg, *given, tolerance=EXACT)).fit(*given)
    np.testing.assert_allclose(model.predict(pairs).reshape(14, 9), P @ Q.T, atol=1e-3)


@pytest.mark.slow
def test_a_ridge_per_rating_is_a_weighting_and_a_price():
    """½Σ(error² + reg(‖p‖² + ‖q‖²)) over the ratings: λ = reg·n/√(rows·columns), exponent ½ without smoothing."""
    rng, reg = np.random.default_rng(4), 0.25
    M = table(4, (15, 10), 0.5)
    M -= np.nanmean(M)
    seen = ~np.isnan(M)
    rows, cols = seen.sum(1), seen.sum(0)
    P, Q = rng.normal(size=(15, 10)), rng.normal(size=(10, 10))
    for _ in range(3000):
        for A, B, S, T in ((P, Q, seen, M), (Q, P, seen.T, M.T)):
            for i in range(len(A)):
                b = B[S[i]]
                A[i] = np.linalg.solve(b.T @ b + reg * len(b) * np.eye(10), b.T @ T[i][S[i]])
    scaled = (rows[:, None] / rows.mean()) ** 0.5 * (P @ Q.T) * (cols / cols.mean()) ** 0.5
    i, j = np.nonzero(seen)
    fit = sx.Completion(i, j, M[i, j], M.shape)
    slope = np.zeros(M.shape)
    slope[i, j] = (P @ Q.T)[i, j] - fit.values
    gradient = (rows[:, None] / rows.mean()) ** -0.5 * slope * (cols / cols.mean()) ** -0.5
    lam = reg * seen.sum() / np.sqrt(150)
    assert np.linalg.norm(gradient, 2) == pytest.approx(lam, rel=1e-4)
    assert -np.sum(gradient * scaled) == pytest.approx(lam * np.linalg.norm(scaled, "nuc"), rel=1e-4)


def test_settings_of_the_model_count_and_its_radius_does_not():
    M = table(1)
    assert radius_for(MatrixCompletion(7.0), 1.0, M) == radius_for(MatrixCompletion(), 1.0, M)
    others = [dict(loss="huber", delta=0.2), dict(weighting="plain"), dict(ridge=0.5), dict(implicit=0.5)]
    radii = [radius_for(MatrixCompletion(**each), 0.5, M) for each in [{}, *others]]
    assert len({round(radius, 3) for radius in radii}) == len(radii)


def test_pairs_frames_and_matrices_are_the_same_data():
    pandas = pytest.importorskip("pandas")
    M = table(1)
    i, j = np.nonzero(~np.isnan(M))
    model, frame = MatrixCompletion(), pandas.DataFrame({"who": i, "what": j})
    radii = [
        radius_for(model, 1.0, M),
        radius_for(model, 1.0, coo_array((M[i, j], (i, j)), M.shape)),
        radius_for(model, 1.0, list(zip(i.tolist(), j.tolist(), strict=True)), M[i, j]),
        radius_for(model, 1.0, frame, M[i, j]),
    ]
    assert radii == [radii[0]] * 4


def test_logistic_and_what_columns_say():
    M = table(2)
    signs = np.where(np.isnan(M), np.nan, (M > 3.0) * 1.0)
    model = MatrixCompletion(loss="logistic", implicit=0.5, tolerance=1e-6)
    radius = radius_for(model, 0.4, signs, tolerance=1e-6)
    assert model.set_params(radius=radius).fit_matrix(signs).multiplier_ == pytest.approx(0.4, rel=1e-2)


REFUSED = [
    (lambda: radius_for(object(), 1.0, table()), TypeError, "must be a MatrixCompletion, got object"),
    (lambda: radius_for(MatrixCompletion(), -1.0, table()), ValueError, "lam"),
    (lambda: radius_for(MatrixCompletion(), "auto", table()), TypeError, "lam"),
    (lambda: radius_for(MatrixCompletion(), 1.0, table(), tolerance=0.0), ValueError, "tolerance"),
    (lambda: radius_for(MatrixCompletion(loss="l1"), 1.0, table()), ValueError, "unknown loss 'l1'"),
    (lambda: radius_for(MatrixCompletion(), 1.0, table(), None, [1.0]), ValueError, "a matrix has none"),
    (lambda: radius_for(MatrixCompletion(), 1.0, [("a", "b")], [1.0, 2.0]), ValueError, "one value per pair"),
    (lambda: radius_for(MatrixCompletion(), 1.0, np.ones((4, 4))), ValueError, "without it everything is fitted"),
]


@pytest.mark.parametrize(("call", "kind", "words"), REFUSED, ids=[words[:12] for *_, words in REFUSED])
def test_what_makes_no_sense_is_refused(call, kind, words):
    with pytest.raises(kind, match=words):
        call()


def test_too_high_a_price_is_answered_with_the_highest_that_is_not():
    M = table(6)
    model = MatrixCompletion(intercepts=False, weighting="plain")
    most = np.linalg.norm(np.nan_to_num(M), 2)  # the gradient at zero is minus the zero-filled table
    with pytest.raises(ValueError, match=f"choose λ below {str(most)[:5]}"):
        radius_for(model, 1.01 * most, M)
    assert radius_for(model, 0.99 * most, M) > 0


def test_a_solve_cut_short_says_so():
    with pytest.warns(match="radius_for: the certified gap is .* after 1 steps; raise the model's max_iter"):
        radius_for(MatrixCompletion(max_iter=1), 0.1, table(0, (40, 30)), tolerance=1e-9)
