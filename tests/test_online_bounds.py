"""The bound on the regret and the regret itself: every loss and set, streams that are hard, streams that are others."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.online.ledger import Ledger

Learner = sx.online.OnlineConditionalGradient
DOMAINS = [sx.NuclearBall((6, 5), 2.0), sx.TraceBall(5, 2.0), sx.Spectrahedron(5, 1.5)]
LOSSES = ["squared", "huber", "logistic", "hinge", "quantile", "poisson-log"]
COUNT = 60


def targets(loss, count, rng, scale=1.0):
    if loss in ("logistic", "hinge"):
        return rng.choice([-1.0, 1.0], count)
    return rng.poisson(2.0, count).astype(float) if loss == "poisson-log" else scale * rng.standard_normal(count)


def some(shape, count, rng):
    """That many cells of a table."""
    rows, cols = np.divmod(np.sort(rng.choice(shape[0] * shape[1], count, replace=False)), shape[1])
    return sx.Entries(rows, cols, shape)


def of_sizes(sizes, loss, shape, rng, scale=1.0):
    return [(some(shape, k, rng), targets(loss, k, rng, scale)) for k in sizes]


def hard_streams(loss, shape, rng):
    """What nobody would call alike: by name."""
    everything, one = shape[0] * shape[1], sx.Entries([0], [0], shape)
    found = {
        "one cell": [(one, targets(loss, 1, rng)) for _ in range(COUNT)],
        "sizes": of_sizes(rng.integers(1, everything, COUNT), loss, shape, rng),
        "one, then all": of_sizes([everything if t % 20 == 19 else 1 for t in range(COUNT)], loss, shape, rng),
        "weights": [(*each, rng.uniform(1e-3, 1.0, 4)) for each in of_sizes([4] * COUNT, loss, shape, rng)],
    }
    if loss != "poisson-log":
        found["alternating"] = [(one, [1.0 if t % 2 else -1.0]) for t in range(COUNT)]
    if loss in ("squared", "huber"):
        found |= {f"{scale:g}": of_sizes([4] * COUNT, loss, shape, rng, scale) for scale in (1e-6, 1e6)}
        found["drift"] = [(e := some(shape, 4, rng), np.cos(0.05 * t + e.pattern.rows)) for t in range(COUNT)]
        found["nothing first"] = [
            (where, b * (t > 40)) for t, (where, b) in enumerate(of_sizes([4] * 60, loss, shape, rng))
        ]
    return found


@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("domain", DOMAINS)
def test_the_bound_holds_on_hard_streams_and_harmless_arrivals_are_not_scaled_down(loss, domain):
    rng = np.random.default_rng(LOSSES.index(loss))
    for name, met in hard_streams(loss, domain.shape, rng).items():
        learner = Learner(domain, loss)
        with warnings.catch_warnings():
            warnings.simplefilter("error", RuntimeWarning)
            for arrival in met:
                learner.update(*arrival)
        found, bound = learner.regret(met), learner.bound()
        assert found.at_least <= found.at_most <= bound.at_most, name
        assert bound.holds or loss == "poisson-log", name  # which bends without bound


@pytest.mark.parametrize("rate", [1.0, 30.0])
def test_the_error_of_a_step_is_at_least_what_it_is(rate):
    """Φ at the point less its least value, which is at the projection of −S/μ on the ball, is known here exactly."""
    domain, rng = sx.NuclearBall((6, 5), 2.0), np.random.default_rng(3)
    learner, beforehand = Learner(domain, rate=rate, max_atoms=12), Ledger()
    for where, values in of_sizes([4] * COUNT, "squared", (6, 5), rng):
        squares = learner._state.ledger.squares
        learner.update(where, values)
        beforehand = beforehand.after(learner._rule, np.sqrt(learner._state.ledger.squares - squares))
        S, mu = learner._state.total.dense(), learner._state.ledger.strength
        best = sx.project(-S / mu, domain).X.dense()
        here = learner.X.dense()
        phi = [float(np.sum(S * X) + 0.5 * mu * np.sum(X * X)) for X in (here, best)]
        error = learner._state.ledger.error
        assert error >= (phi[0] - phi[1]) * (1.0 - 1e-9) - 1e-9
    assert learner.bound().value < 0.7 * beforehand.bound(learner._rule)  # what theory says before any step is taken


def test_a_huge_second_arrival_is_scaled_down():
    learner, met = Learner(DOMAINS[0]), of_sizes([4, 4], "squared", (6, 5), np.random.default_rng(0))
    learner.update(*met[0])
    with pytest.warns(RuntimeWarning, match="far above what was usual"):
        learner.update(met[1][0], 1e9 * met[1][1])
    assert not learner.bound().holds


def test_a_stream_of_accidents_does_not_fill_the_memory():
    """Python remembers every warning that differs from those before."""
    learner, met = Learner(DOMAINS[0], lipschitz=1e-3), of_sizes([4] * 50, "squared", (6, 5), np.random.default_rng(0))
    with pytest.warns(RuntimeWarning, match="above lipschitz") as said:
        for arrival in met:
            learner.update(*arrival)
    assert len(said) == 50 == learner.bound().exceeded and len({str(each.message) for each in said}) == 1
    assert learner.regret(met).at_most <= learner.bound().at_most


@pytest.mark.parametrize("domain", DOMAINS)
def test_the_first_point_counts_in_the_bound(domain):
    """R is the distance to the farthest point of the set: from an extreme point of a nuclear-norm ball the diameter."""
    rng, (m, n) = np.random.default_rng(0), domain.shape
    u, v = np.linalg.qr(rng.standard_normal((m, 2)))[0], np.linalg.qr(rng.standard_normal((n, 2)))[0]
    for s in (domain.size * np.array([1.0, 0.0]), domain.size * np.array([0.75, 0.25])):
        start = sx.Rectangular(u, s, v) if isinstance(domain, sx.NuclearBall) else sx.Symmetric(u, s)
        learner = Learner(domain, start=start)
        X1 = learner.X.dense()
        other = np.linalg.qr(np.column_stack([u, rng.standard_normal((m, 1))]))[0][:, 2:]
        farthest = -u[:, :1] @ v[:, :1].T if isinstance(domain, sx.NuclearBall) else other @ other.T
        far = np.linalg.norm(domain.size * farthest - X1)
        near = np.linalg.norm(domain.project(1e9 * rng.standard_normal((m, n))).dense() - X1)
        assert near <= far * (1 + 1e-12)
        assert learner._rule.reach == pytest.approx(far)
        assert learner._rule.reach <= learner._rule.diameter
    assert Learner(domain)._rule.c == pytest.approx(learner._rule.c)  # steps are those from the set's own first point


@pytest.mark.parametrize("domain", [sx.NuclearBall((70, 50), 8.0), sx.TraceBall(60, 5.0)])
def test_on_a_larger_table_the_bound_says_that_a_search_judged_itself(domain):
    """And what the ledger says of every step is true there, too."""
    rng = np.random.default_rng(5)
    learner, u = Learner(domain, rate=4.0), rng.standard_normal(domain.shape[0])
    for _ in range(30):
        where = some(domain.shape, 40, rng)
        learner.update(where, u[where.pattern.rows] * u[where.pattern.indices] + 0.1 * rng.standard_normal(40))
        state = learner._state
        mu, S, X = state.ledger.strength, state.total.dense(), learner.X.dense()
        S = 0.5 * (S + S.T) if domain.hermitian else S
        best = domain.project(-S / mu).dense()
        error = np.sum(S * (X - best)) + 0.5 * mu * (np.sum(X * X) - np.sum(best * best))
        assert error <= state.ledger.error * (1 + 1e-9)
    assert learner.bound().searched and "as exact as their search says" in str(learner.bound())
    assert not Learner(DOMAINS[0]).bound().searched


def test_an_arrival_of_zero_counts_is_one():
    rng, shape = np.random.default_rng(1), (6, 5)
    met = [(some(shape, 2, rng), b) for b in ([0.0, 0.0], [1.0, 0.0], [0.0, 0.0], [3.0, 2.0])]
    learner = Learner(DOMAINS[0], "poisson-log")
    for arrival in met:
        learner.update(*arrival)
    assert learner.regret(met).at_most <= learner.bound().at_most
    with pytest.raises(ValueError, match="all poisson-log targets are zero"):
        sx.Fit(*met[0], loss="poisson-log")


def test_a_loss_that_is_infinite_where_the_learner_is_says_so():
    learner = Learner(DOMAINS[0], "poisson")
    with pytest.raises(ValueError, match="finite only where all means are above zero"):
        learner.update(sx.Entries([0], [0], (6, 5)), [2.0])
    assert learner.arrivals == 0


# ----------------------------------------------------------------------------------------------------------- the regret


def classified(count, rng, weighted):
    W, met = rng.standard_normal((8, 3)), []
    for t in range(count):
        X = rng.standard_normal((3 + t % 3, 8))
        weights = [rng.uniform(0.5, 2.0, len(X))] if weighted and t % 2 else []
        met.append((sx.Features(X, 3), np.argmax(X @ W, axis=1), *weights))
    return met


@pytest.mark.parametrize("weighted", [False, True])
def test_the_regret_of_classes_is_that_of_all_samples_at_once(weighted):
    met, domain = classified(20, np.random.default_rng(2), weighted), sx.NuclearBall((8, 3), 5.0)
    learner = Learner(domain, "softmax")
    suffered = sum(learner.update(*arrival) for arrival in met)
    X, labels = np.concatenate([each[0].data for each in met]), np.concatenate([each[1] for each in met])
    weights = np.concatenate([each[2] if len(each) > 2 else np.ones(len(each[1])) for each in met])
    whole = sx.Problem(sx.Fit(sx.Features(X, 3), labels, "softmax", weights), domain)
    best = sx.solve(whole, stop=sx.Stop(relative_gap=1e-7))
    found = learner.regret(met)
    assert found.lower_bound <= best.value and best.lower_bound <= found.best
    assert found.at_least <= suffered - best.lower_bound and suffered - best.value <= found.at_most
    assert found.at_most <= learner.bound().value
    assert sx.verify(found.result.certificate, found.problem, found.result.X)


def test_the_regret_of_a_small_stream_is_what_can_be_computed_by_hand():
    """One cell of a ball of radius one, targets 1, 0, 1, …: the best fixed X is their mean."""
    domain, cell = sx.NuclearBall((3, 2), 1.0), sx.Entries([1], [1], (3, 2))
    met = [(cell, [float(t % 2)], [1.0 + t % 2]) for t in range(10)]
    learner, suffered = Learner(domain), 0.0
    for _, b, w in met:
        suffered += 0.5 * w[0] * (learner.predict(cell)[0] - b[0]) ** 2
        learner.update(cell, b, w)
    mean = 10.0 / 15.0
    best = 0.5 * sum(w[0] * (mean - b[0]) ** 2 for _, b, w in met)
    found = learner.regret(met, sx.Stop(gap=1e-9))
    assert learner.suffered == pytest.approx(suffered)
    assert found.at_least <= suffered - best + 1e-12 and suffered - best <= found.at_most + 1e-12
    assert found.at_most - found.at_least < 2e-9


def test_a_loss_below_zero_ends():
    """What was suffered may be negative: e^z − bz."""
    met = [(sx.Entries([t % 2], [0], (6, 5)), [50.0]) for t in range(12)]
    learner = Learner(DOMAINS[0], "poisson-log")
    for arrival in met:
        learner.update(*arrival)
    found = learner.regret(met)
    assert learner.suffered < 0.0 and found.result.status is sx.Status.GAP
    assert found.at_most <= learner.bound().at_most


def test_a_stream_that_is_another_one_the_second_time_is_refused():
    rng = np.random.default_rng(3)
    learner, met = Learner(DOMAINS[0]), [(some((6, 5), 4, rng), rng.standard_normal(4), np.ones(4)) for _ in range(5)]
    for arrival in met:
        learner.update(*arrival)
    moved = sx.Entries([0, 1, 2, 3], [4, 3, 2, 1], (6, 5))
    first, others = met[0], met[1:]
    changed = {
        "cells": (moved, first[1], first[2]),
        "signs": (first[0], -first[1], first[2]),
        "order": (first[0], first[1][::-1], first[2]),
        "weights": (first[0], first[1], np.array([2.0, 1.0, 1.0, 1.0])),
    }
    for other in changed.values():
        with pytest.raises(ValueError, match="or their measurements, targets or weights are others"):
            learner.regret([other, *others])
    assert learner.regret(each for each in reversed(met)).arrivals == 5  # in another order it is the same stream
    used = iter(met)
    list(used)
    with pytest.raises(ValueError, match="a generator can be read only once"):
        learner.regret(used)
    with pytest.raises(TypeError, match="must be a list or a generator"):
        learner.regret(None)
    for bad in (met[0][0], (met[0][0],), (*met[0], 1)):
        with pytest.raises(TypeError, match=r"arrival 0 of the stream must be \(measurements, targets\)"):
            learner.regret([bad, *others])
    with pytest.raises(ValueError, match="nothing has arrived yet"):
        Learner(DOMAINS[0]).regret(met)
    with pytest.raises(TypeError, match="predict: NoneType is no measurement"):
        learner.predict(None)


def test_a_loss_that_cannot_be_joined_is_refused():
    class Grouped:
        """Like the softmax of a user: it knows what belongs together."""

        name = "grouped"

        def evaluate(self, z, b, weights):
            return 0.5 * float((z - b) @ (z - b)), z - b

        def some(self, places):
            return self

    met = of_sizes([4, 4], "squared", (6, 5), np.random.default_rng(4))
    learner = Learner(DOMAINS[0], Grouped())
    for arrival in met:
        learner.update(*arrival)
    with pytest.raises(TypeError, match="the grouped loss says itself which numbers"):
        learner.regret(met)
