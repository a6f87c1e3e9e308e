"""``MatrixCompletion`` on a Dask cluster: the same fit, answers for frames, models that stay in shards."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.datasets import ratings_like
from spectraplex.estimators import MatrixCompletion
from spectraplex.estimators.completion import far_fit
from spectraplex.estimators.completion.far_parts import drawn
from spectraplex.losses import Huber, Logistic, Squared
from spectraplex.objectives.intercepts import Intercepts
from spectraplex.objectives.recycled import Recycled
from spectraplex.places.here import HERE

distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")

from spectraplex.objectives.shard import Shard  # noqa: E402
from spectraplex.objectives.sharded_intercepts import ShardedIntercepts  # noqa: E402
from spectraplex.places.dask import ClusterPlace  # noqa: E402


@pytest.fixture(scope="module")
def client():
    quiet = {"dashboard_address": ":0", "silence_logs": 50}
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=False, **quiet) as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


def both(client, loss, ridges=(4.0, 2.0), cuts=(0, 33, 34, 80), seed=0):
    """An ``Intercepts`` objective with weights, scales and a pair that comes twice, and the same in shards."""
    rng = np.random.default_rng(seed)
    m, n = cuts[-1], 30
    rows, cols = np.nonzero(rng.random((m, n)) < 0.3)
    rows, cols = np.sort(np.append(rows, rows[:3])), np.append(cols, cols[:3])[np.argsort(np.append(rows, rows[:3]))]
    values = rng.standard_normal(m)[rows] + rng.standard_normal(rows.size)
    values = np.sign(values) if isinstance(loss, Logistic) else values
    weights, scales = rng.uniform(0.5, 2.0, rows.size), (rng.uniform(0.5, 2.0, m), rng.uniform(0.5, 2.0, n))
    settings = {"offset": 0.3, "ridges": ridges}
    whole = Intercepts(rows, cols, values, (m, n), loss, weights=weights, scales=scales, **settings)
    shards, first = [], 0
    for low, high in pairwise(cuts):
        own = (rows >= low) & (rows < high)
        part = (rows[own] - low, cols[own], values[own], (high - low, n), loss)
        fit = Intercepts(*part, weights=weights[own], scales=(scales[0][low:high], scales[1]), **settings)
        shards.append(Shard(fit, slice(low, high), slice(first, first + int(own.sum()))))
        first += int(own.sum())
    place = ClusterPlace(client, client.scatter(shards, hash=False), m, n)
    return whole, ShardedIntercepts(place, first, loss, 0.3, ridges, None, scales[1])


@pytest.mark.parametrize("loss", [Squared(), Huber(0.5), Logistic()], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("ridges", [(4.0, 2.0), None])
def test_values_slopes_and_conjugates_are_those_of_one_machine(client, loss, ridges):
    """To the accuracy that the inner problem is solved to: a share 1e-12 of the value, so 1e-6 of a slope."""
    whole, shared = both(client, loss, ridges)
    rng, (m, n) = np.random.default_rng(1), whole.shape
    U, s, V = rng.standard_normal((m, 2)), rng.uniform(0.5, 1.0, 2), rng.standard_normal((n, 2))
    z, far = whole.measure(U, s, V), shared.measure(shared.place.from_host(U, slice(0, m)), s, V)
    (value, slope), (got, there) = whole.evaluate(z), shared.evaluate(far)
    assert got == pytest.approx(value, rel=1e-11)
    size = np.abs(slope).max()
    np.testing.assert_allclose(shared.images.pack(there), slope, atol=1e-4 * size)
    assert shared.pair(there, far) == pytest.approx(whole.pair(slope, z), rel=1e-4)
    near, away = whole.conjugate(slope), shared.conjugate(there)
    assert away.at(0.7) == pytest.approx(near.at(0.7), abs=1e-4 * near.size)
    assert away.limit == pytest.approx(near.limit, rel=1e-4)
    w, other = whole.combine(-1.0, z, 0.0, z), shared.combine(-1.0, far, 0.0, far)
    assert shared.along(far, other).minimize(1.0) == pytest.approx(whole.along(z, w).minimize(1.0), abs=1e-5)
    assert shared.reach <= (1 + 1e-12) * whole.reach  # of the rows of one shard at a time
    assert shared.bend == pytest.approx(whole.bend)
    assert shared.steepest == pytest.approx(whole.steepest) and shared.squares == pytest.approx(whole.squares)
    domain = sx.NuclearBall(whole.shape, 5.0)
    assert sx.Problem(shared, domain).fingerprint == sx.Problem(whole, domain).fingerprint


@pytest.mark.slow
def test_the_certificate_of_intercepts_holds_on_one_machine(client):
    whole, shared = both(client, Squared())
    domain, stop = sx.NuclearBall(whole.shape, 10.0), sx.Stop(relative_gap=1e-2)
    here, away = sx.solve(sx.Problem(whole, domain), stop=stop), sx.solve(sx.Problem(shared, domain), stop=stop)
    assert away.status is sx.Status.GAP and abs(here.value - away.value) <= here.gap + away.gap
    assert sx.verify(away.certificate, sx.Problem(whole, domain), away.X.at(HERE))


def test_remembered_directions_save_products():
    rng = np.random.default_rng(0)
    H = rng.standard_normal((60, 40))
    S, count = np.eye(40) + H.T @ H / 60, [0]

    def times(v):
        count[0] += 1
        return S @ v

    inverse = Recycled(times, np.diag(S).copy(), 1.0)
    b = rng.standard_normal(40)
    x = inverse.solve(b, 1e-14, 1.0)
    np.testing.assert_allclose(S @ x, b, atol=1e-6)
    first, count[0] = count[0], 0
    y = inverse.solve(b + 1e-3 * rng.standard_normal(40), 1e-14, 1.0)
    assert count[0] < first / 1.5 and np.isfinite(y).all()


def ratings(parts=3):
    table = ratings_like(40, 15, 300, seed=1)
    told = pd.DataFrame({"user": [f"u{i}" for i in table.rows], "film": table.cols, "stars": table.values})
    told["liked"] = (told["stars"] > told["stars"].median()).astype(int)
    return told, dd.from_pandas(told, npartitions=parts)


@pytest.mark.parametrize(
    ("settings", "value"),
    [
        pytest.param({"radius": 20.0}, "stars", marks=pytest.mark.slow),
        pytest.param({"radius": 20.0, "loss": "huber", "weighting": "plain"}, "stars", marks=pytest.mark.long),
        pytest.param({"radius": 20.0, "loss": "logistic"}, "liked", marks=pytest.mark.long),
        ({"radius": 60.0, "intercepts": False}, "stars"),
    ],
)
def test_a_dask_frame_is_fitted_like_any_other(client, settings, value):
    told, far = ratings()
    pairs = told[["user", "film"]]
    here = MatrixCompletion(tolerance=5e-2, **settings).from_frame(told, "user", "film", value)
    away = MatrixCompletion(tolerance=5e-2, **settings).from_frame(far, "user", "film", value)
    gaps = here.certificate_.gap + away.certificate_.gap
    assert abs(here.certificate_.value - away.certificate_.value) <= gaps
    assert away.status_ == "GAP" and away.certificate_.gap <= away.allowed_gap_
    assert list(away.row_labels_.values) == list(here.row_labels_.values) and away.offset_ == pytest.approx(
        here.offset_
    )
    np.testing.assert_allclose(away.predict(pairs), here.predict(pairs), atol=0.2)
    problem = away.problem(pairs, told[value])
    assert sx.verify(away.certificate_, problem, (away.U_, away.s_, away.V_))


@pytest.mark.long
def test_the_radius_is_chosen_on_the_cluster_and_does_not_hang_on_the_shards(client):
    told, far = ratings()
    one, two = (
        MatrixCompletion(ridge=(4.0, 2.0), tolerance=0.1).from_frame(frame, "user", "film", "stars")
        for frame in (far, ratings(parts=2)[1])
    )
    assert one.path_["radius"].size >= 2 and one.radius_ == pytest.approx(two.radius_, rel=0.02)
    assert one.path_["score"].min() < told["stars"].std()


@pytest.mark.long
def test_weights_and_pairs_that_come_twice(client):
    told, _ = ratings()
    twice = pd.concat([told, told.iloc[:50]]).reset_index(drop=True)
    weighted = told.assign(often=1.0)
    weighted.loc[weighted.index[:50], "often"] = 2.0
    none = weighted.assign(often=weighted["often"].where(weighted.index >= 20, 0.0))
    asked = {"row": "user", "column": "film", "value": "stars"}
    a = MatrixCompletion(radius=20.0).from_frame(dd.from_pandas(twice, npartitions=2), **asked)
    b = MatrixCompletion(radius=20.0).from_frame(
        dd.from_pandas(weighted, npartitions=3), sample_weight="often", **asked
    )
    # the same function: each bound is below each value
    assert abs(a.certificate_.value - b.certificate_.value) <= a.certificate_.gap + b.certificate_.gap
    c = MatrixCompletion(radius=20.0).from_frame(dd.from_pandas(none, npartitions=3), sample_weight="often", **asked)
    assert len(c.observations_) == len(told) - 20


@pytest.mark.slow
def test_a_tall_model_stays_in_shards_and_answers_from_there(client, monkeypatch):
    told, far = ratings()
    whole = MatrixCompletion(radius=20.0).from_frame(far, "user", "film", "stars")
    monkeypatch.setattr(far_fit, "_WHOLE", 0)
    model = MatrixCompletion(radius=20.0).from_frame(far, "user", "film", "stars")
    assert not hasattr(model, "U_")
    asked = pd.DataFrame({"user": ["u1", "u2", "nobody", "u7"], "film": [3, 4, 5, 9999]})
    np.testing.assert_allclose(model.predict(asked), whole.predict(asked), rtol=1e-6)
    np.testing.assert_allclose(np.abs(model.embed(["u3", "x"])), np.abs(whole.embed(["u3", "x"])), atol=1e-5)
    for got, want in zip(model.recommend(["u3", "nobody"], 3), whole.recommend(["u3", "nobody"], 3), strict=True):
        assert [label for label, _ in got] == [label for label, _ in want]
    frame = dd.from_pandas(asked, npartitions=2)
    for each in (model, whole):
        told_back = each.predict(frame).compute().set_index(["user", "film"])["prediction"]
        wanted = pd.Series(whole.predict(asked), index=pd.MultiIndex.from_frame(asked))
        np.testing.assert_allclose(told_back.loc[wanted.index], wanted, rtol=1e-6)
        best = each.recommend(frame[["user"]], 2).compute()
        assert len(best) == 8 and set(best.columns) == {"user", "place", "film", "prediction"}
        assert each.embed(frame[["user"]]).compute().shape == (4, 1 + whole.s_.size)
    assert sx.verify(model.certificate_, model.shards_.problem, model.shards_.X)
    for refused in (lambda: model.fold_in({"z": {3: 4.0}}), lambda: model.to_arrays(), lambda: model.allowed_gap_):
        with pytest.raises(ValueError, match="lie in shards"):
            refused()
    again = model.from_frame(told, "user", "film", "stars")  # an ordinary fit afterwards is an ordinary model
    assert hasattr(again, "U_") and not hasattr(again, "shards_")


@pytest.mark.parametrize(
    ("settings", "spoil", "words"),
    [
        ({"implicit": 0.5}, lambda told: told, "implicit=0.5 needs every row's columns at once"),
        ({"loss": "logistic"}, lambda told: told, "needs values all 0/1"),
        ({}, lambda told: told.assign(stars=told["stars"] * 1e60), "too large to be squared"),
        ({}, lambda told: told.assign(stars=told["stars"].where(told.index > 0)), "'stars' has missing values"),
        ({"radius": -1.0}, lambda told: told, "radius"),
    ],
)
def test_bad_input_gets_a_sentence(client, settings, spoil, words):
    frame = dd.from_pandas(spoil(ratings()[0]), npartitions=2)
    with pytest.raises(ValueError, match=words):
        MatrixCompletion(**settings).from_frame(frame, "user", "film", "stars")


@pytest.mark.slow
def test_neither_times_nor_features_nor_intervals_of_frames(client, monkeypatch):
    """Each is refused in a sentence, and what an earlier fit here had is gone; a model that came back has intervals."""
    told, far = ratings()
    known = pd.DataFrame({"length": np.arange(15.0) ** 2}, index=range(15))
    here = MatrixCompletion(radius=20.0).from_frame(told, "user", "film", "stars", column_features=known)
    for name, given in (("time", "liked"), ("column_features", known), ("row_features", known)):
        with pytest.raises(ValueError, match=f"{name} is not there for a fit on a cluster"):
            here.from_frame(far, "user", "film", "stars", **{name: given})
    away = here.from_frame(far, "user", "film", "stars")
    assert away.features_ is None and away.feature_weights_["columns"] == {} and away.latest_ is None
    assert sx.verify(away.certificate_, away.problem(told[["user", "film"]], told.stars), (away.U_, away.s_, away.V_))
    with pytest.raises(ValueError, match="interval is for pairs on this machine"):
        away.predict(far, interval=0.9)
    _, low, high = away.predict(told[["user", "film"]], interval=0.9)
    assert (low < high).all()
    monkeypatch.setattr(far_fit, "_WHOLE", 0)
    sharded = MatrixCompletion(radius=20.0).from_frame(far, "user", "film", "stars")
    with pytest.raises(ValueError, match="lie in shards"):
        sharded.predict(told[["user", "film"]], interval=0.9)


def test_what_is_kept_aside_looks_random():
    rows, cols = np.repeat(np.arange(500, dtype=np.uint64) * np.uint64(2**40), 200), np.tile(np.arange(200), 500)
    u = drawn(rows, cols, 3)
    assert abs(u.mean() - 0.5) < 5 * 0.29 / np.sqrt(u.size) and np.unique(u).size == u.size
    by_row = (u < 0.1).reshape(500, 200).mean(axis=1)  # 20 of 200 each, give or take
    assert abs(by_row.std() - np.sqrt(0.09 / 200)) < 0.1 * np.sqrt(0.09 / 200)
    assert not np.array_equal(u, drawn(rows, cols, 4))
