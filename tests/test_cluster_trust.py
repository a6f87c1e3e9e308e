"""Trust and steering on a cluster: one order of rows, one fingerprint, runs that go on elsewhere, lost workers."""

from __future__ import annotations

import os
import signal
import threading
import time
from dataclasses import replace

import numpy as np
import pytest

import spectraplex as sx

dask = pytest.importorskip("dask")
distributed = pytest.importorskip("distributed")
pd = pytest.importorskip("pandas")
dd = pytest.importorskip("dask.dataframe")

from spectraplex.certificates.evidence import slope_mark  # noqa: E402
from spectraplex.fingerprint import factors_fingerprint  # noqa: E402
from spectraplex.objectives import row_order  # noqa: E402
from spectraplex.places.crew import ClusterLost  # noqa: E402

pytestmark = pytest.mark.slow

ASKED = {"row": "who", "column": "what", "value": "stars"}


@pytest.fixture(scope="module")
def client():
    with (
        distributed.LocalCluster(n_workers=2, threads_per_worker=1, processes=True, dashboard_address=":0") as cluster,
        distributed.Client(cluster) as made,
    ):
        yield made


def table(m=40, n=15, share=0.4, seed=6):
    """A table of numbers in any order."""
    rng = np.random.default_rng(seed)
    seen = rng.random((m, n)) < share
    seen[np.arange(m), rng.integers(0, n, m)] = True  # every row has an observation
    rows, cols = np.nonzero(seen)
    values = (rng.standard_normal((m, 3)) @ rng.standard_normal((3, n)))[rows, cols] + rng.standard_normal(rows.size)
    told = pd.DataFrame({"who": rows, "what": cols, "stars": values, "sure": rng.uniform(0.5, 2.0, rows.size)})
    return told.iloc[rng.permutation(rows.size)].reset_index(drop=True)


def whole(told, objective, loss="squared", weights=None):
    """The same table on this machine, its rows in the order of the cluster."""
    at = pd.Series(np.arange(objective.shape[0]), index=objective.row_labels())
    columns = np.searchsorted(np.asarray(objective.columns), told["what"])
    return sx.Completion(
        at[told["who"]].to_numpy(), columns, told["stars"].to_numpy(), objective.shape, loss, weights=weights
    )


# ------------------------------------------------------------------------------------------------------ order of rows


@pytest.mark.parametrize("kind", ["strings", "64-bit ids", "numbers with a fraction"])
def test_rows_come_in_one_order_for_any_number_of_shards(client, kind):
    told = table()
    ids = (np.arange(40, dtype=np.uint64) * np.uint64(0x9E3779B97F4A7C15)) >> np.uint64(1)
    names = {"strings": [f"u{i}" for i in range(40)], "64-bit ids": ids.astype(np.int64) - 2**61}
    names["numbers with a fraction"] = np.arange(40) / 4
    told["who"] = np.asarray(names[kind])[told["who"]]
    orders = [
        sx.Completion.from_dask(dd.from_pandas(told, npartitions=parts), **ASKED, shards=shards, client=client)
        for shards, parts in ((1, 1), (3, 2), (7, 5))
    ]
    first, *others = [each.row_labels() for each in orders]
    assert sorted(first) == sorted(told["who"].unique())
    for other in others:
        np.testing.assert_array_equal(other, first)
    assert [len(each.place.shards) for each in orders] == [1, 3, 7]


def test_labels_that_share_a_hash_are_told_apart(monkeypatch):
    monkeypatch.setattr(row_order, "hashes", lambda labels: np.array([len(label) for label in labels], np.uint64))
    each, where = row_order.ordered(["bb", "c", "a", "aa", "c"])
    assert list(each) == ["a", "c", "aa", "bb"] and list(where) == [3, 1, 0, 2, 1]


def test_equal_numbers_have_equal_hashes_of_whatever_type_they_are():
    given = [np.array([3, -1, 2**40]), np.array([3.0, -1.0, 2.0**40]), pd.array([3, -1, 2**40], dtype="Int64")]
    given += [np.array([3, -1, 2**40], object)]
    for each in given[1:]:
        np.testing.assert_array_equal(row_order.hashes(each), row_order.hashes(given[0]))
    np.testing.assert_array_equal(
        row_order.hashes(np.array(["a", "b"])), row_order.hashes(pd.array(["a", "b"], dtype="string"))
    )
    assert row_order.hashes(np.array([0.5]))[0] != row_order.hashes(np.array([0.0]))[0]


# ------------------------------------------------------------------------------------------------ certificates


@pytest.mark.parametrize("shards", [*(pytest.param(count, marks=pytest.mark.long) for count in (1, 2, 7)), 3])
def test_a_certificate_holds_here_and_there(client, shards):
    told = table()
    far = dd.from_pandas(told, npartitions=3)
    objective = sx.Completion.from_dask(far, **ASKED, weight="sure", shards=shards, client=client)
    here = whole(told, objective, weights=told["sure"].to_numpy())
    domain, stop = sx.NuclearBall(objective.shape, 30.0), sx.Stop(relative_gap=1e-2, max_steps=40)
    away, near = sx.Problem(objective, domain), sx.Problem(here, domain)
    assert len(objective.place.shards) == shards
    assert away.fingerprint == near.fingerprint
    found, own = sx.solve(away, stop=stop), sx.solve(near, stop=stop)
    for result in (found, own):
        for problem in (away, near):
            assert sx.verify(result.certificate, problem, result), sx.verify(result.certificate, problem, result)
    U, s, V = found.X.at(sx.places.here.HERE).triple()
    assert sx.verify(found.certificate.to_json(), near, (U, s, V)) or found.certificate.dual != "slope"
    assert abs(found.value - own.value) <= found.gap + own.gap


def test_a_forged_certificate_is_refused_here_and_there(client):
    told = table()
    far = dd.from_pandas(told, npartitions=2)
    objective = sx.Completion.from_dask(far, **ASKED, shards=3, client=client)
    domain = sx.NuclearBall(objective.shape, 30.0)
    away, near = sx.Problem(objective, domain), sx.Problem(whole(told, objective), domain)
    found = sx.solve(away, stop=sx.Stop(relative_gap=1e-2, max_steps=40))
    certificate, X = found.certificate, found.X
    better = replace(certificate, lower_bound=certificate.value - 0.1 * certificate.gap, seal="")
    other = told.assign(stars=told["stars"].where(told.index != 3, told["stars"] + 1e-9))
    changed = [sx.Problem(whole(other, objective), domain)]
    spoiled = dd.from_pandas(other, npartitions=2)
    changed += [sx.Problem(sx.Completion.from_dask(spoiled, **ASKED, shards=2, client=client), domain)]
    U, s, V = X.at(sx.places.here.HERE).triple()
    swapped = (U[[1, 0, *range(2, U.shape[0])]], s, V)
    for problem in (away, near):
        assert "only" in str(sx.verify(better, problem, found))
        assert "data:" not in str(sx.verify(certificate, problem, found))
        assert "factors:" in str(sx.verify(certificate, problem, swapped))
        assert "document:" in str(sx.verify(replace(certificate, value=certificate.value - 1.0), problem, found))
    for problem in changed:
        assert "data:" in str(sx.verify(certificate, problem, found))


def test_random_numbers_of_a_run_do_not_hang_on_where_it_runs(client):
    """Starts come from fingerprints of the data and of a slope: on the same factors they are the same everywhere."""
    told = table()
    objective = sx.Completion.from_dask(dd.from_pandas(told, npartitions=2), **ASKED, shards=3, client=client)
    here = whole(told, objective)
    rng, (m, n) = np.random.default_rng(8), objective.shape
    U, s, V = rng.standard_normal((m, 2)), np.array([1.0, 0.5]), rng.standard_normal((n, 2))
    place = objective.place
    left = place.from_host(U, slice(0, m))
    _, far = objective.evaluate(objective.measure(left, s, V))
    _, near = here.evaluate(here.measure(U, s, V))
    np.testing.assert_array_equal(objective.images.pack(far), near)  # a row is measured in the same way everywhere
    domain = sx.NuclearBall((m, n), 1.0)
    assert slope_mark(sx.Problem(objective, domain), far) == slope_mark(sx.Problem(here, domain), near)
    assert factors_fingerprint(sx.Rectangular(left, s, V, place)) == factors_fingerprint(sx.Rectangular(U, s, V))


def test_the_fingerprint_of_factors_brings_nothing_tall_here(client):
    told = table(400, 10)
    objective = sx.Completion.from_dask(dd.from_pandas(told, npartitions=2), **ASKED, shards=2, client=client)
    place, (m, n) = objective.place, objective.shape
    U = place.random(slice(0, m), 3, "float64", np.random.default_rng(0))
    place.finite(U)
    before = place.bytes
    factors_fingerprint(sx.Rectangular(U, np.ones(3), np.ones((n, 3)), place))
    assert place.bytes - before <= 2 * 16


# ------------------------------------------------------------------------------------------ runs that go on elsewhere


def sharded(told, client, shards, radius=30.0, parts=3, **more):
    objective = sx.Completion.from_dask(
        dd.from_pandas(told, npartitions=parts), **ASKED, shards=shards, client=client, **more
    )
    return sx.Problem(objective, sx.NuclearBall(objective.shape, radius))


@pytest.mark.parametrize(("method", "steps"), [("hybrid", 1), pytest.param("cg", 3, marks=pytest.mark.long)])
def test_a_run_goes_on_where_it_was_with_another_number_of_shards(client, tmp_path, method, steps):
    told, some = table(), sx.Stop(max_steps=steps)
    problem = sharded(told, client, 2)
    through = sx.solve(problem, method, sx.Stop(max_steps=2 * steps))
    half = sx.solve(problem, method, some)
    half.save(tmp_path / "half")
    loaded = sx.load(tmp_path / "half")
    assert loaded.value == half.value and loaded.X.U.shape == (40, loaded.X.s.size)
    other = sharded(told, client, 5)
    on = [sx.solve(problem, method, some, start=half)]  # nothing was saved: it is still on the workers
    on += [sx.solve(other, method, some, start=loaded)]
    for each in on:
        assert each.trace[-1].step == 2 * steps
        assert each.value == pytest.approx(through.value, rel=1e-7)
        assert each.lower_bound >= half.lower_bound  # what was proven stays proven
        assert sx.verify(each.certificate, other, each)


@pytest.mark.long
def test_what_is_saved_on_a_cluster_is_verified_on_one_machine(client, tmp_path):
    told = table()
    problem = sharded(told, client, 3)
    found = sx.solve(problem, "cg", sx.Stop(relative_gap=0.05, max_steps=60))
    found.save(tmp_path)
    here = sx.Problem(whole(told, problem.objective), problem.domain)
    assert sx.verify(found.certificate, here, tmp_path), str(sx.verify(found.certificate, here, tmp_path))
    further = sx.solve(here, "cg", sx.Stop(max_steps=2), start=sx.load(tmp_path))
    assert further.value <= found.value * (1 + 1e-9)
    with pytest.raises(ValueError, match="with other data"):
        sx.solve(sharded(told.iloc[1:], client, 2), "cg", sx.Stop(max_steps=2), start=sx.load(tmp_path))


def test_nothing_tall_comes_to_the_client_while_it_is_saved(client, tmp_path, monkeypatch):
    monkeypatch.setattr("spectraplex.places.tall._PIECE", 4096)
    problem = sharded(table(600, 8), client, 2)
    found = sx.solve(problem, "cg", sx.Stop(max_steps=3))
    seen, fetch = [], problem.place.piece

    def piece(*asked):
        got = fetch(*asked)
        seen.append(got.nbytes)
        return got

    monkeypatch.setattr(problem.place, "piece", piece)
    monkeypatch.setattr(problem.place, "to_host", lambda A: pytest.fail("a whole block came here"))
    found.save(tmp_path)
    assert len(seen) > 10 and max(seen) <= 4096
    np.testing.assert_array_equal(sx.load(tmp_path).X.U.shape, (600, found.X.s.size))


@pytest.mark.long
def test_a_checkpoint_is_written_while_the_run_goes_on_and_outlives_a_killed_client(client, tmp_path):
    told, folder = table(), tmp_path / "run"
    problem = sharded(told, client, 2)
    through = sx.solve(problem, "cg", sx.Stop(max_steps=8))

    class Killed(BaseException):
        pass

    def die(record, point):
        if record.step == 5:
            raise Killed

    with pytest.raises(Killed):
        sx.solve(problem, "cg", sx.Stop(max_steps=8), [sx.Checkpoint(folder, seconds=None, steps=2), die])
    assert len(list(folder.iterdir())) == 1  # the one before was removed
    saved = sx.load(folder)
    assert saved.trace[-1].step == 4
    again = sx.solve(sharded(told, client, 3), "cg", sx.Stop(max_steps=4), start=saved)
    assert again.value == pytest.approx(through.value, rel=1e-9)


def test_a_checkpoint_that_was_not_finished_is_passed_over(tmp_path):
    rng = np.random.default_rng(0)
    problem = sx.Problem(sx.Distance(rng.standard_normal((5, 4))), sx.NuclearBall((5, 4), 1.0))
    kept = sx.Checkpoint(tmp_path, seconds=0.0)
    sx.solve(problem, "cg", sx.Stop(max_steps=3), [kept])
    last = kept.newest
    (tmp_path / "step-00000099-abcdefgh").mkdir()
    (tmp_path / ".step-00000100-abcdefgh.part").mkdir()
    assert kept.newest == last and sx.load(tmp_path).trace[-1].step == 2
    on = sx.solve(problem, "cg", sx.Stop(max_steps=1), [kept], start=sx.load(tmp_path))
    assert on.value == sx.solve(problem, "cg", sx.Stop(max_steps=3)).value


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"seconds": None}, "after how many seconds or steps"),
        ({"seconds": -1.0}, "seconds must be a non-negative number"),
        ({"steps": 0}, "steps must be a whole number"),
    ],
)
def test_a_checkpoint_that_is_never_due_is_refused(asked, words):
    with pytest.raises(ValueError, match=words):
        sx.Checkpoint("run", **asked)


# --------------------------------------------------------------------------------------- lost and joining workers

QUIET = {"threads_per_worker": 1, "processes": True, "dashboard_address": ":0", "silence_logs": 50}


@pytest.mark.long
def test_workers_killed_at_five_random_moments_cost_time_and_nothing_else():
    """−9 in the midst of whatever they do: a timer fires at random in each of five steps."""
    told, rng, timers = table(seed=9), np.random.default_rng(3), []
    killed: list[int] = []
    with distributed.LocalCluster(n_workers=7, **QUIET) as cluster, distributed.Client(cluster) as own:
        problem, stop = sharded(told, own, 3), sx.Stop(max_steps=7)
        through = sx.solve(problem, "cg", stop)

        def kill(record, point):
            if 1 <= record.step <= 5:
                for timer in timers:
                    timer.join()
                at_work = {who for held in own.who_has(problem.place._states).values() for who in held}
                pids = [each.pid for each in cluster.workers.values() if each.worker_address in at_work]
                alive = [pid for pid in pids if pid not in killed]  # who died last may still be named for a moment
                killed.append(alive[rng.integers(len(alive))])
                timers.append(threading.Timer(0.2 * rng.random(), os.kill, (killed[-1], signal.SIGKILL)))
                timers[-1].start()

        again = sx.solve(problem, "cg", stop, observers=[kill])
        for timer in timers:
            timer.join()
        assert len(timers) == 5
        assert again.value == pytest.approx(through.value, rel=1e-12)
        assert again.lower_bound == pytest.approx(through.lower_bound, rel=1e-9)
        assert sx.verify(again.certificate, problem, again)


@pytest.mark.long
@pytest.mark.parametrize("seed", [0, 1])
def test_two_workers_killed_at_once_cost_time_and_nothing_else(seed):
    """Their shards are read again, and their states computed again from what was copied last, or from the start."""
    told, rng, timers = table(seed=9), np.random.default_rng(seed), []
    with distributed.LocalCluster(n_workers=4, **QUIET) as cluster, distributed.Client(cluster) as own:
        problem, stop = sharded(told, own, 4), sx.Stop(max_steps=6)
        through = sx.solve(problem, "cg", stop)

        def kill(record, point):
            if record.step in (2, 4):
                for timer in timers:
                    timer.join()
                at_work = {who for held in own.who_has(problem.place._states).values() for who in held}
                pids = [each.pid for each in cluster.workers.values() if each.worker_address in at_work][:2]
                timers.append(
                    threading.Timer(0.2 * rng.random(), lambda: [os.kill(pid, signal.SIGKILL) for pid in pids])
                )
                timers[-1].start()
                assert len(pids) == 2

        again = sx.solve(problem, "cg", stop, observers=[kill])
        for timer in timers:
            timer.join()
        assert len(timers) == 2
        assert again.value == pytest.approx(through.value, rel=1e-12)
        assert again.lower_bound == pytest.approx(through.lower_bound, rel=1e-9)
        assert sx.verify(again.certificate, problem, again)


@pytest.mark.long
def test_a_worker_that_joins_is_used():
    with distributed.LocalCluster(n_workers=1, **QUIET) as cluster, distributed.Client(cluster) as own:
        problem = sharded(table(), own, 4)
        place, old = problem.place, set(own.nthreads())
        before = sx.solve(problem, "cg", sx.Stop(max_steps=2))
        cluster.scale(2)
        own.wait_for_workers(2)
        on = sx.solve(problem, "cg", sx.Stop(max_steps=2), start=before)
        (new,) = set(own.nthreads()) - old
        assert sum(new in who for who in own.who_has(place._states).values()) >= 2  # half of the shards live there now
    assert on.trace[-1].step == 4


def test_copies_stay_on_two_workers(client):
    """Dask would remove them within two seconds."""
    place = sharded(table(), client, 2).place
    U = place.random(slice(0, 40), 3, "float64", np.random.default_rng(0))
    place.finite(U)
    client.replicate(place._states, n=2)
    time.sleep(3.0)
    assert all(len(who) == 2 for who in client.who_has(place._states).values())


class Dies(distributed.WorkerPlugin):
    """Two operations that no shard survives."""

    def setup(self, worker):
        import os
        import signal

        from spectraplex.places.operations import OPERATIONS

        def no_room(shard):
            if shard.rows.start:  # not the first one
                raise MemoryError("Unable to allocate 1. PiB")

        OPERATIONS["no_room"] = no_room
        OPERATIONS["dies"] = lambda shard: os.kill(os.getpid(), signal.SIGKILL) if shard.rows.start else None


@pytest.mark.long
def test_a_worker_out_of_memory_gets_a_sentence_that_names_the_shard():
    with (
        dask.config.set({"distributed.scheduler.allowed-failures": 0}),
        distributed.LocalCluster(n_workers=2, **QUIET) as cluster,
        distributed.Client(cluster) as own,
    ):
        own.register_plugin(Dies())
        problem = sharded(table(), own, 2)
        with pytest.raises(ClusterLost, match=r"out of memory with shard 1 of 2 \(no_room\); take more shards"):
            problem.place.ask(("no_room",))
        assert problem.place.ask(("spans_of",))  # it goes on
        with pytest.raises(ClusterLost, match=r"that computed shard 1 of 2 \(dies\) died .* out of memory; take more"):
            problem.place.ask(("dies",))


def test_a_closed_client_ends_with_a_sentence_that_names_the_last_checkpoint(tmp_path):
    with distributed.LocalCluster(n_workers=2, **QUIET) as cluster, distributed.Client(cluster) as own:
        problem, kept = sharded(table(), own, 2), sx.Checkpoint(tmp_path / "run", seconds=None, steps=1)
        other = distributed.Client(cluster)
        there = sharded(table(), other, 2)

        def leave(record, point):
            if record.step == 2:
                other.close()

        with pytest.raises(ClusterLost, match=r"connection to the scheduler is gone.*would have kept one"):
            sx.solve(there, "cg", sx.Stop(max_steps=5), [leave])
        other = distributed.Client(cluster)
        there = sharded(table(), other, 2)
        with pytest.raises(ClusterLost, match=r"solve: the connection .* last checkpoint is .*run.step-00000001"):
            sx.solve(there, "cg", sx.Stop(max_steps=5), [kept, leave])
        on = sx.solve(problem, "cg", sx.Stop(max_steps=4), start=sx.load(tmp_path / "run"))
        assert on.value == pytest.approx(sx.solve(problem, "cg", sx.Stop(max_steps=5)).value, rel=1e-9)


def test_ctrl_c_and_max_seconds_end_with_the_best_point(client):
    problem = sharded(table(), client, 2)
    place, ask, asked = problem.place, problem.place.ask, []

    def interrupted(*questions):
        asked.append(questions)
        if len(asked) == 30:  # in the midst of a round
            gather, place._crew.answers = place._crew.answers, lambda *_: (_ for _ in ()).throw(KeyboardInterrupt)
            try:
                return ask(*questions)
            finally:
                place._crew.answers = gather
        return ask(*questions)

    place.ask = interrupted
    found = sx.solve(problem, "cg", sx.Stop(max_steps=50))
    assert found.status is sx.Status.INTERRUPTED and len(asked) > 30
    assert sx.verify(found.certificate, problem, found)
    del place.ask
    on = sx.solve(problem, "cg", sx.Stop(max_seconds=1e-3), start=found)
    assert on.status is sx.Status.TIME_LIMIT and on.value <= found.value


def test_a_cluster_without_workers_says_so(monkeypatch):
    monkeypatch.setattr("spectraplex.places.crew._PATIENCE", 0.2)
    with distributed.LocalCluster(n_workers=1, **QUIET) as cluster, distributed.Client(cluster) as own:
        problem = sharded(table(), own, 1)
        cluster.scale(0)
        while own.nthreads():
            time.sleep(0.1)
        with pytest.raises(ClusterLost, match="no worker is left, and none has come; start some"):
            problem.place.ask(("told",))


# --------------------------------------------------------------------------------------------------- files


def files(folder, parts, kind="parquet"):
    for i, part in enumerate(parts):
        write = part.to_parquet if kind == "parquet" else part.to_csv
        write(folder / f"part-{i}.{kind}", index=False)
    return dd.read_parquet(folder) if kind == "parquet" else dd.read_csv(f"{folder}/*.csv")


@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_rows_split_over_files_empty_ones_and_one_with_one_row(client, tmp_path, kind):
    told = table()
    told["who"] = told["who"].map("u{}".format)
    told["stars"] = (64 * told["stars"]).round() / 64  # a few digits, which any reader of text reads exactly
    parts = [told.iloc[:80], told.iloc[:0], told.iloc[80:81], told.iloc[81:]]
    parts = parts if kind == "parquet" else [parts[0], *parts[2:]]  # a CSV file without any row has no types
    found = sx.Completion.from_dask(files(tmp_path, parts, kind), **ASKED, shards=3, client=client)
    same = sx.Completion.from_dask(dd.from_pandas(told, npartitions=2), **ASKED, shards=2, client=client)
    domain = sx.NuclearBall(found.shape, 1.0)
    assert sx.Problem(found, domain).fingerprint == sx.Problem(same, domain).fingerprint


def spoiled(part, how):
    return {
        "words": part.assign(stars="good"),
        "other ids": part.assign(who=part["who"].str[1:].astype(np.int64)),
        "no column": part.drop(columns="stars"),
    }[how]


@pytest.mark.parametrize(
    ("how", "words"),
    [
        ("words", "column 'stars' holds strings in .*part-1.parquet and numbers elsewhere; write all files"),
        ("other ids", "column 'who' holds numbers in .*part-1.parquet and strings elsewhere"),
        ("no column", "column 'stars' is missing in .*part-1.parquet"),
        ("gone", "part-1.parquet is not there any more; mend it, or leave it out"),
        ("unreadable", r"part-1.parquet cannot be read \(.*\); mend it, or leave it out"),
    ],
)
def test_a_bad_file_is_named(client, tmp_path, how, words):
    told = table()
    told["who"] = told["who"].map("u{}".format)
    told["stars"] = (64 * told["stars"]).round() / 64  # a few digits, which any reader of text reads exactly
    parts = [told.iloc[:80], told.iloc[80:160], told.iloc[160:]]
    parts[1] = parts[1] if how in ("gone", "unreadable") else spoiled(parts[1], how)
    frame = files(tmp_path, parts)
    if how == "gone":
        (tmp_path / "part-1.parquet").unlink()
    if how == "unreadable":
        (tmp_path / "part-1.parquet").write_bytes(b"no table at all " * 20)
    with pytest.raises(ValueError, match=f"Completion.from_dask: .*{words}"):
        sx.Completion.from_dask(frame, **ASKED, shards=2, client=client)
