"""A solve on a cluster: the steps of one machine, in few rounds, and all of them in the trace."""

from __future__ import annotations

import gc
import io
import math
import time

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.eigen.lanczos import root
from spectraplex.eigen.wide import log_tau_of, normal_block, wide_chain, width_for
from spectraplex.methods.oracle import find

distributed = pytest.importorskip("distributed")

from spectraplex.objectives.sharded import shard_rows  # noqa: E402
from spectraplex.places.dask_deck import ClusterDeck  # noqa: E402
from test_cluster import table  # noqa: E402

SHARDS = {1: [0, 120], 2: [0, 40, 120], 3: [0, 1, 50, 120], 7: [0, 3, 20, 40, 41, 60, 90, 120]}


@pytest.fixture(scope="module")
def client():
    """Two workers in this process: what is counted and computed here does not hang on where they are."""
    settings = {"n_workers": 2, "threads_per_worker": 1, "processes": False, "dashboard_address": ":0"}
    with distributed.LocalCluster(**settings) as cluster, distributed.Client(cluster) as made:
        yield made


def exactly(operator, beat, rng, guess=None, **_):
    """An oracle as exact as rounding lets it be: rough eigenvectors differ with the way they are searched for."""
    return find(operator, beat, rng, guess, accuracy=lambda top: 1e-15 * abs(top))


def values_of(objective, radius, method, start=None):
    domain, stop = sx.NuclearBall(objective.shape, radius), sx.Stop(max_steps=5)
    return np.array([each.value for each in sx.solve(sx.Problem(objective, domain), method, stop, start=start).trace])


@pytest.mark.parametrize(
    ("method", "loss"),
    [
        ("cg", "squared"),
        pytest.param("cg", "huber", marks=pytest.mark.long),
        pytest.param("hybrid", "squared", marks=pytest.mark.long),
    ],
)
def test_the_first_steps_are_those_of_one_machine(client, method, loss):
    """Up to dimension 200 eigenvectors are exact here and there, so every step is the same but for rounding."""
    whole = sx.Completion(*table(120, 60, 0.2, seed=5), (120, 60), loss)
    here = values_of(whole, 80.0, method)
    # A descent keeps its pairs in single precision here and there: its steps are as exact as that.
    pairs = np.finfo(np.float32).eps if method == "hybrid" else 0.0
    allowed = 1e-9 * np.abs(here) + pairs * np.abs(np.diff(here, prepend=here[0]))
    for cuts in SHARDS.values():
        away = values_of(shard_rows(whole, client, cuts), 80.0, method)
        assert away.size == here.size >= 5
        assert np.all(np.abs(away - here) <= allowed), (cuts, away / here - 1)


@pytest.mark.parametrize("shards", [3, *(pytest.param(count, marks=pytest.mark.long) for count in (1, 2, 7))])
def test_the_first_steps_of_cg_with_exact_eigenvectors_in_a_larger_table(client, shards):
    """There eigenvectors are searched for, by other means on a cluster; exact enough they are the same."""
    m, n = 360, 90
    whole = sx.Completion(*table(m, n, 0.2, seed=5), (m, n))
    rng = np.random.default_rng(3)
    u, v = rng.standard_normal((m, 1)), rng.standard_normal((n, 1))
    start = (u / np.linalg.norm(u), np.array([20.0]), v / np.linalg.norm(v))
    method = sx.methods.ConditionalGradient(oracle=exactly)
    shared = shard_rows(whole, client, [3 * cut for cut in SHARDS[shards]])
    here, away = values_of(whole, 80.0, method, start), values_of(shared, 80.0, method, start)
    assert here.size >= 5
    np.testing.assert_allclose(away, here, rtol=1e-9)


def test_inner_products_that_came_with_an_evaluation_are_those_of_the_blocks(client, monkeypatch):
    """A deck works out the inner products of the next gradient; asked for, they come out the same."""
    seen = []
    turn = ClusterDeck.turn

    def compared(self, slots, free, product, lean, factor):
        out = turn(self, slots, free, product, lean, factor)
        known, change = self._known, self._change
        asked = self._asked(known[0])
        rows = np.sqrt(np.diag(asked[1]))
        inner = np.abs(known[1] - asked[1]) / np.outer(rows, rows)
        outer = np.abs(known[2] - asked[2]) / np.abs(asked[2]).max()
        seen.append(("raw" in product.left.extra, max(inner.max(), outer.max()), change / self._change - 1))
        self._known, self._change = known, change
        return out

    monkeypatch.setattr(ClusterDeck, "turn", compared)
    whole = sx.Completion(*table(240, 60, 0.2, seed=5), (240, 60), "huber")
    shared = shard_rows(whole, client, [0, 100, 240])
    sx.solve(sx.Problem(shared, sx.NuclearBall((240, 60), 100.0)), stop=sx.Stop(max_steps=3))
    came = [each for each in seen if each[0]]
    assert len(came) >= 5 and len(came) > len(seen) / 2
    for _, off, change in came:  # what is stored is rounded to single precision
        assert off <= np.finfo(np.float32).eps and abs(change) <= np.finfo(np.float32).eps


def test_workers_hold_what_is_needed_and_no_more(client):
    """Without Python's search for cycles, too: it may come late, and a block is as tall as the table."""
    rows, cols, values = table()
    objective = shard_rows(sx.Completion(rows, cols, values, (60, 25)), client, [0, 20, 60])
    most: list[tuple[int, int]] = []

    def look(record, point):
        objective.place.ask()  # what is written down is done, and what nobody holds is let go
        held = [each for each in objective.place.states[0].result()[0].values() if isinstance(each, np.ndarray)]
        most.append((sum(each.ndim == 1 for each in held), sum(each.ndim == 2 for each in held)))

    gc.disable()
    try:
        sx.solve(sx.Problem(objective, sx.NuclearBall((60, 25), 30.0)), stop=sx.Stop(max_steps=4), observers=[look])
    finally:
        gc.enable()
    images, blocks = (max(each) for each in zip(*most, strict=True))
    assert images <= 4 and blocks <= 6  # two points and the best one; atoms, a guess


def test_rounds_and_bytes_are_in_the_trace_and_in_what_was_saved(client, tmp_path):
    whole = sx.Completion(*table(240, 60, 0.2, seed=5), (240, 60))
    shared = shard_rows(whole, client, [0, 100, 240])
    problem, shown = sx.Problem(shared, sx.NuclearBall((240, 60), 100.0)), io.StringIO()
    before = shared.place.rounds, shared.place.bytes
    result = sx.solve(problem, stop=sx.Stop(relative_gap=1e-2), observers=[sx.Progress(0.0, shown)])
    columns = result.trace.as_dict()
    assert np.all(np.diff(columns["rounds"]) > 0) and np.all(np.diff(columns["bytes"]) > 0)
    assert columns["rounds"][0] > 0
    assert before[0] < result.rounds + before[0] <= shared.place.rounds and result.bytes <= shared.place.bytes
    assert result.rounds == columns["rounds"][-1] and f"{result.rounds} rounds" in str(result)
    head, *lines = shown.getvalue().splitlines()
    assert "rounds" in head and "MB/round" in head
    assert str(columns["rounds"][0]) in lines[0].split()
    again = sx.load(result.save(tmp_path / "run"))
    assert again.rounds == result.rounds and again.bytes == result.bytes
    here = sx.solve(sx.Problem(whole, problem.domain), stop=sx.Stop(relative_gap=1e-2))
    assert here.rounds == here.bytes == 0 and "round" not in str(here)


def test_a_result_that_was_saved_before_there_were_rounds_can_be_read(tmp_path):
    whole = sx.Completion(*table(), (60, 25))
    result = sx.solve(sx.Problem(whole, sx.NuclearBall((60, 25), 20.0)), stop=sx.Stop(max_steps=3))
    folder = result.save(tmp_path / "run")
    with np.load(folder / "result.npz") as file:
        old = {name: file[name] for name in file.files if name not in ("trace.rounds", "trace.bytes")}
    np.savez(folder / "result.npz", **old)
    read = sx.load(folder)
    assert read.rounds == 0 and len(read.trace) == len(result.trace)
    assert read.trace[-1] == result.trace[-1]
    del old["trace.value"]
    np.savez(folder / "result.npz", **old)
    with pytest.raises(ValueError, match="damaged"):
        sx.load(folder)


def test_a_descent_takes_one_round_a_step(client):
    """Beside a few at its beginning and at its end, and a dozen for an escape and a compression."""
    whole = sx.Completion(*table(240, 60, 0.2, seed=5), (240, 60))
    shared = shard_rows(whole, client, [0, 100, 240])
    asked = []
    ask = shared.place.ask
    shared.place.ask = lambda *questions: asked.append({each[0] for each in questions}) or ask(*questions)
    sx.solve(sx.Problem(shared, sx.NuclearBall((240, 60), 100.0)), stop=sx.Stop(max_steps=4), certify=False)
    steps = sum("raw_products" in each for each in asked)
    alone = sum("products_of" in each for each in asked)
    assert steps >= 12 and alone <= steps / 2
    assert all("itself" in each for each in asked if "raw_products" in each)  # they came with a value


@pytest.mark.parametrize("complex_", [False, True])
def test_a_bound_from_a_block_of_starts_is_one(complex_):
    """‖Wᴴv‖ falls below τ‖W‖ no more often than said, and then only may the bound be wrong."""
    from scipy.special import betainc

    rng, d, width = np.random.default_rng(0), 300, 4
    for chance in (1e-9, 1e-2, 0.3):
        tau = math.exp(2 * log_tau_of(chance, width, d, complex_))
        a = (1.0 if complex_ else 0.5) * width
        assert 0.1 * chance < betainc(a, a * (d - 1), tau) <= chance * (1 + 1e-9)
    G = rng.standard_normal((d, d))
    G = G + 1j * rng.standard_normal((d, d)) if complex_ else G
    A = G @ G.conj().T / d
    top = float(np.linalg.eigvalsh(A)[-1])
    wrong, close = 0, []
    for _ in range(60):
        start = normal_block(d, width, "complex128" if complex_ else "float64", rng)
        chain = wide_chain(lambda V: A @ V, start, 15.0 * width, lambda chain: False)
        assert len(chain.off) == 15 and not chain.closed
        wrong += root(chain, log_tau_of(0.3, width, d, complex_))[0] < top
        close.append(root(chain, log_tau_of(1e-9, width, d, complex_))[0] / top)
    assert wrong <= 30  # 18 would be expected at most, with a deviation of 3.6
    assert min(close) >= 1.0 and max(close) < 1.5


def test_a_wide_start_is_for_many_products_in_a_large_space():
    assert width_for(1e4, 10_000) == 8 and width_for(200.0, 10_000) == 3
    assert width_for(1e4, 100) == 1 and width_for(10.0, 10_000) == 1


def test_numbers_by_columns_are_kept_for_the_slope_in_use_alone(client):
    from spectraplex.objectives import shard

    shared = shard_rows(sx.Completion(*table(), (60, 25)), client, [0, 20, 60])
    own = {id(each.result().fit) for each in shared.place.shards}

    def kept():
        return [last for each, last in list(shard._LAST.items()) if id(each.fit) in own]

    place, V = shared.place, np.ones((25, 2))
    U = place.left("normal", 2, "float64", (1,), width=2, dtype=np.float64)
    z = shared.measure(U, np.ones(2), V)
    _, first = shared.evaluate(z)
    shared.gradient(first).rmatmat(U)
    assert len(kept()) == 2
    shared.evaluate(shared.combine(0.5, z, 0.0, z))
    assert not kept()


def test_a_slope_does_not_hold_the_images_it_was_paired_with(client):
    shared = shard_rows(sx.Completion(*table(), (60, 25)), client, [0, 20, 60])
    place = shared.place
    U = place.left("normal", 2, "float64", (1,), width=2, dtype=np.float64)
    z = shared.measure(U, np.ones(2), np.ones((25, 2)))
    _, slope = shared.evaluate(z)
    other = shared.combine(0.5, z, 0.0, z)
    assert math.isclose(shared.pair(slope, other), 0.5 * shared.pair(slope, z), rel_tol=1e-12)
    at = other.at
    place.ask()
    assert at in place.states[0].result()[0]
    del other
    place.ask()
    assert at not in place.states[0].result()[0]


def test_a_round_that_takes_long_leaves_no_state_behind(client, monkeypatch):
    """Without Python's search for cycles: a state is as large as the data."""
    from spectraplex.places import crew

    monkeypatch.setattr(crew, "_PATIENCE", 0.01)
    shared = shard_rows(sx.Completion(*table(), (60, 25)), client, [0, 20, 60])
    slow = np.random.default_rng(0).standard_normal((25, 400))
    gc.collect()
    gc.disable()
    try:
        for _ in range(4):
            U = shared.place.left("normal", 400, "float64", (1,), width=400, dtype=np.float64)
            shared.evaluate(shared.measure(U, np.ones(400), slow))
        for _ in range(50):  # the client lets go in a thread of its own
            named = [key for key in client.futures if shared.place._name in str(key)]
            if len(named) <= 2 * 2:  # two shards: their states, and at most the answers of the last round
                break
            time.sleep(0.1)
    finally:
        gc.enable()
    assert len(named) <= 2 * 2, named


@pytest.mark.parametrize("direct", [True, False])
def test_long_answers_are_added_up_as_they_come(client, monkeypatch, direct):
    """In the order of the shards, whoever brings them: the same sum to the last bit, and the same bytes."""
    whole = sx.Completion(*table(120, 60, 0.2, seed=5), (120, 60))

    def products(long):
        monkeypatch.setattr("spectraplex.places.rounds._LONG", long)
        shared = shard_rows(whole, client, [0, 30, 50, 120])
        place = shared.place
        place._crew.direct = direct
        U = place.random(slice(0, 120), 4, "float64", np.random.default_rng(1))
        _, slope = shared.evaluate(shared.measure(U, np.ones(4), np.ones((60, 4))))
        answers, before = place.ask(("product_back", slope, U))[0], place.bytes
        return len(answers), sum(answers), shared.gradient(slope).rmatmat(U), place.bytes - before

    count, total, product, size = products(10**9)
    alone, summed, again, same = products(0)
    assert (count, alone) == (3, 1) and size == same == 3 * 60 * 4 * 8
    for each in (summed, product, again):
        np.testing.assert_array_equal(each, total)


def test_whether_workers_can_be_reached_is_asked_once(client):
    whole = sx.Completion(*table(60, 25, 0.3, seed=5), (60, 25))
    crew = shard_rows(whole, client, [0, 20, 60]).place._crew
    assert crew.direct is None and crew._direct() and crew.direct is True
