"""Online learners: the regret is below the bound, the pieces are what they say, a bad arrival changes nothing."""

from __future__ import annotations

import copy
import json
import math
from dataclasses import replace

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.measurements.joined import Joined
from spectraplex.online import moves
from spectraplex.online.ledger import Rule, theory
from spectraplex.online.search import Mover, Space, lead
from spectraplex.online.state import measured
from spectraplex.online.total import Total

Learner = sx.online.OnlineConditionalGradient
DOMAINS = [sx.NuclearBall((6, 5), 2.0), sx.TraceBall(5, 2.0), sx.Spectrahedron(5, 1.5)]


def stream(shape, arrivals, count, seed, noise=0.1, rank=2):
    """Entries of a matrix of low rank, some at a time."""
    rng, (m, n) = np.random.default_rng(seed), shape
    A = rng.standard_normal((m, rank)) @ rng.standard_normal((rank, n)) / rank
    for _ in range(arrivals):
        cells = np.sort(rng.choice(m * n, count, replace=False))
        rows, cols = np.divmod(cells, n)
        yield sx.Entries(rows, cols, shape), A[rows, cols] + noise * rng.standard_normal(count)


def against(learner, arrivals, seed):
    """An adversary: after the learner's point is known it asks for the opposite."""
    rng, (m, n), met = np.random.default_rng(seed), learner.domain.shape, []
    for _ in range(arrivals):
        rows, cols = rng.integers(0, m, 1), rng.integers(0, n, 1)
        entries = sx.Entries(rows, cols, (m, n))
        played = learner.predict(entries)[0]
        met.append((entries, [-1.0 if played > 0 or (played == 0 and rng.random() < 0.5) else 1.0]))
        learner.update(*met[-1])
    return met


def fed(learner, arrivals):
    for arrival in arrivals:
        learner.update(*arrival)
    return learner


# ----------------------------------------------------------------------------------------------------------- the regret


@pytest.mark.parametrize("seed", range(20))
def test_the_regret_is_below_the_bound_on_streams_and_against_an_adversary(seed):
    domain, kind = DOMAINS[seed % 3], ("huber", "squared")[seed % 2]
    met = list(stream(domain.shape, 60, 4, seed))
    learner = fed(Learner(domain, kind, seed=seed), met)
    assert learner.bound().holds
    assert learner.regret(met).at_most <= learner.bound().value
    # a Huber slope of one number is at most one
    learner = Learner(domain, sx.losses.Huber(1.0), lipschitz=1.0, seed=seed)
    met = against(learner, 60, seed)
    found = learner.regret(met)
    assert learner.bound().holds and found.at_most <= learner.bound().value
    assert found.at_least <= found.at_most
    assert sx.verify(found.result.certificate, found.problem, found.result.X)


@pytest.mark.slow
def test_who_never_moves_does_not_stay_below_the_bound():
    """Otherwise the bound would say nothing: the same arrival again and again, a slope of one."""
    domain, count = sx.NuclearBall((3, 2), 1.0), 4000
    arrival = sx.Entries([0], [0], (3, 2)), [50.0]
    learner = fed(Learner(domain, sx.losses.Huber(1.0), lipschitz=1.0), [arrival] * count)
    best = sx.solve(sx.Problem(sx.Fit(*arrival, loss="huber"), domain)).value
    frozen = sx.Fit(*arrival, loss="huber").evaluate(np.zeros(1))[0]
    bound = learner.bound().value
    assert learner.suffered - count * best <= bound < count * (frozen - best)


@pytest.mark.parametrize("domain", DOMAINS)
@pytest.mark.parametrize("lipschitz", [None, 25.0])
def test_the_error_of_every_step_is_what_the_ledger_says(domain, lipschitz):
    """h_t bounds Φ_t(X_t) − min Φ_t, and the minimum is a projection: of X₁ − S/μ."""
    learner = Learner(domain, "squared", lipschitz=lipschitz, rate=4.0, max_atoms=6)
    X1, worst = learner.X.dense(), 0.0
    for arrival in stream(domain.shape, 80, 3, 1):
        learner.update(*arrival)
        state = learner._state
        mu, S = state.ledger.strength, state.total.dense()
        S = 0.5 * (S + S.T) if domain.hermitian else S

        def phi(X, S=S, mu=mu):
            return float(np.sum(S * X) + 0.5 * mu * np.sum((X - X1) ** 2))

        error = phi(learner.X.dense()) - phi(domain.project(X1 - S / mu).dense())
        assert error <= state.ledger.error + 1e-9 * (1 + abs(phi(X1)))
        worst = max(worst, error / state.ledger.error)
    assert worst > 1e-5  # and it is no empty statement


def test_the_bound_grows_like_the_theorem_says():
    for ratio in (0.5, 1.0):
        rule = Rule(2.0, 2.0 * ratio, 3.0, 0.0)
        values = [theory(rule, T) / (rule.lipschitz * rule.diameter * T**0.75) for T in (300, 1200, 12_000)]
        assert values[2] == pytest.approx(rule.constant, rel=0.1)  # what is of lower order fades like T^-¼
        assert max(values) < 8.0  # the constant of the literature's proof
        # no other c has a smaller constant
        assert rule.constant <= min(replace(rule, rate=0.7).constant, replace(rule, rate=1.4).constant)


def test_a_stream_that_is_another_one_is_refused():
    learner, met = Learner(DOMAINS[0]), list(stream((6, 5), 5, 4, 0))
    fed(learner, met)
    with pytest.raises(ValueError, match="give the same arrivals"):
        learner.regret(met[:-1])
    with pytest.raises(ValueError, match="give the same arrivals"):
        learner.regret([(entries, targets + 1.0) for entries, targets in met])


# ------------------------------------------------------------------------------------------------------- its pieces


@pytest.mark.parametrize("kind", [Learner, sx.online.OnlineRankOneRegularized])
@pytest.mark.parametrize("domain", [*DOMAINS, sx.NuclearBall((70, 50), 8.0), sx.Spectrahedron(60, 3.0)])
def test_sums_that_are_carried_along_are_those_of_the_point(kind, domain):
    learner, played = kind(domain, max_atoms=12), []
    for arrival in stream(domain.shape, 40, 9, 2):
        played.append(learner.X.dense())
        value = learner.update(*arrival)
        objective = sx.Fit(*arrival)
        U, s, V = np.linalg.svd(played[-1])
        k = s.size
        assert value == pytest.approx(objective.evaluate(objective.measure(U[:, :k], s, V.T[:, :k]))[0], rel=1e-9)
    state = learner._state
    scale = np.linalg.norm(state.total.dense()) * domain.size
    assert state.pulled == pytest.approx(state.total_pull(state.mixture), abs=1e-10 * scale)
    assert state.square == pytest.approx(np.sum((learner.X.dense() - played[0]) ** 2), abs=1e-8 * domain.size**2)
    np.testing.assert_allclose(state.space.Q, state.times(state.space.V), atol=1e-10 * domain.size)
    P = state.total.times(state.space.V)
    P = 0.5 * (P + state.total.adjoint_times(state.space.V)) if domain.hermitian else P
    np.testing.assert_allclose(state.space.P, P, atol=1e-10 * max(np.abs(P).max(initial=0.0), 1.0))
    # in the set, few atoms, and the average is that of the points that were played, but for what it says it lost
    X = learner.X.dense()
    assert np.linalg.svd(X, compute_uv=False).sum() <= domain.size * (1 + 1e-9)
    assert isinstance(domain, sx.NuclearBall) or np.linalg.eigvalsh(X).min() >= -1e-9 * domain.size
    assert not isinstance(domain, sx.Spectrahedron) or np.trace(X) == pytest.approx(domain.trace)
    assert len(state.mixture) <= 13
    off = np.linalg.norm(learner.average.dense() - np.mean(played, axis=0))
    assert off <= sum(learner.lost) + 1e-7 * domain.size


@pytest.mark.parametrize("hermitian", [False, True])
def test_a_search_finds_what_it_promises(hermitian):
    """On a table too large to be decomposed, as the gradients come in."""
    domain = sx.TraceBall(80, 5.0) if hermitian else sx.NuclearBall((90, 70), 5.0)
    learner, short = Learner(domain), 0
    for t, arrival in enumerate(stream(domain.shape, 60, 40, 3)):
        learner.update(*arrival)
        state, rng = learner._state, np.random.default_rng(t)
        mu, ground = state.ledger.strength, state.mixture.ground
        mover = Mover(state.total, ground, mu, state.times, state.adjoint_times)
        beat = -(state.pulled + mu * state.square)
        found = lead(mover, state.space, beat, 0.2, rng, False)
        S = state.total.dense()
        M = -((0.5 * (S + S.T) if hermitian else S) + mu * learner.X.dense())
        top = np.linalg.eigvalsh(M)[-1] if hermitian else np.linalg.norm(M, 2)
        assert found.value == pytest.approx(found.u @ M @ found.v, rel=1e-9)
        assert found.value <= top * (1 + 1e-12)
        short += ground.size * found.value - beat < 0.8 * (ground.size * top - beat)
    assert short <= 3  # it judges its own error


def test_a_total_is_the_sum_however_it_is_kept():
    rng, shape = np.random.default_rng(0), (40, 30)
    total, dense, kinds = Total.nothing(shape), np.zeros(shape), set()
    for entries, values in stream(shape, 120, 60, 4):
        total = total.plus(entries.adjoint(sx.Fit(entries, values).targets))
        dense += entries.adjoint(sx.Fit(entries, values).targets).dense()
        kinds.add(type(total.base).__name__)
    assert kinds == {"csr_matrix", "ndarray"}
    V, U = rng.standard_normal((30, 3)), rng.standard_normal((40, 2))
    np.testing.assert_allclose(total.times(V), dense @ V, atol=1e-11)
    np.testing.assert_allclose(total.adjoint_times(U), dense.T @ U, atol=1e-11)
    np.testing.assert_allclose(total.dense(), dense, atol=1e-11)
    again = Total.of_flat(shape, total.flat())
    assert np.array_equal(again.times(V), total.times(V))
    both = total.plus(sx.Identity((40, 30)).adjoint(np.ones(1200)))
    np.testing.assert_allclose(both.dense(), dense + 1.0, atol=1e-11)


def test_what_is_held_does_not_grow_with_the_arrivals():
    learner, sizes = Learner(sx.NuclearBall((30, 20), 4.0), max_atoms=16), []
    for t, arrival in enumerate(stream((30, 20), 400, 50, 5)):
        learner.update(*arrival)
        state = learner._state
        held = (state.mixture, state.past, state.home)
        columns = sum(each.U.nbytes + each.V.nbytes for each in held)
        if t >= 200:
            sizes.append(state.total.nbytes + state.space.P.nbytes + state.passed.nbytes + columns)
    assert max(sizes[100:]) <= max(sizes[:100])


def test_a_copy_goes_on_by_itself():
    learner = fed(Learner(DOMAINS[0]), stream((6, 5), 10, 4, 15))
    other, twin = copy.copy(learner), fed(Learner(DOMAINS[0]), stream((6, 5), 10, 4, 15))
    fed(other, stream((6, 5), 10, 4, 16))
    fed(learner, stream((6, 5), 10, 4, 17)), fed(twin, stream((6, 5), 10, 4, 17))
    assert np.array_equal(learner.X.dense(), twin.X.dense())
    assert not np.array_equal(learner.X.dense(), other.X.dense())


@pytest.mark.parametrize("shape", [(6, 5), (5, 5)])
def test_joined_measurements_are_one_behind_the_other(shape):
    rng = np.random.default_rng(6)
    entries = [entries for entries, _ in stream(shape, 4, 7, 6)]
    data = sx.Features(rng.standard_normal((3, shape[0])), shape[1])
    for parts in (entries, [*entries, data]):
        joined = Joined(parts)
        X = rng.standard_normal(shape)
        U, s, Vh = np.linalg.svd(X, full_matrices=False)
        z = np.concatenate([part.measure(U, s, Vh.T) for part in parts])
        np.testing.assert_allclose(joined.measure(U, s, Vh.T), z, atol=1e-12)
        y = rng.standard_normal(z.size)
        assert np.sum(joined.adjoint(y).dense() * X) == pytest.approx(y @ z)
        assert np.linalg.norm(z) <= joined.reach * np.linalg.norm(X) * (1 + 1e-12)
    weights = rng.uniform(1, 2, 28)
    joined = Joined(entries)
    matrix = np.zeros((28, shape[0] * shape[1]))
    for k in range(28):
        matrix[k] = joined.adjoint(np.eye(28)[k]).dense().reshape(-1)
    values = np.linalg.eigvalsh(matrix.T @ np.diag(weights) @ matrix)
    high, low = joined.extremes(weights, False)
    assert low <= values[0] + 1e-12 and values[-1] <= high * (1 + 1e-12) and high <= values[-1] * (1 + 1e-9)


def test_complex_streams_and_features():
    rng = np.random.default_rng(7)
    domain = sx.Spectrahedron(4)
    psi = rng.standard_normal(4) + 1j * rng.standard_normal(4)
    state = np.outer(psi, psi.conj()) / np.linalg.norm(psi) ** 2
    met = []
    for _ in range(80):
        A = rng.standard_normal((2, 4, 4)) + 1j * rng.standard_normal((2, 4, 4))
        A = A + A.conj().swapaxes(1, 2)
        met.append((sx.Matrices(A), np.einsum("kij,ji->k", A, state).real))
    learner = fed(Learner(domain, rate=10.0), met)
    assert learner.X.dense().dtype.kind == "c"
    assert np.linalg.norm(learner.X.dense() - state) < 0.5 * np.linalg.norm(np.eye(4) / 4 - state)
    W = rng.standard_normal((8, 3))
    met = [(sx.Features(x := rng.standard_normal((5, 8)), 3), x @ W) for _ in range(40)]
    learner = fed(Learner(sx.NuclearBall((8, 3), 1.2 * np.linalg.svd(W)[1].sum()), rate=4.0), met)
    assert np.linalg.norm(learner.X.dense() - W) < 0.5 * np.linalg.norm(W)
    assert learner.regret(met).at_most <= learner.bound().value


# ------------------------------------------------------------------------------------------------ what can go wrong


def test_a_bad_arrival_or_a_failed_update_changes_nothing(monkeypatch):
    learner = fed(Learner(DOMAINS[0]), stream((6, 5), 10, 4, 8))
    before, good = learner._state, next(stream((6, 5), 1, 4, 9))
    X = learner.X.dense()
    with pytest.raises(ValueError, match="is nan"):
        learner.update(good[0], [1.0, np.nan, 0.0, 0.0])
    with pytest.raises(ValueError, match="4 measurements but 3 targets"):
        learner.update(good[0], [1.0, 2.0, 3.0])
    with pytest.raises(ValueError, match=r"5×5|6×5"):
        learner.update(sx.Entries([0], [0], (5, 5)), [1.0])
    with pytest.raises(ValueError, match="nothing was changed"), np.errstate(over="ignore"):
        learner.update(good[0], [1e200, 0.0, 0.0, 0.0])

    def interrupted(state, share, rng):
        moves.toward(state, share, rng)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(Learner, "_move", staticmethod(interrupted))
        with pytest.raises(KeyboardInterrupt):
            learner.update(*good)
    assert learner._state is before and np.array_equal(learner.X.dense(), X)
    twin = fed(Learner(DOMAINS[0]), stream((6, 5), 10, 4, 8))
    assert learner.update(*good) == twin.update(*good)
    assert np.array_equal(learner.X.dense(), twin.X.dense())


@pytest.mark.parametrize("lipschitz", [None, 8.0])
def test_one_huge_arrival_does_not_break_the_learner_for_good(lipschitz):
    shape, hurt, whole = (6, 5), Learner(DOMAINS[0], lipschitz=lipschitz), Learner(DOMAINS[0], lipschitz=lipschitz)
    first, then = list(stream(shape, 30, 4, 10)), list(stream(shape, 150, 4, 10))[30:]
    fed(hurt, first), fed(whole, first)
    with pytest.warns(RuntimeWarning, match="scaled down"):
        hurt.update(first[0][0], [1e9, 0.0, 0.0, 0.0])
    assert not hurt.bound().holds and "does not hold" in str(hurt.bound())
    assert hurt.bound().exceeded == 1 and hurt.bound().largest > 1e8
    before = hurt.suffered, whole.suffered
    fed(hurt, then), fed(whole, then)
    lost = hurt.suffered - before[0], whole.suffered - before[1]
    assert lost[0] <= 1.5 * lost[1]
    # with what was taken off counted, the bound is one again
    assert hurt.regret([*first, (first[0][0], [1e9, 0.0, 0.0, 0.0]), *then]).at_most <= hurt.bound().at_most


@pytest.mark.parametrize("kind", [Learner, sx.online.OnlineRankOneRegularized])
@pytest.mark.parametrize("domain", [DOMAINS[0], DOMAINS[2], sx.NuclearBall((70, 50), 8.0)])
def test_a_saved_learner_goes_on_exactly(kind, domain, tmp_path):
    met = list(stream(domain.shape, 50, 9, 11))
    learner = fed(kind(domain, max_atoms=10, rate=2.0), met[:30])
    with pytest.raises(ValueError, match="missing does not exist"):
        learner.save(tmp_path / "missing")
    learner.save(tmp_path)
    assert {each.name for each in tmp_path.iterdir()} == {"learner.npz", "learner.json"}
    again = kind.load(tmp_path, domain)
    fed(learner, met[30:]), fed(again, met[30:])
    assert again.arrivals == 50 and again.suffered == learner.suffered
    assert np.array_equal(again.X.dense(), learner.X.dense())
    assert np.array_equal(again.average.dense(), learner.average.dense())
    if kind is Learner:
        assert again.bound() == learner.bound()


def test_what_is_no_saved_learner_is_refused(tmp_path):
    with pytest.raises(ValueError, match=r"learner\.json is missing"):
        Learner.load(tmp_path, DOMAINS[0])
    fed(Learner(DOMAINS[0]), stream((6, 5), 3, 4, 0)).save(tmp_path)
    with pytest.raises(ValueError, match="another domain"):
        Learner.load(tmp_path, sx.NuclearBall((6, 5), 3.0))
    with pytest.raises(ValueError, match="another loss"):
        Learner.load(tmp_path, DOMAINS[0], "huber")
    with pytest.raises(ValueError, match="holds a OnlineConditionalGradient"):
        sx.online.OnlineRankOneRegularized.load(tmp_path, DOMAINS[0])
    document = json.loads((tmp_path / "learner.json").read_text())
    del document["ledger"]["error"], document["sums"]
    (tmp_path / "learner.json").write_text(json.dumps(document))
    with pytest.raises(ValueError, match="damaged"):
        Learner.load(tmp_path, DOMAINS[0])
    (tmp_path / "learner.json").write_text("{")
    with pytest.raises(ValueError, match="damaged"):
        Learner.load(tmp_path, DOMAINS[0])


def test_bad_settings_are_refused():
    with pytest.raises(TypeError, match="a penalty has no diameter"):
        Learner(sx.Penalized)
    for name, value in (("lipschitz", 0.0), ("accuracy", 1.0), ("rate", -1.0), ("max_atoms", 2), ("seed", 0.5)):
        with pytest.raises(ValueError, match=name):
            Learner(DOMAINS[0], **{name: value})
    with pytest.raises(ValueError, match="loss"):
        Learner(DOMAINS[0], "absolute value")
    with pytest.raises(ValueError, match="predict: the measurements are about"):
        Learner(DOMAINS[0]).predict(sx.Entries([0], [0], (3, 3)))
    big = sx.NuclearBall((3000, 2000), 1.0)
    with pytest.raises(ValueError, match="method='stochastic'"):
        Learner(big).update(sx.Features(np.ones((1, 3000)), 2000), np.zeros((1, 2000)))


def test_predictions_are_in_the_order_of_the_user():
    learner = fed(Learner(DOMAINS[0]), stream((6, 5), 20, 4, 12))
    rows, cols = np.array([5, 0, 3]), np.array([1, 4, 2])
    X = learner.X.dense()
    np.testing.assert_allclose(learner.predict(sx.Entries(rows, cols, (6, 5))), X[rows, cols], atol=1e-14)
    mean = learner.average.dense()[rows, cols]
    np.testing.assert_allclose(learner.predict(sx.Entries(rows, cols, (6, 5)), average=True), mean, atol=1e-12)
    data = np.eye(6)[:2]
    np.testing.assert_allclose(learner.predict(sx.Features(data, 5)), X[:2].reshape(-1), atol=1e-14)
    assert math.isfinite(float(learner.bound()))
    few = sx.Entries([1], [2], (6, 5))
    np.testing.assert_allclose(measured(few, learner._state.mixture, "float64"), X[1, 2], atol=1e-14)


def test_partial_fit_keeps_one_learner():
    learner = None
    for entries, values in stream((6, 5), 10, 4, 13):
        learner = sx.online.partial_fit(learner, DOMAINS[0], "huber", entries, values, lipschitz=3.0)
    twin = fed(Learner(DOMAINS[0], "huber", lipschitz=3.0), stream((6, 5), 10, 4, 13))
    assert np.array_equal(learner.X.dense(), twin.X.dense())
    with pytest.raises(TypeError, match="learner must be None or what the last call returned, got 'mine'"):
        sx.online.partial_fit("mine", DOMAINS[0], "huber", entries, values)
    with pytest.raises(ValueError, match="begin anew"):
        sx.online.partial_fit(learner, sx.NuclearBall((6, 5), 9.0), "huber", entries, values)


def test_a_start_is_played_first():
    X = sx.Rectangular(np.eye(6)[:, :1], np.array([1.0]), np.eye(5)[:, :1])
    learner = Learner(DOMAINS[0], start=X)
    assert learner.predict(sx.Entries([0], [0], (6, 5)))[0] == pytest.approx(1.0)
    fed(learner, stream((6, 5), 30, 4, 14))
    space = Space.none((6, 5))
    assert space.V.shape == (5, 0) and learner.arrivals == 30
