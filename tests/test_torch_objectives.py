"""Objectives of the estimators and those with images of their own, on tensors: values, certificates, saved runs."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

import spectraplex as sx
from problems import WHOLE

torch = pytest.importorskip("torch")

from on_torch import AWAY, back, solved_alike, there, wide_place  # noqa: E402
from spectraplex.losses import Huber, Logistic, Squared  # noqa: E402
from spectraplex.objectives.all_cells import AllCells  # noqa: E402
from spectraplex.objectives.implicit import Implicit  # noqa: E402
from spectraplex.objectives.in_metric import InMetric  # noqa: E402
from spectraplex.objectives.intercepts import Intercepts  # noqa: E402
from spectraplex.objectives.sides import SideFeatures  # noqa: E402
from test_intercepts import VARIANTS, make, names  # noqa: E402


def seen(rng, shape, share=0.4):
    rows, cols = np.nonzero(rng.random(shape) < share)
    return rows, cols, rng.standard_normal(rows.size) + 0.2 * rows - 0.1 * cols


def all_cells(scaled=False, seed=0):
    rng, (m, n) = np.random.default_rng(seed), (14, 9)
    rows, cols, _ = seen(rng, (m, n))
    scales = (rng.uniform(0.5, 2.0, m), rng.uniform(0.5, 2.0, n)) if scaled else None
    everywhere = (rng.uniform(0.2, 0.5, m), rng.uniform(0.5, 1.0, n))
    weights = rng.uniform(1.0, 3.0, rows.size)
    return AllCells(rows, cols, np.ones(rows.size), weights, (m, n), everywhere, scales)


def in_metric(seed=0):
    rng = np.random.default_rng(seed)
    rows, cols, values = seen(rng, (14, 9))
    A = rng.standard_normal((9, 9))
    return InMetric(sx.Completion(rows, cols, values, (14, 9)), np.eye(9) + 0.05 * (A @ A.T))


def distance(sparse, complex_, seed=0):
    rng = np.random.default_rng(seed)
    A = rng.standard_normal((14, 9)) + (1j * rng.standard_normal((14, 9)) if complex_ else 0.0)
    A = A * (rng.random((14, 9)) < 0.5)
    return sx.Distance(sp.csr_array(A) if sparse else A)


def smooth(complex_=False):
    kind = "complex128" if complex_ else "float64"
    A = distance(False, complex_).A
    f = lambda X: (0.5 * float(np.vdot(X - A, X - A).real), X - A)  # noqa: E731
    return sx.Smooth(f, (14, 9), kind, smoothness=1.0, lower=0.0)


def featured(sparse, loss="squared", seed=0):
    rng, (m, n) = np.random.default_rng(seed), (14, 9)
    rows, cols, values = seen(rng, (m, n))
    known = rng.standard_normal((m, 3)) * (rng.random((m, 3)) < 0.7), rng.standard_normal((n, 2))
    known = tuple(sp.csr_matrix(each) for each in known) if sparse else known
    values = np.sign(values) if loss == "logistic" else values
    losses = {"squared": Squared(), "huber": Huber(0.5), "logistic": Logistic()}
    told = SideFeatures(*known, (0.5, 0.8))
    return Intercepts(rows, cols, values, (m, n), losses[loss], offset=0.1, ridges=(1.5, 0.7), features=told)


OBJECTIVES = {
    **{f"intercepts {names(variant)}": lambda v=variant: make(**v) for variant in VARIANTS},
    **{f"implicit {names(variant)}": lambda v=variant: Implicit(make(**v), 0.8) for variant in VARIANTS},
    "features": lambda: featured(False),
    "features, sparse": lambda: featured(True),
    "features, huber": lambda: featured(True, "huber"),
    "features, logistic": lambda: featured(False, "logistic"),
    "all cells": all_cells,
    "all cells, scaled": lambda: all_cells(True),
    "in a metric": in_metric,
    "distance": lambda: distance(False, False),
    "distance, complex": lambda: distance(False, True),
    "distance, sparse": lambda: distance(True, False),
    "distance, sparse and complex": lambda: distance(True, True),
    "smooth": smooth,
    "smooth, complex": lambda: smooth(True),
}


def problem_of(name, radius=4.0):
    objective = OBJECTIVES[name]()
    return sx.Problem(objective, sx.NuclearBall(objective.shape, radius))


@pytest.mark.parametrize("name", OBJECTIVES)
def test_the_same_function_there(name):
    problem = problem_of(name)
    here, away = problem.objective, there(problem).objective
    rng, complex_ = np.random.default_rng(1), np.dtype(here.dtype).kind == "c"
    triples = []
    for _ in range(2):
        U, V = (rng.standard_normal((d, 3)) + (1j * rng.standard_normal((d, 3)) if complex_ else 0) for d in here.shape)
        triples.append((U, rng.uniform(0.1, 1.0, 3), V))
    z, dz = (here.measure(*each) for each in triples)
    w, dw = (away.measure(AWAY.from_host(U), s, AWAY.from_host(V)) for U, s, V in triples)
    for a, b in ((1.0, 0.0), (0.7, 0.3)):
        one, other = here.combine(a, z, b, dz), away.combine(a, w, b, dw)
        value, slope = here.evaluate(one)
        told, lean = away.evaluate(other)
        assert told == pytest.approx(value, rel=1e-10)
        assert away.pair(lean, dw) == pytest.approx(here.pair(slope, dz), rel=1e-8, abs=1e-8)
        curve, bent = here.along(one, dz), away.along(other, dw)
        for size in (0.0, 0.5):
            assert bent.value(size) == pytest.approx(curve.value(size), rel=1e-9)
            assert bent.derivative(size) == pytest.approx(curve.derivative(size), rel=1e-6, abs=1e-7)
        G, H = here.gradient(slope), away.gradient(lean)
        block, turned = triples[1][2], triples[1][0]
        for got, want in (
            (H.dense(), G.dense()),
            (back(H.matmat(AWAY.from_host(block))), G.matmat(block)),
            (back(H.rmatmat(AWAY.from_host(turned))), G.rmatmat(turned)),
            (H.scores(AWAY.from_host(turned), AWAY.from_host(block), 3), G.scores(turned, block, 3)),
        ):
            assert np.allclose(got, want, rtol=1e-7, atol=1e-7 * np.abs(want).max())
        assert H.noise() == pytest.approx(G.noise(), rel=0.1, abs=1e-300)
        if here.conjugate is not None if hasattr(here, "conjugate") else False:
            own, theirs = here.conjugate(slope), away.conjugate(lean)
            for c in (0.5, 1.0):
                assert theirs.at(c) == pytest.approx(own.at(c), rel=1e-8, abs=1e-8)
            assert theirs.size == pytest.approx(own.size, rel=1e-6)
    blur = sx.Problem(here, problem.domain).facts.rounding, sx.Problem(away, problem.domain).facts.rounding
    if blur[0] is not None:
        assert blur[1](told, lean, 4.0, 3) == pytest.approx(blur[0](value, slope, 4.0, 3), rel=0.1)


LONG = ("features, huber", "features, logistic")  # many Newton steps, each of many small operations
SOLVED = [(name, method) for name in OBJECTIVES for method in ("hybrid", "cg") if name not in LONG]
SOLVED += [(name, method) for name in ("intercepts plain", "all cells", "distance, sparse") for method in WHOLE]


@pytest.mark.parametrize(("name", "method"), dict.fromkeys(SOLVED))
def test_solved_there(name, method, tmp_path):
    """Certificates from there are verified here, and the run goes on at the other place."""
    problem = problem_of(name)
    solved_alike(problem, method, sx.Stop(relative_gap=1e-4, max_steps=12))
    short = sx.solve(there(problem), method, sx.Stop(max_steps=3))
    back_here = sx.load(short.save(tmp_path / "there"))
    on = sx.solve(problem, method, sx.Stop(max_steps=3), start=back_here)
    assert on.value <= short.value + short.certificate.rounding and sx.verify(on.certificate, problem, on)
    verdict = sx.verify(back_here.certificate, problem, back_here)
    assert verdict, str(verdict)
    kept = sx.load(sx.solve(problem, method, sx.Stop(max_steps=3)).save(tmp_path / "here"))
    verdict = sx.verify(kept.certificate, there(problem), kept)
    assert verdict, str(verdict)
    on = sx.solve(there(problem), method, sx.Stop(max_steps=3), start=kept)
    assert on.value <= kept.value + kept.certificate.rounding
    assert sx.verify(on.certificate, problem, on.X)


@pytest.mark.parametrize("name", ["intercepts plain", "all cells", "distance", "distance, sparse", "in a metric"])
@pytest.mark.parametrize("place", [AWAY, wide_place()], ids=["narrow", "wide"])
def test_penalised_there(name, place):
    problem = sx.Penalized(OBJECTIVES[name](), 0.8)
    solved_alike(problem, "hybrid", sx.Stop(relative_gap=1e-4, max_steps=60), place)


def test_a_smooth_function_of_tensors():
    """The function is handed what is on the device; it may answer with tensors of Torch's own."""
    rng = np.random.default_rng(2)
    A = rng.standard_normal((6, 5))
    target = torch.as_tensor(A)

    def value_and_gradient(X):
        away = (X.t if hasattr(X, "t") else torch.as_tensor(X)) - target
        return 0.5 * float((away * away).sum()), away

    def plain(X):
        return 0.5 * float(np.sum((X - A) ** 2)), X - A

    ball = sx.NuclearBall((6, 5), 2.0)
    problem = sx.Problem(sx.Smooth(value_and_gradient, (6, 5), smoothness=1.0, lower=0.0), ball)
    away = sx.solve(there(problem), "cg", sx.Stop(gap=1e-2))
    here = sx.solve(sx.Problem(sx.Smooth(plain, (6, 5), smoothness=1.0, lower=0.0), ball), "cg", sx.Stop(gap=1e-2))
    assert abs(away.value - here.value) <= away.gap + here.gap and away.gap <= 1e-2


def test_a_constant_that_takes_work_is_not_worked_out_on_the_way_there(monkeypatch):
    """The largest eigenvalue of 𝒜𝒜* takes products on this machine: minutes for tens of thousands of rank-ones."""

    def asked(self):
        raise AssertionError("the spectrum was asked for")

    rng = np.random.default_rng(0)
    home = sx.Problem(sx.Sensing(rng.standard_normal((30, 5)), rng.standard_normal(30)), sx.Spectrahedron(5))
    monkeypatch.setattr("spectraplex.measurements.protocol.Spectrum.largest", property(asked))
    place = home.to("cpu")
    assert place.facts.given_smoothness is None
    assert sx.solve(place, stop=sx.Stop(max_steps=2), certify=False).value < np.inf
    assert sx.Problem(sx.Distance(np.eye(3)), sx.Spectrahedron(3)).to("cpu").facts.given_smoothness == 1.0
    with pytest.raises(AssertionError, match="the spectrum was asked for"):
        _ = place.facts.smoothness
