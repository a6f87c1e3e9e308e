"""table1: its problems have the optima and constants they claim, its fits find known laws, its claims can fail."""

from __future__ import annotations

import copy
import math
from dataclasses import replace

import numpy as np
import pytest
from scipy.sparse import coo_matrix

import spectraplex as sx
from spectraplex.experiments.claims import missed
from spectraplex.experiments.document import Document, Run, from_plain, plain
from spectraplex.experiments.table1 import claims as table1_claims
from spectraplex.experiments.table1 import read as table1_fits
from spectraplex.experiments.table1 import run as table1
from spectraplex.experiments.table1 import words as table1_report
from spectraplex.experiments.table1.problems import GAP, SPREAD, build

PLACES = [
    ("distance", 24, 3, 1 / 6, 1.0),
    ("distance", 24, 1, 1.0, 1.0),
    ("sparse", 45, 3, 0.02, 1.0),
    ("entries", 24, 3, 1 / 6, 0.1),
    ("entries", 24, 1, 1.0, 0.01),
    ("entries", 33, 10, 0.05, 0.1),
    ("gaussian", 8, 2, 0.25, 0.0),
]


# ------------------------------------------------------------------------------------------------------------ problems


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place[0]}-rank{place[2]}")
def test_the_optimum_is_the_optimum(place):
    family, d, rank, smallest, ratio = place
    known = build(family, d, rank, smallest, ratio, seed=3)
    U, weights, objective = known.vectors, known.weights, known.problem.objective
    assert np.allclose(U.T @ U, np.eye(rank), atol=1e-12)
    assert len(weights) == rank and weights.sum() == pytest.approx(1.0)
    assert weights.min() == pytest.approx(smallest)
    value, slope = objective.evaluate(objective.measure(U, weights, U))
    assert value == pytest.approx(known.optimum, rel=1e-12)
    G = objective.gradient(slope).dense()
    eigenvalues = np.linalg.eigvalsh(0.5 * (G + G.T))
    # optimal: X* lives where the gradient is least; and the rest is where it was put
    assert np.abs(U.T @ G @ U).max() < 1e-12
    assert np.abs(eigenvalues[:rank]).max() < 1e-12
    assert eigenvalues[rank] >= GAP - 1e-12 and eigenvalues[-1] <= GAP + SPREAD + 1e-12


@pytest.mark.parametrize("place", PLACES, ids=lambda place: f"{place[0]}-rank{place[2]}")
def test_the_constants_are_the_constants(place):
    known = build(*place, seed=3)
    assert known.problem.lifted.smoothness == pytest.approx(1.0)
    assert sx.check(known.problem.objective, hermitian=True)
    rng, curvatures = np.random.default_rng(0), []
    for _ in range(50):
        P, s = np.linalg.qr(rng.standard_normal((place[1], 2)))[0], rng.standard_normal(2)
        dz = known.problem.objective.measure(P, s, P)
        curvatures.append(known.problem.objective.along(dz, dz).curvature(1.0) / float(s @ s))
    assert known.strong_convexity - 1e-12 <= min(curvatures) and max(curvatures) <= 1.0 + 1e-12


def test_weighted_entries_are_a_sensing_problem():
    known = build("entries", 12, 2, 0.25, 0.05, seed=1)
    ours, d = known.problem.objective, 12
    matrices, targets = [], []
    for i in range(d):
        for j in range(i, d):
            size, places = (1.0, [(i, j)]) if i == j else (math.sqrt(0.5), [(i, j), (j, i)])
            entry = coo_matrix((np.full(len(places), size), tuple(zip(*places, strict=True))), (d, d))
            matrices.append(math.sqrt(ours.W[i, j]) * entry)
            targets.append(math.sqrt(ours.W[i, j]) * ours.A[i, j] / size)
    sensing = sx.Sensing(matrices, targets)
    assert sensing.smoothness == pytest.approx(ours.smoothness)
    assert sensing.hermitian_strong_convexity == pytest.approx(ours.strong_convexity) == pytest.approx(0.05)
    U, s = np.linalg.qr(np.random.default_rng(0).standard_normal((d, 3)))[0], np.array([0.5, 0.3, 0.2])
    (f, y), (g, w) = (each.evaluate(each.measure(U, s, U)) for each in (ours, sensing))
    assert f == pytest.approx(g)
    assert np.allclose(ours.gradient(y).dense(), sensing.gradient(w).dense())


def test_the_face_of_the_optimum_feels_alpha():
    known = build("entries", 40, 3, 1 / 6, 0.1, seed=0)
    objective, U = known.problem.objective, known.vectors
    step = np.array([0.0, 1.0, -1.0])  # weight from one atom of the face to another
    dz = objective.measure(U, step, U)
    assert objective.along(dz, dz).curvature(1.0) / 2.0 == pytest.approx(0.1)


def test_an_unknown_family_is_named():
    with pytest.raises(ValueError, match="unknown family 'other'"):
        build("other", 10, 2, 0.25, 1.0, seed=0)


# ------------------------------------------------------------------------------------------------------------ one run


def test_a_run_is_counted_from_its_trace_and_repeats():
    settings = {"family": "entries", "d": 20, "rank": 2, "smallest": 0.25, "ratio": 0.1, "seed": 5, "steps": 12}
    known = build("entries", 20, 2, 0.25, 0.1, 5)
    for method in ("pgd", "cg"):
        outcome = table1.perform(settings | {"method": method})
        trace = sx.solve(known.problem, method, sx.Stop(max_steps=12), seed=5, certify=False).trace.as_dict()
        error = trace["value"] - known.optimum
        for epsilon, step, products in zip(*(outcome["hits"][n] for n in ("epsilon", "step", "products")), strict=True):
            reached = np.nonzero(error <= epsilon)[0]
            assert step == (trace["step"][reached[0]] if reached.size else None)
            assert products == (trace["products"][reached[0]] if reached.size else None)
        spent = outcome["products"]
        assert outcome["flops"] == pytest.approx(14 / 3 * 20**2 * spent if method == "pgd" else 2 * 20**2 * spent)
        assert outcome["decompositions"] == (spent / 20 if method == "pgd" else 0.0)
        again = table1.perform(settings | {"method": method})
        assert _timeless(plain(outcome)) == _timeless(plain(again))


def test_flops_of_a_sparse_gradient_count_the_factors():
    known = build("sparse", 30, 1, 1.0, 1.0, seed=0)
    flops = table1._flops(known, 30, False, np.array([5.0, 8.0]), np.array([1, 2]))
    each = 2 * known.nonzeros + 4 * 30
    assert flops.tolist() == [5 * each, 8 * each]  # the second step multiplies with the gradient at one atom


def test_tasks_are_unique_and_timings_alone():
    for quick in (True, False):
        tasks = table1.tasks(quick)
        assert len({task.key for task in tasks}) == len(tasks)
        assert all(task.cost > 0 for task in tasks)
    timed = {task.settings["d"] for task in table1.tasks(False) if task.alone}
    assert timed == {100, 300, 1000, 3000}
    assert not any(task.alone for task in table1.tasks(True))


# -------------------------------------------------------------------------------------------------- reports of results


def _timeless(outcome):
    outcome = copy.deepcopy(outcome)
    outcome.pop("seconds")
    outcome["hits"].pop("seconds")
    outcome["curve"].pop("seconds")
    return outcome


def _lawful(settings):
    """What a run would leave behind if errors followed the paper's rates, and costs its iteration complexities."""
    method, d, ratio, smallest = (settings[name] for name in ("method", "d", "ratio", "smallest"))
    ratio = ratio or 0.1
    t = np.arange(1, settings["steps"] + 1)
    error = {
        "pgd": 0.2 * np.exp(-t * (ratio if ratio < 1 else 40.0)),
        "apgd": 0.2 * np.exp(-t * (math.sqrt(ratio) if ratio < 1 else 40.0)),
        "cg": 0.05 / t,
        "ror": (0.01 / (math.sqrt(ratio) * smallest * t)) ** 2,
        "ror-adaptive": 0.3 * np.exp(-0.5 * t),
    }[method]
    power = 3.0 if method in table1.PROJECTED else 1.0 if settings["family"] == "sparse" else 2.0
    columns = {
        "step": t,
        "decompositions": t if method in table1.PROJECTED else 0 * t,
        "products": 20.0 * t,
        "flops": t * float(d) ** power,
        "seconds": t * 1e-8 * float(d) ** power,
        "atoms": t,
    }
    at = [int(np.argmax(error <= e)) if error[-1] <= e else None for e in table1.EPSILONS]
    last = at[-1] if at[-1] is not None else len(t) - 1
    thin = np.unique(np.rint(np.geomspace(1, last + 1, 60)).astype(int) - 1)
    return {
        "optimum": 2.0,
        "smoothness": 1.0,
        "strong_convexity": ratio,
        "nonzeros": d,
        "status": "VALUE" if at[-1] is not None else "STEP_LIMIT",
        "steps": int(t[last]),
        **{n: float(columns[n][last]) for n in ("products", "decompositions", "flops", "seconds", "atoms")},
        "start": 0.2,
        "last": float(error[last]),
        "lowest": float(error[last]),
        "hits": {"epsilon": list(table1.EPSILONS)}
        | {n: [None if i is None else float(c[i]) for i in at] for n, c in columns.items()},
        "curve": {"error": error[thin].tolist(), "step": t[thin].tolist()}
        | {n: columns[n][thin].tolist() for n in ("products", "flops", "seconds")},
    }


@pytest.fixture(scope="module")
def lawful():
    runs = tuple(Run(task.key, task.settings, _lawful(task.settings)) for task in table1.tasks(False))
    return Document("table1", False, {"python": "3"}, {"cores": 2}, runs)


@pytest.fixture(scope="module")
def quick():
    tasks = [task for task in table1.tasks(True) if task.settings["d"] <= 20 or task.settings["family"] == "entries"]
    runs = tuple(Run(task.key, task.settings, from_plain(plain(table1.perform(task.settings)))) for task in tasks)
    return Document("table1", True, {"python": "3"}, {"cores": 2}, runs)


def test_fits_find_the_laws_they_look_for(lawful):
    fits = table1_fits
    assert fits.fit_conditioning(lawful, "pgd").exponent == pytest.approx(1.0, abs=0.05)
    assert fits.fit_conditioning(lawful, "apgd").exponent == pytest.approx(0.5, abs=0.05)
    assert fits.fit_conditioning(lawful, "cg").exponent == pytest.approx(0.0, abs=1e-9)
    assert fits.fit_conditioning(lawful, "ror").exponent == pytest.approx(0.5, abs=0.05)
    assert fits.fit_smallest(lawful, "entries", "ror").exponent == pytest.approx(1.0, abs=0.05)
    assert fits.fit_dimension(lawful, "entries", "cg").exponent == pytest.approx(0.0, abs=1e-9)
    for method, q in (("cg", 1.0), ("ror", 0.5)):
        run = lawful.find(method=method, d=300, **fits.line(lawful, "entries"))[0]
        assert fits.in_epsilon(run) == pytest.approx(q, abs=0.02)
    digits = fits.per_decade(lawful.find(method="pgd", d=300, **fits.line(lawful, "entries")))
    assert digits == pytest.approx(math.log(10) / 0.1, rel=0.02)
    assert fits.cost_exponent(lawful, "distance", "pgd", "seconds") == pytest.approx(3.0)
    assert fits.cost_exponent(lawful, "sparse", "cg", "seconds") == pytest.approx(1.0)


def test_the_median_of_runs_that_did_not_get_there_is_infinite(lawful):
    runs = lawful.find(method="cg", d=300, **table1_fits.line(lawful, "entries"))
    assert table1_fits.middle(runs, "step", 1e-6) == math.inf
    assert math.isnan(table1_fits.middle([], "step", 1e-6))


def test_the_cheapest_is_found_and_doubt_is_told(lawful):
    best = table1_fits.cheapest(lawful, "entries", 3000, 1e-1, "seconds")
    assert best.method == "cg" and not best.unsure
    # projected gradient is the only one to get there, and conditional gradient was stopped when it had spent less
    only = [run for run in lawful.runs if run.settings["method"] in ("pgd", "apgd", "cg")]
    some = replace(lawful, runs=tuple(only))
    best = table1_fits.cheapest(some, "distance", 3000, 1e-6, "seconds")
    assert best.method == "pgd" and best.unsure == ("cg",)
    assert table1_claims._large(some, "distance").holds is None
    assert table1_claims._large(lawful, "distance").holds is True
    dear = [replace(run, outcome=run.outcome | {"seconds": 1e9}) for run in some.runs]
    assert table1_claims._large(replace(some, runs=tuple(dear)), "distance").holds is False
    none = replace(lawful, runs=tuple(run for run in only if run.settings["method"] == "cg"))
    assert table1_fits.cheapest(none, "distance", 3000, 1e-6, "seconds") is None


def test_lawful_results_pass_and_are_told(lawful):
    claims = table1_report.claims(lawful)
    assert not missed(claims)
    said = {(claim.where, claim.statement): claim.holds for claim in claims}
    assert len(said) == len(claims)
    assert said["row 3, rank 3", _statement(claims, "order of 1/ε")] is True
    assert all(claim.holds for claim in claims if "iteration complexity" in claim.where or "rows 1" in claim.where)
    text = table1_report.text(lawful)
    assert text.startswith("## Table 1") and "nan" not in text and "inf" not in text.replace("infin", "")
    assert "| projected gradient | 1 | 1 | 1 | 1 | 1 | 1 |" in text
    rows = table1_report.rows(lawful)
    assert len(rows) == 6 * len(lawful.runs)
    assert {row["reached"] for row in rows} == {True, False}
    assert all((row["step"] == "") == (not row["reached"]) for row in rows)
    assert set(table1_report.draw(lawful)) == {"table1", "table1-map"}


def _statement(claims, words):
    return next(claim.statement for claim in claims if words in claim.statement)


@pytest.mark.parametrize(
    ("method", "change", "words"),
    [
        ("ror", {"lowest": -1e-9}, "below the known optimum"),
        ("apgd", {"status": "STEP_LIMIT"}, "is the optimum"),
        ("pgd", {"decompositions": 2.0}, "one decomposition"),
    ],
)
def test_results_that_cannot_be_are_missed(lawful, method, change, words):
    wrong = _changed(lawful, lawful.find(family="distance", d=300, method=method)[0], change)
    assert [words in claim.statement for claim in missed(table1_report.claims(wrong))] == [True]


def test_hits_out_of_order_are_missed(lawful):
    run = lawful.find(family="distance", d=300, method="cg")[0]
    hits = copy.deepcopy(run.outcome["hits"])
    hits["products"][3] = 0.0
    wrong = _changed(lawful, run, {"hits": hits})
    assert ["never takes fewer" in claim.statement for claim in missed(table1_report.claims(wrong))] == [True]


def test_a_paper_that_is_wrong_is_reported_not_required(lawful):
    """An Algorithm 2 that is no better than conditional gradient."""
    runs = [
        replace(run, outcome=_lawful(run.settings | {"method": "cg"})) if run.settings["method"] == "ror" else run
        for run in lawful.runs
    ]
    claims = table1_report.claims(replace(lawful, runs=tuple(runs)))
    verdict = next(claim for claim in claims if claim.statement.startswith("Algorithm 2 as printed"))
    assert verdict.holds is False and verdict.verdict == "does not hold"
    assert not missed(claims)


def _changed(document, run, change):
    runs = tuple(
        replace(each, outcome=each.outcome | change) if each.key == run.key else each for each in document.runs
    )
    return replace(document, runs=runs)


def test_the_miniature_is_told_and_decides_only_what_it_can(quick):
    claims = table1_report.claims(quick)
    assert all(claim.holds for claim in claims if claim.ours)
    assert any(claim.holds is None for claim in claims)
    assert "this is the miniature" in table1_report.text(quick)
    assert set(table1_report.draw(quick)) == {"table1", "table1-map"}
