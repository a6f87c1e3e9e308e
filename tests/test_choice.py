"""The radius that the data choose: stable, from folds that do not know names; and what the data tell beside it."""

from __future__ import annotations

import warnings
from types import SimpleNamespace

import numpy as np
import pytest

from spectraplex import verify
from spectraplex.datasets import ratings_like
from spectraplex.estimators import MatrixCompletion
from spectraplex.estimators.completion.choose import _Together
from spectraplex.estimators.completion.folds import folds
from spectraplex.estimators.completion.strides import GROWTH, Strides
from spectraplex.estimators.input.observations import Observations

TABLE = ratings_like(60, 50, 1500, rank=3, noise=0.5, seed=4)
PAIRS = np.column_stack([TABLE.rows, TABLE.cols])


def observations(rows, cols, values, weights=None) -> Observations:
    return Observations(np.asarray(rows), np.asarray(cols), np.asarray(values, float), weights, (60, 50)).tidy()


def test_folds_share_no_pair_and_have_the_share():
    seen = observations(TABLE.rows, TABLE.cols, TABLE.values)
    parts = folds(seen, 0.1)
    assert len(parts) == 5 and {int(part.sum()) for part in parts} == {150}
    assert np.sum(parts, axis=0).max() == 1
    assert len(folds(seen, 0.6)) == 1  # a second one would need pairs of the first
    large = ratings_like(500, 400, 60_000, seed=0)
    assert len(folds(Observations(large.rows, large.cols, large.values, None, large.shape), 0.1)) == 1


def test_folds_do_not_know_names_order_units_or_repetition():
    rng = np.random.default_rng(0)
    rows, cols = rng.permutation(60), rng.permutation(50)
    plain = observations(TABLE.rows, TABLE.cols, TABLE.values)

    def aside(seen: Observations, fold: np.ndarray, back: tuple) -> set:
        return {(int(back[0][r]), int(back[1][c])) for r, c in zip(seen.rows[fold], seen.cols[fold], strict=True)}

    same = (np.arange(60), np.arange(50))
    known = [aside(plain, fold, same) for fold in folds(plain, 0.1)]
    renamed = observations(rows[TABLE.rows], cols[TABLE.cols], 7.0 * TABLE.values - 2.0)
    back = (np.argsort(rows), np.argsort(cols))
    assert [aside(renamed, fold, back) for fold in folds(renamed, 0.1)] == known
    twice = observations(*(np.concatenate([each, each[:40]]) for each in (TABLE.rows, TABLE.cols, TABLE.values)))
    assert [aside(twice, fold, same) for fold in folds(twice, 0.1)] == known
    other = TABLE.values.copy()
    other[3] += 1.0
    changed = observations(TABLE.rows, TABLE.cols, other)
    assert [aside(changed, fold, same) for fold in folds(changed, 0.1)] != known


def test_neither_seeds_nor_names_move_predictions():
    rng = np.random.default_rng(1)
    rows, cols, order = rng.permutation(60), rng.permutation(50), rng.permutation(TABLE.values.size)
    other = np.column_stack([rows[TABLE.rows], cols[TABLE.cols]])
    first = MatrixCompletion(random_state=0).fit(PAIRS, TABLE.values)
    second = MatrixCompletion(random_state=1).fit(PAIRS, TABLE.values)
    renamed = MatrixCompletion().fit(other[order], TABLE.values[order])
    for fit, asked in ((second, PAIRS), (renamed, other)):
        assert np.sqrt(np.mean((fit.predict(asked) - first.predict(PAIRS)) ** 2)) < 0.02
        assert fit.radius_ == pytest.approx(first.radius_, rel=0.1)


class Curve(Strides):
    """A walk over a score that is known."""

    def __init__(self, score, dear=False) -> None:
        super().__init__(dear)
        self.of = score

    def visit(self, radius, starts=()):
        class Here:
            free = False

        here = Here()
        here.radius, here.score, here.starts = radius, self.of(radius), ()
        self.points.append(here)
        return here


@pytest.mark.parametrize("lowest", [0.05, 0.9, 3.0, 40.0, 700.0])
def test_a_walk_finds_the_lowest_point_of_a_parabola(lowest):
    walk = Curve(lambda radius: 1.0 + 0.01 * np.log2(radius / lowest) ** 2)
    walk.there_and_back(1.0)
    found, near = walk.lowest()
    assert found == pytest.approx(lowest, rel=1e-6) and not walk.edge
    assert found / GROWTH <= near.radius <= found * GROWTH**2


def test_where_radii_are_dear_a_walk_ends_before_scores_rise():
    """With a curve that rises more steeply than it falls: no radius beyond the lowest point, and nearly that one."""

    def score(radius):
        return 1.0 + 0.02 * ((radius / 7.5) ** 0.4 - 1.0) ** 2

    walks = [Curve(score, dear) for dear in (True, False)]
    for walk in walks:
        walk.there_and_back(1.0)
        assert walk.lowest()[0] == pytest.approx(7.5, rel=0.15)
    assert [max(point.radius for point in walk.points) for walk in walks] == [8.0, 16.0]


@pytest.mark.parametrize("sign", [-1.0, 1.0])
def test_a_walk_that_ends_at_the_edge_knows_it(sign):
    walk = Curve(lambda radius: 1.0 + 0.5 / (1.0 + radius ** (-0.2 * sign)))
    walk.there_and_back(1.0)
    assert walk.edge


def test_a_walk_goes_down_to_nothing_where_that_is_best():
    """A parabola through three radii has its lowest point near them though a radius of zero is better than all."""
    walk = Curve(lambda radius: 1.0 + 0.01 * radius)
    walk.alone = 1.0
    walk.there_and_back(1.0)
    assert walk.lowest()[0] <= 0.1 and not walk.edge and len(walk.points) < 8
    walk = Curve(lambda radius: 1.0 - 0.1 * radius * np.exp(-radius / 0.2))  # there is a better one below
    walk.alone = 1.0
    walk.there_and_back(1.0)
    assert walk.lowest()[0] == pytest.approx(0.2, rel=0.3)


def test_a_walk_looks_closer_where_scores_are_steep():
    """Which fall faster than they rise, so that the parabola through three of them misses."""

    before, after = [], []
    for lowest in 5.5 * 2.0 ** np.arange(0.0, 1.0, 0.1):

        def score(radius, lowest=lowest):
            x = 2.0 * np.log(radius / lowest)
            return 1.0 + np.exp(-x) - 1.0 + x

        walk = Curve(score)
        walk.there_and_back(1.0)
        before.append(abs(np.log(walk.lowest()[0] / lowest)))
        count = len(walk.points)
        walk.closer()
        after.append(abs(np.log(walk.lowest()[0] / lowest)))
        assert len(walk.points) <= count + 3
    assert np.mean(after) < 0.5 * np.mean(before)
    flat = Curve(lambda radius: 1.0 + 0.01 * np.log2(radius / 5.5) ** 2)
    flat.there_and_back(1.0)
    count = len(flat.points)
    flat.closer()
    assert len(flat.points) == count


def test_no_low_rank_part_where_there_is_no_signal():
    rng = np.random.default_rng(2)
    cell = rng.permutation(120 * 80)[:4000]
    values = 3.0 + rng.standard_normal(120)[cell // 80] + rng.standard_normal(80)[cell % 80]
    values += rng.standard_normal(cell.size)
    pairs = np.column_stack([cell // 80, cell % 80])
    fit = MatrixCompletion().fit(pairs[:3000], values[:3000])
    flat = MatrixCompletion(radius=1e-6, ridge=fit.ridge_).fit(pairs[:3000], values[:3000])
    errors = [np.sqrt(np.mean((each.predict(pairs[3000:]) - values[3000:]) ** 2)) for each in (fit, flat)]
    assert errors[0] < 1.002 * errors[1]
    assert not fit.notices_


def told(pairs, values, **settings) -> tuple[MatrixCompletion, list[str]]:
    with warnings.catch_warnings(record=True) as heard:
        warnings.simplefilter("always")
        model = MatrixCompletion(**settings).fit(pairs, values)
    return model, [str(each.message) for each in heard]


RNG = np.random.default_rng(5)
HOURS = np.expm1(1.0 + 0.7 * (RNG.standard_normal(60)[TABLE.rows] + RNG.standard_normal(50)[TABLE.cols]))
HOURS = np.maximum(HOURS * np.exp(0.7 * RNG.standard_normal(HOURS.size)), 0.0)

CASES = {
    "so will be every prediction": (PAIRS, np.full(len(PAIRS), 3.0), {}),
    "one class only": (PAIRS, np.ones(len(PAIRS)), {"loss": "logistic"}),
    "fewer than rows and columns together": (PAIRS[::21], TABLE.values[::21], {}),
    'set target_transform="log1p"': (PAIRS, HOURS, {}),
    "every row has one observation": (np.column_stack([np.arange(len(PAIRS)), TABLE.cols]), TABLE.values, {}),
    "every column has one observation": (np.column_stack([TABLE.rows, np.arange(len(PAIRS))]), TABLE.values, {}),
}


@pytest.mark.parametrize("what", CASES)
def test_what_the_data_tell_is_said_once_and_kept(what):
    pairs, values, settings = CASES[what]
    model, heard = told(pairs, values, radius=1.0, **settings)
    assert sum(what in each for each in heard) == 1 and all(each.endswith(".") for each in heard)
    assert any(what in each for each in model.notices_)
    again = MatrixCompletion.from_arrays(*model.to_arrays())
    assert again.notices_ == model.notices_


def test_ordinary_data_tell_nothing():
    model, heard = told(PAIRS, TABLE.values)
    assert heard == [] == model.notices_


def test_log1p_fits_logarithms_and_predicts_values():
    model, heard = told(PAIRS, HOURS, target_transform="log1p", radius=5.0)
    assert heard == []
    plain = MatrixCompletion(radius=5.0).fit(PAIRS, np.log1p(HOURS))
    assert np.allclose(np.log1p(model.predict(PAIRS)), plain.predict(PAIRS), atol=1e-9)
    assert model.range_ == (HOURS.min(), HOURS.max()) and np.array_equal(
        np.sort(model.observations_.values), np.sort(HOURS)
    )
    assert verify(model.certificate_, model.problem(PAIRS, HOURS), (model.U_, model.s_, model.V_))
    seen = TABLE.rows == 0
    given = dict(zip(TABLE.cols[seen].tolist(), HOURS[seen].tolist(), strict=True))
    more = model.fold_in({1000: given})
    asked = [(1000, column) for column in given]
    assert np.abs(np.log1p(more.predict(asked)) - np.log1p(model.predict(PAIRS[seen]))).max() < 0.05


@pytest.mark.parametrize(
    ("values", "settings", "why"),
    [
        ([1.0, -1.5], {"target_transform": "log1p"}, "needs values above −1"),
        ([1.0, 2.0], {"target_transform": "log"}, "target_transform must be 'none' or 'log1p'"),
        ([1.0, 0.0], {"target_transform": "log1p", "loss": "logistic"}, "target_transform goes with numbers"),
    ],
)
def test_transforms_that_make_no_sense_are_refused(values, settings, why):
    with pytest.raises(ValueError, match=why):
        MatrixCompletion(**settings).fit([[0, 0], [1, 1]], values)


def test_folds_and_order_of_a_table_with_more_cells_than_32_bits_count():
    """Rows in 32 bits, as a cluster keeps them: row × columns + column must not overflow."""
    rng = np.random.default_rng(3)
    cells = rng.choice(60_000 * 50_000, 4000, replace=False)
    rows, cols, values = cells // 50_000, cells % 50_000, rng.standard_normal(4000)
    wide = Observations(rows, cols, values, None, (60_000, 50_000)).tidy()
    narrow = Observations(rows.astype(np.int32), cols.astype(np.int32), values, None, (60_000, 50_000)).tidy()
    assert (np.diff(narrow.rows.astype(np.int64) * 50_000 + narrow.cols) > 0).all()
    assert (narrow.values == wide.values).all()
    assert all((a == b).all() for a, b in zip(folds(wide, 0.1), folds(narrow, 0.1), strict=True))


def test_without_noise_the_radius_is_about_the_norm_of_the_truth():
    ratios, misses = [], []
    for seed in range(5):
        rng = np.random.default_rng(seed)
        truth = rng.standard_normal((20, 3)) @ rng.standard_normal((3, 15))
        hidden = rng.random(truth.shape) < 0.3
        model = MatrixCompletion(weighting="plain", intercepts=False, tolerance=1e-3)
        model.fit_matrix(np.where(hidden, np.nan, truth))
        ratios.append(model.radius_ / np.linalg.svd(truth, compute_uv=False).sum())
        missed = model.predict(np.column_stack(np.nonzero(hidden))) - truth[hidden]
        misses.append(np.sqrt(np.mean(missed**2)) / truth.std())
    assert max(np.abs(np.array(ratios) - 1.0)) < 0.2 and np.mean(misses) < 0.24, (ratios, misses)


def test_a_ball_that_does_not_bind_is_left_for_a_smaller_one():
    """Beyond some radius a dense table is fitted exactly, with all its noise: the best one is well below."""
    rng = np.random.default_rng(0)
    truth = rng.standard_normal((80, 4)) @ rng.standard_normal((4, 60)) / 2.0
    seen = rng.random(truth.shape) < 0.6
    noisy = truth + 0.1 * rng.standard_normal(truth.shape)
    model = MatrixCompletion().fit_matrix(np.where(seen, noisy, np.nan))
    assert model.radius_ == pytest.approx(np.linalg.svd(truth, compute_uv=False).sum(), rel=0.1)
    missed = model.predict(np.column_stack(np.nonzero(~seen))) - truth[~seen]
    assert np.sqrt(np.mean(missed**2)) < 0.11


@pytest.mark.parametrize(("fall", "share"), [(0.2, 1.0), (0.5, 1.0), (1.0, 0.5), (4.0, 0.125), (0.0, 0.0), (-1.0, 0.0)])
def test_a_ball_grows_with_the_observations_as_noise_lets_it(fall, share):
    """Where the multiplier goes like radius to the −fall, ten per cent more observations lessen it."""
    points = [
        SimpleNamespace(radius=radius, solution=SimpleNamespace(multiplier=radius**-fall)) for radius in (4.0, 1.0, 2.0)
    ]
    for radius in (0.1, 1.5, 3.0, 9.0):
        assert _Together.growth(SimpleNamespace(points=points), radius, 1.1) == pytest.approx(1.1**share)
    assert _Together.growth(SimpleNamespace(points=points[:1]), 4.0, 1.1) == 1.1


@pytest.mark.parametrize(("implicit", "dear"), [(0.0, True), (0.5, False)])
def test_a_walk_with_what_else_a_row_has_goes_on_where_radii_are_dear(implicit, dear, monkeypatch):
    """Scores go flat more slowly there: three that fall do not show the lowest one."""
    from spectraplex.estimators.completion import choose

    seen, begun = [], choose._Together.__init__

    def noted(self, walks, told, dear, train=None):
        seen.append(dear)
        begun(self, walks, told, dear, train)

    monkeypatch.setattr(choose, "_MANY", 10)
    monkeypatch.setattr(choose._Together, "__init__", noted)
    table = ratings_like(60, 40, 900)
    MatrixCompletion(implicit=implicit).fit(np.column_stack([table.rows, table.cols]), table.values)
    assert seen == [dear]
