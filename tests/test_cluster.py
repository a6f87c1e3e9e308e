"""The same solve on a Dask cluster: a real scheduler, real worker processes."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.places.here import HERE

distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")

from spectraplex.objectives.sharded import shard_rows  # noqa: E402


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


def table(m=60, n=25, share=0.4, seed=0):
    rng = np.random.default_rng(seed)
    seen = rng.random((m, n)) < share
    seen[np.arange(m), rng.integers(0, n, m)] = True  # every row has an observation
    rows, cols = np.nonzero(seen)
    values = (rng.standard_normal((m, 3)) @ rng.standard_normal((3, n)))[rows, cols] + rng.standard_normal(rows.size)
    return rows, cols, values


@pytest.mark.parametrize("cuts", [[0, 60], [0, 1, 60], [0, 20, 21, 60]])
def test_values_slopes_and_products_are_those_of_one_machine(client, cuts):
    rows, cols, values = table()
    rng = np.random.default_rng(1)
    whole = sx.Completion(rows, cols, values, (60, 25), "huber", weights=rng.uniform(0.5, 2.0, rows.size))
    shared = shard_rows(whole, client, cuts)
    place, (m, n) = shared.place, whole.shape
    U, s, V = rng.standard_normal((m, 3)), rng.uniform(0.5, 1.0, 3), rng.standard_normal((n, 3))
    P = rng.standard_normal((m, 3))
    z, w = whole.measure(U, s, V), whole.measure(P, s, V)
    left = place.from_host(U, slice(0, m))
    far, other = shared.measure(left, s, V), shared.measure(place.from_host(P, slice(0, m)), s, V)
    close = {"rtol": 1e-12, "atol": 1e-12}
    np.testing.assert_allclose(shared.images.pack(far), z, **close)
    (value, slope), (got, there) = whole.evaluate(z), shared.evaluate(far)
    assert got == pytest.approx(value, rel=1e-13)
    np.testing.assert_allclose(shared.images.pack(there), slope, **close)
    assert shared.pair(there, far) == pytest.approx(whole.pair(slope, z), rel=1e-12)
    assert shared.pair(there, other) == pytest.approx(whole.pair(slope, w), rel=1e-12, abs=1e-12)
    G, H = whole.gradient(slope), shared.gradient(there)
    np.testing.assert_allclose(place.to_host(H.matmat(V)), G.matmat(V), **close)
    np.testing.assert_allclose(H.rmatmat(left), G.rmatmat(U), **close)
    np.testing.assert_allclose(H.scores(left, V, 2), G.scores(U, V, 2), **close)
    np.testing.assert_allclose(H.dense(), G.dense(), **close)
    dz, far_dz = whole.combine(1.0, w, -1.0, z), shared.combine(1.0, other, -1.0, far)
    one, two = whole.along(z, dz), shared.along(far, far_dz)
    assert two.minimize(1.0) == pytest.approx(one.minimize(1.0), rel=1e-9)
    near, away = whole.conjugate(slope), shared.conjugate(there)
    assert away.at(0.7) == pytest.approx(near.at(0.7), rel=1e-12) and away.limit == near.limit
    assert shared.bend == whole.bend and shared.steepest == pytest.approx(whole.steepest)
    for got, want in zip(shared.coverage, whole.coverage, strict=True):
        np.testing.assert_allclose(got, want, **close)


@pytest.mark.parametrize("complex_", [False, True])
def test_verbs_are_those_of_this_machine(client, complex_):
    """On blocks of both sides and upstairs: every verb that methods use."""
    rows, cols, values = table()
    place = shard_rows(sx.Completion(rows, cols, values, (60, 25)), client, [0, 17, 60]).place
    rng = np.random.default_rng(2)
    draw = lambda *shape: rng.standard_normal(shape) + complex_ * 1j * rng.standard_normal(shape)  # noqa: E731
    whole = slice(0, 85)
    A, B, small, weights = draw(85, 4), draw(85, 4), draw(4, 3), rng.uniform(0.5, 2.0, 4)
    a, b = place.from_host(A), place.from_host(B)
    for verb, arguments in {
        "times": (small,),
        "turned": (small,),
        "scale": (weights,),
        "divide": (weights,),
        "columns": ([2, 0],),
        "rows": (slice(0, 60),),
        "unit": (),
        "padded": (1,),
    }.items():
        got, want = getattr(place, verb)(a, *arguments), getattr(HERE, verb)(A, *arguments)
        np.testing.assert_allclose(place.to_host(got), want, rtol=1e-13, atol=1e-13, err_msg=verb)
    np.testing.assert_allclose(place.to_host(place.blend(2.0, a, -1.0, b)), 2.0 * A - B, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(place.to_host(place.join(a, b)), np.concatenate([A, B], axis=1))
    np.testing.assert_allclose(place.gram(a, b), A.conj().T @ B, rtol=1e-12, atol=1e-12)
    each = rng.uniform(0.5, 2.0, 85)
    np.testing.assert_allclose(place.dots(a, b, each), HERE.dots(A, B, each), rtol=1e-12)
    np.testing.assert_allclose(place.norms(a), np.linalg.norm(A, axis=0), rtol=1e-13)
    assert place.largest(a) == np.abs(A).max() and place.finite(a)
    np.testing.assert_array_equal(place.row(a, 5), A[5])
    np.testing.assert_array_equal(place.row(a, 70), A[70])
    Q = place.orthonormal(place.join(a, a))
    assert place.width(Q) == 4
    np.testing.assert_allclose(place.gram(Q, Q), np.eye(4), atol=1e-12)
    P, R = place.qr(a)
    np.testing.assert_allclose(place.to_host(P) @ R, A, atol=1e-12)
    kind = "complex128" if complex_ else "float64"
    drawn = place.to_host(place.random(whole, 2, kind, np.random.default_rng(3)))
    again = place.to_host(place.random(whole, 2, kind, np.random.default_rng(3)))
    np.testing.assert_array_equal(drawn, again)
    np.testing.assert_allclose(np.linalg.norm(drawn, axis=0), 1.0, rtol=1e-13)


def test_random_rows_do_not_hang_on_how_they_are_shared_out(client):
    whole = sx.Completion(*table(), (60, 25))
    drawn = []
    for cuts in ([0, 60], [0, 31, 60]):
        place = shard_rows(whole, client, cuts).place
        drawn.append(place.to_host(place.random(slice(0, 60), 2, "float64", np.random.default_rng(4))))
    np.testing.assert_allclose(drawn[0], drawn[1], rtol=1e-14)


@pytest.mark.parametrize("loss", ["squared", pytest.param("huber", marks=pytest.mark.slow)])
def test_the_answer_is_that_of_one_machine_and_is_certified(client, loss):
    rows, cols, values = table(240, 60, 0.2, seed=5)
    whole = sx.Completion(rows, cols, values, (240, 60), loss)
    shared, domain = shard_rows(whole, client, [0, 100, 240]), sx.NuclearBall((240, 60), 100.0)
    one, problem = sx.Problem(whole, domain), sx.Problem(shared, domain)
    stop = sx.Stop(relative_gap=1e-2, max_steps=30)
    here, away = sx.solve(one, stop=stop), sx.solve(problem, stop=stop)
    assert away.status is sx.Status.GAP
    assert abs(here.value - away.value) <= here.gap + away.gap
    assert sx.verify(away.certificate, problem, away.X)  # on the cluster
    found = sx.certify(one, away.X)  # by one machine, from the factors alone
    assert found.value == pytest.approx(away.value, rel=1e-9) and found.gap <= 1.1 * away.gap + 1e-9
    assert shared.place.rounds < 400


def frame(parts=3, seed=6, labels=str):
    rows, cols, values = table(40, 15, 0.4, seed)
    order = np.random.default_rng(seed).permutation(rows.size)
    named = pd.DataFrame({"who": rows, "what": cols, "stars": values}).iloc[order].reset_index(drop=True)
    named["who"], named["what"] = named["who"].map(lambda i: labels(f"u{i}")), named["what"].map(lambda j: f"i{j:03}")
    return named, dd.from_pandas(named, npartitions=parts)


@pytest.mark.parametrize("shards", [2, *(pytest.param(count, marks=pytest.mark.slow) for count in (1, 3))])
def test_from_a_frame_of_any_order_and_any_labels(client, shards):
    told, far = frame()
    objective = sx.Completion.from_dask(far, row="who", column="what", value="stars", shards=shards)
    rows, cols = objective.row_labels(), np.asarray(objective.columns)
    assert sorted(rows) == sorted(told["who"].unique()) and objective.entries == len(told)
    at = {label: i for i, label in enumerate(rows)}
    where = [np.array([at[label] for label in told["who"]]), np.searchsorted(cols, told["what"])]
    whole = sx.Completion(*where, told["stars"].to_numpy(), objective.shape)
    domain, stop = sx.NuclearBall(objective.shape, 30.0), sx.Stop(relative_gap=1e-3, max_steps=40)
    far_answer, answer = (
        sx.solve(sx.Problem(objective, domain), stop=stop),
        sx.solve(sx.Problem(whole, domain), stop=stop),
    )
    assert abs(far_answer.value - answer.value) <= far_answer.gap + answer.gap
    assert sx.certify(sx.Problem(whole, domain), far_answer.X).value == pytest.approx(far_answer.value, rel=1e-9)


def test_empty_partitions_and_more_shards_than_rows(client):
    told, _ = frame()
    few = dd.from_pandas(told[told["who"].isin(["u1", "u2"])], npartitions=2)
    objective = sx.Completion.from_dask(few, row="who", column="what", value="stars", shards=7)
    assert objective.shape[0] == 2 and len(objective.place.shards) <= 2


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda told: pd.concat([told, told.iloc[:1]]), "come twice"),
        (lambda told: told.assign(stars=told["stars"].where(told.index > 0)), "'stars' has missing values"),
        (lambda told: told.assign(who=told["who"].where(told.index > 0)), "'who' has missing values"),
        (lambda told: told.assign(stars="many"), "not numbers"),
        (lambda told: told.rename(columns={"stars": "marks"}), "no column 'stars'; it has who, what, marks"),
        (lambda told: told.iloc[:0], "no observation"),
    ],
)
def test_a_bad_frame_gets_a_sentence(client, spoil, words):
    spoiled = dd.from_pandas(spoil(frame()[0]).reset_index(drop=True), npartitions=2)
    with pytest.raises(ValueError, match=words):
        sx.Completion.from_dask(spoiled, row="who", column="what", value="stars")


def test_without_a_cluster_it_says_what_to_do(monkeypatch):
    def nobody():
        raise ValueError("No clients found")

    monkeypatch.setattr(distributed, "default_client", nobody)
    with pytest.raises(ValueError, match="no cluster is connected; make one first"):
        sx.Completion.from_dask(frame()[1], row="who", column="what", value="stars")


@pytest.mark.long
def test_workers_that_are_killed_cost_time_and_nothing_else():
    """Killed with −9 after two of the steps: the same answer, from what the other worker and the frame still hold."""
    import os
    import signal

    quiet = {"dashboard_address": ":0", "silence_logs": 50}
    told, far = frame(seed=7)
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, **quiet) as cluster,
        distributed.Client(cluster) as own,
    ):
        asked = {"row": "who", "column": "what", "value": "stars", "shards": 2, "client": own}
        objective = sx.Completion.from_dask(far, **asked)
        problem, stop = sx.Problem(objective, sx.NuclearBall(objective.shape, 20.0)), sx.Stop(max_steps=4)
        whole = sx.solve(problem, "cg", stop)

        def kill(record, point):
            if record.step in (1, 3):
                os.kill(min(own.run(os.getpid).values()), signal.SIGKILL)

        again = sx.solve(problem, "cg", stop, observers=[kill])
        assert again.value == pytest.approx(whole.value, rel=1e-12)
        assert again.lower_bound == pytest.approx(whole.lower_bound, rel=1e-9)
    assert len(told) == objective.entries
