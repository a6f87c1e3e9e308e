"""Linear and kernel learners at the edges: targets that are fitted exactly, holes in scores, what is too large."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

import spectraplex as sx
from spectraplex.estimators import KernelLearner, NuclearNormRegressor
from spectraplex.hooks import Hooks


@pytest.fixture
def exact():
    rng = np.random.default_rng(0)
    X = rng.standard_normal((30, 4))
    return X, X @ rng.standard_normal((4, 3))


def test_a_walk_does_not_go_on_below_nothing(exact):
    """Without noise the loss kept aside goes on falling down to rounding; no radius is solved that finely."""
    steps = []

    def counting(problem, **asked):
        result = sx.solve(problem, **asked)
        steps.append(result.trace[-1].step)
        return result

    X, Y = exact
    model = NuclearNormRegressor()._fit(X, Y, None, Hooks(solver=counting))
    assert max(steps) < 10  # 20 of each, at every radius beyond the norm of the weights, before
    assert model.predict(X) == pytest.approx(Y, abs=1e-3)


def test_scores_leave_missing_targets_out(exact):
    X, Y = exact
    noisy = Y + np.random.default_rng(1).standard_normal(Y.shape)
    holes = noisy.copy()
    holes[::3, 0] = np.nan
    model = NuclearNormRegressor(radius=4.0).fit(X, holes)
    seen = np.flatnonzero(~np.isnan(holes[:, 0]))
    found = model.predict(X)

    def plainly(rows, k):
        left, truth = found[rows, k], noisy[rows, k]
        return 1.0 - np.sum((left - truth) ** 2) / np.sum((truth - truth.mean()) ** 2)

    everyone = np.arange(30)
    assert model.score(X, holes) == pytest.approx(
        np.mean([plainly(seen, 0), plainly(everyone, 1), plainly(everyone, 2)]), rel=1e-12
    )
    assert model.score(X, np.ma.masked_invalid(holes)) == model.score(X, holes)
    masked = NuclearNormRegressor(radius=4.0).fit(X, np.ma.array(noisy, mask=np.isnan(holes)))
    assert masked.certificate_.value == model.certificate_.value
    search = GridSearchCV(NuclearNormRegressor(), {"radius": [0.01, 4.0]}, cv=3).fit(X, holes)
    assert search.best_params_ == {"radius": 4.0}
    with pytest.raises(ValueError, match="no task in y has two targets"):
        model.score(X, np.full((30, 3), np.nan))
    with pytest.raises(ValueError, match="y has 2 tasks"):
        model.score(X, holes[:, :2])


def test_kernels_refuse_what_cannot_be_squared_or_told(exact):
    X = exact[0]
    with pytest.raises(ValueError, match="KernelLearner: y holds numbers larger than"):
        KernelLearner(loss="squared").fit(X, [1e200, 1.0], pairs=[[0, 1], [1, 2]])
    with pytest.raises(ValueError, match="KernelLearner: Input y contains NaN"):
        KernelLearner().fit(X, np.where(np.arange(30) % 3, 1.0, np.nan))


def test_kernels_take_the_units_of_their_entries(exact):
    X = exact[0]
    pairs = np.stack(np.triu_indices(30), axis=1)
    seen = np.arange(len(pairs)) % 3 > 0
    entries, radii = (X @ X.T)[tuple(pairs.T)], []
    for unit in (1e-5, 1.0, 1e5):
        model = KernelLearner(loss="squared").fit(X, unit * entries[seen], pairs=pairs[seen])
        off = model.kernel_[tuple(pairs[~seen].T)] / unit - entries[~seen]
        assert np.linalg.norm(off) < 0.3 * np.linalg.norm(entries[~seen])
        radii.append(model.radius_ / unit)
    assert radii == pytest.approx([radii[0]] * 3)
