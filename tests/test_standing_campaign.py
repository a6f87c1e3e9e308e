"""A share of the standing campaign (see tests/campaign), and tests that it would notice a library that lies."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
import scipy.optimize

import spectraplex as sx
from campaign.attack import Report, attack, bracket
from campaign.cases import Case
from campaign.classes import CLASSES, make
from campaign.elsewhere import SETTINGS, elsewhere
from campaign.exact import KINDS, Logistic, Separable, turned
from campaign.runner import Plan, reproduction
from spectraplex.certificates import lower as room
from spectraplex.domains import sets as domains
from spectraplex.domains.spectra import simplex
from spectraplex.eigen.bounds import upper_bound
from spectraplex.places import here
from spectraplex.places.numpy import random_unit

BLOCK = 50
QUICK = list(Plan(seed=0, problems=12 * BLOCK).jobs())
LONG = list(Plan(seed=100_000, problems=100 * BLOCK).jobs())


def clean(jobs):
    reports = [attack(*job) for job in jobs]
    lines = [f"{reproduction(each)}  # {word}: {detail}" for each in reports for word, detail in each.misses]
    assert not lines, "\n".join(lines)


@pytest.mark.parametrize("block", [*range(8), *(pytest.param(block, marks=pytest.mark.slow) for block in range(8, 12))])
def test_share(block):
    clean(QUICK[block * BLOCK : (block + 1) * BLOCK])


@pytest.mark.long
@pytest.mark.parametrize("block", range(100))
def test_share_long(block):
    clean(LONG[block * BLOCK : (block + 1) * BLOCK])


@pytest.mark.long
def test_every_attack_on_some_of_each_class():
    clean([(name, 7, True) for name in CLASSES])


@pytest.mark.parametrize(
    "setting", [word if "Haswell" in word else pytest.param(word, marks=pytest.mark.slow) for word in SETTINGS]
)
def test_certificates_travel(setting, tmp_path):
    for seed in range(3):
        for name in ("distance", "sparse", "completion", "sensing", "smooth", "intercepts"):
            case = make(name, seed)
            if float(case.optimum) > 1e-100:  # what underflows is the campaign's business
                result = sx.solve(case.problem, "hybrid", sx.Stop(max_steps=3))
                (result.save(tmp_path / f"{name}@{seed}") / "method").write_text("hybrid")
    assert any(tmp_path.iterdir())
    assert elsewhere(Path(tmp_path), (setting,)) == []


@pytest.mark.parametrize(
    "objective", [sx.Distance([[3.7213122053209635]]), sx.Completion([0], [0], [3.7213122053209635], (1, 1))]
)
@pytest.mark.parametrize("lam", [1e-300, 1e-18, 1e-15, 1e-12, 1e-9, 1.0])
def test_the_smallest_penalised_problem(objective, lam):
    """½(z − a)² + λ|z|: the optimum is λa − λ²/2."""
    problem, best = sx.Penalized(objective, lam), Fraction(lam) * Fraction(3.7213122053209635) - Fraction(lam) ** 2 / 2
    report = Report("one", 0)
    for method in ("hybrid", "cg", "apgd"):
        result = sx.solve(problem, method, sx.Stop(max_steps=20))
        bracket(report, Case(problem, best, 14.0, ""), result.certificate)
    assert report.misses == []


# ------------------------------------------------------------------------------------------ is the campaign right?


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("delta", [None, 0.8])
def test_exact_optima_agree_with_a_general_solver(kind, delta):
    """The closed form against a solver of smooth problems: z = p − q with p, q ≥ 0, q = 0 where z ≥ 0."""
    rng = np.random.default_rng(0)
    for _ in range(4):
        b, w, size = rng.standard_normal(4) * 2, rng.uniform(0.5, 2.0, 4), float(rng.uniform(0.3, 3.0))
        both = kind in ("ball", "penalty")

        def f(x, b=b, w=w, size=size, both=both):
            z = x[:4] - x[4:] if both else x
            r = np.abs(z - b)
            loss = 0.5 * r**2 if delta is None else np.where(r <= delta, 0.5 * r**2, delta * (r - 0.5 * delta))
            return float(w @ loss) + (size * float(x.sum()) if "penalty" in kind else 0.0)

        limit = {"type": "eq" if kind == "spectrahedron" else "ineq", "fun": lambda x, size=size: size - x.sum()}
        start = np.full(8 if both else 4, size / 8)
        asked = dict(bounds=[(0, None)] * start.size, method="SLSQP", options={"ftol": 1e-14, "maxiter": 1000})
        found = scipy.optimize.minimize(f, start, constraints=[] if "penalty" in kind else [limit], **asked)
        exact = Separable.of(kind, b.tolist(), w.tolist(), None if delta is None else [delta] * 4).optimum(size)
        over = 0.0 if "penalty" in kind else max(float(found.x.sum()) - size, 0.0)  # so far outside is its point
        assert float(exact) <= found.fun + 1e-12 + over * float(np.max(w * (np.abs(b) + size)))
        assert float(exact) == pytest.approx(found.fun, abs=1e-6)


@pytest.mark.parametrize("kind", ["ball", "penalty"])
def test_exact_logistic_optima_agree_with_a_general_solver(kind):
    rng = np.random.default_rng(1)
    for _ in range(4):
        w, size = rng.uniform(0.5, 2.0, 3), float(rng.uniform(0.1, 2.0))

        def f(z, w=w, size=size):
            return float(w @ np.logaddexp(0.0, -z)) + (size * float(z.sum()) if kind == "penalty" else 0.0)

        limit = {"type": "ineq", "fun": lambda z, size=size: size - z.sum()}
        asked = dict(bounds=[(0, None)] * 3, method="SLSQP", options={"ftol": 1e-14, "maxiter": 1000})
        found = scipy.optimize.minimize(f, np.full(3, size / 6), constraints=[limit] * (kind == "ball"), **asked)
        exact = Logistic(kind, tuple(map(Fraction, w.tolist()))).optimum(size)
        assert float(exact) <= found.fun + 1e-12
        assert float(exact) == pytest.approx(found.fun, abs=1e-7)


@pytest.mark.parametrize("complex_", [False, True])
def test_bases_are_exactly_orthogonal(complex_):
    for seed in range(50):
        d = 1 + seed % 9
        M, scale = turned(np.random.default_rng(seed), d, complex_)
        assert np.array_equal(M @ M.conj().T, scale**2 * np.eye(d))


def test_cases_are_the_same_whoever_runs_them():
    for name in CLASSES:
        first, second = make(name, 3), make(name, 3)
        assert first.optimum == second.optimum and repr(first.problem) == repr(second.problem)


def test_a_bound_from_a_ritz_value_is_noticed(monkeypatch):
    """Negative control: the usual estimate in place of a bound on the largest eigenvalue."""

    def usual(operator, **asked):
        return upper_bound(operator, **(asked | {"kind": "estimate", "products": 2.0}))

    jobs = [("full", seed) for seed in range(60)]
    honest = sum(bool(words(attack(*job))) for job in jobs)
    monkeypatch.setattr(room, "upper_bound", usual)
    assert sum(bool(words(attack(*job))) for job in jobs) >= honest + 3


def words(report):
    """Misses that say that a bound is false, or that it was withdrawn."""
    return [word for word, _ in report.misses if "false bound" in word or "INCONSISTENT" in word]


@pytest.mark.parametrize("seed", range(8))
def test_what_a_random_start_was_tells_nothing_about_the_next(seed, monkeypatch):
    """Hide an eigenvector from every random vector of one run: another run, of the same seed, must still see it.

    With streams that hang on the seed alone, one of these eight runs proves a falsehood.
    """
    d, drawn = 430, []

    def seen(dimension, dtype, rng):
        drawn.append(random_unit(dimension, dtype, rng))
        return drawn[-1]

    for module in (here, domains):
        monkeypatch.setattr(module, "random_unit", seen)
    rng = np.random.default_rng(seed)
    A = np.diag(np.concatenate([[1.5], rng.uniform(-1.0, -0.5, d - 1)]))  # the projection is its first unit vector
    stop = sx.Stop(max_steps=2)
    sx.solve(sx.Problem(sx.Distance(A), sx.Spectrahedron(d)), "cg", stop, seed=seed)
    known = np.linalg.qr(np.stack([np.eye(d)[0], *(x for x in drawn if x.size == d)], axis=1))[0]
    u = rng.standard_normal(d)
    for _ in range(3):
        u -= known @ (known.T @ u)
    u /= np.linalg.norm(u)
    rest = np.eye(d) - np.outer(u, u)
    B = rest @ A @ rest + 0.7 * np.outer(u, u)  # 0.7 is above 1.5 − 1: the hidden direction belongs to the projection
    B = (B + B.T) / 2
    values = np.linalg.eigvalsh(B)
    best = 0.5 * np.sum((simplex(values, 1.0) - values) ** 2)
    result = sx.solve(sx.Problem(sx.Distance(B), sx.Spectrahedron(d)), "cg", stop, seed=seed)
    assert result.lower_bound <= best * (1 + 1e-9)
