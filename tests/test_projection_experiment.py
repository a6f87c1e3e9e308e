"""The experiment ``projection``: its problems, its certified projections, its report and its claims."""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import spectraplex as sx
from spectraplex import plots
from spectraplex.experiments.claims import missed
from spectraplex.experiments.document import Document, Run, from_plain, machine, plain, read, versions
from spectraplex.experiments.projection import run as projection
from spectraplex.experiments.projection import words as projection_report
from spectraplex.experiments.projection.problems import Kinked, kinked

L1 = ("l1", "generated", "quick", 20, 8.0)
HINGE = ("hinge", "scikit-learn", "digits", 60, 4.0)


@lru_cache
def quick() -> Document:
    """The miniature, in this process."""
    runs = [
        Run(task.key, task.settings, from_plain(plain(projection.perform(task.settings))))
        for task in projection.tasks(quick=True)
    ]
    return Document("projection", True, versions("projection"), machine(), tuple(runs))


def random_member(problem: Kinked, rng: np.random.Generator) -> Any:
    matrix = rng.standard_normal(problem.domain.shape)
    return problem.domain.project(matrix + matrix.T if problem.domain.hermitian else matrix).dense()


@pytest.mark.parametrize("which", [L1, HINGE])
def test_subgradients_support_the_function_from_below(which: tuple[Any, ...]) -> None:
    problem, rng = kinked(*which), np.random.default_rng(0)
    for _ in range(5):
        X, Z = random_member(problem, rng), random_member(problem, rng)
        u = problem.at(X)
        linear = problem.value(u) + np.vdot(problem.subgradient(u), Z - X)
        assert problem.value(problem.at(Z)) >= linear - 1e-10


def test_values_are_those_of_the_losses_written_out() -> None:
    rng = np.random.default_rng(1)
    from spectraplex.experiments.data import ratings

    problem = kinked("l1", "generated", "quick", 200, 8.0)  # the whole table: more than it has rows
    rows, cols, values, shape = ratings("quick", "generated")
    assert problem.domain.shape == shape
    Z = random_member(problem, rng)
    by_users = np.argsort(-np.bincount(rows, minlength=shape[0]), kind="stable")
    by_films = np.argsort(-np.bincount(cols, minlength=shape[1]), kind="stable")
    full = np.empty(shape)
    full[np.ix_(by_users, by_films)] = Z
    assert problem.value(problem.at(Z)) == pytest.approx(np.abs(full[rows, cols] + np.median(values) - values).sum())

    metric = kinked(*HINGE)
    # with M = 0 every distance is 0: pairs of one class pay nothing, the others 1 + 2
    assert metric.value(metric.at(np.zeros(metric.domain.shape))) == pytest.approx(0.5 * 3.0)


@pytest.mark.parametrize("which", [L1, HINGE])
def test_any_multipliers_bound_the_optimum_and_good_ones_meet_it(which: tuple[Any, ...]) -> None:
    problem, rng = kinked(*which), np.random.default_rng(2)
    found = problem.bracket(0.01, 1e-4, 400)
    assert found["smoothed_lower"] <= found["dual_lower"] <= found["upper"]
    assert found["upper"] - found["dual_lower"] <= 0.02 * found["upper"]
    for _ in range(5):
        assert problem.dual_bound(rng.uniform(-2.0, 2.0, problem.offset.size)) <= found["dual_lower"] + 1e-6


@pytest.mark.parametrize("which", [L1, HINGE])
def test_a_projection_ends_when_its_gap_is_certified(which: tuple[Any, ...]) -> None:
    problem, rng = kinked(*which), np.random.default_rng(3)
    X = problem.start()
    noise = rng.standard_normal(problem.domain.shape)
    Y = X.dense() + 0.3 * (noise + noise.T if problem.domain.hermitian else noise)
    wanted = 0.05
    done = projection.by_rank_one_steps(Y, X, problem.domain, wanted, sx.METHODS["ror-adaptive"], 2000, seed=0)
    assert done.reached and done.gap <= wanted
    residual, P = done.X.dense() - Y, problem.domain.project(Y).dense()
    size = which[-1]
    if problem.domain.hermitian:
        true = np.vdot(residual, done.X.dense()) + size * np.linalg.eigvalsh(-residual)[-1]
    else:
        true = np.vdot(residual, done.X.dense()) + size * np.linalg.norm(residual, 2)
    assert true <= done.gap <= true + wanted  # a bound on the true Frank-Wolfe gap, and not an idle one
    assert np.linalg.norm(done.X.dense() - P) ** 2 <= done.gap

    short = projection.by_rank_one_steps(Y, X, problem.domain, 1e-9, sx.METHODS["ror-adaptive"], 3, seed=0)
    assert not short.reached and short.eigenvectors == 3
    assert np.linalg.norm(short.X.dense() - P) ** 2 <= short.gap < np.inf


def test_a_projection_never_ends_on_an_estimate() -> None:
    """Where the estimate is small enough and the bound is not, it has to go on: the bound decides."""
    problem, X = kinked(*L1), kinked(*L1).start()
    Y = X.dense() + 0.3 * np.random.default_rng(4).standard_normal(problem.domain.shape)
    distance = sx.Problem(sx.Distance(Y), problem.domain)
    point = distance.point(problem.domain.raised(X))
    true = np.vdot(point.image - Y, point.image) + 8.0 * np.linalg.norm(point.image - Y, 2)
    record = sx.Record(0, 0.0, point.value, np.inf, -np.inf, np.inf, 1, 0.0, "start", 0.0)
    for share in np.linspace(0.99, 1.05, 25):
        watch = projection.Certified(distance, float(share * true), np.random.default_rng(0))
        goes_on = watch(record, point)
        assert watch.gap >= true * (1 - 1e-12)
        assert goes_on is bool(watch.gap > watch.wanted)
        assert share >= 1.0 or goes_on


def test_the_next_start_is_in_the_set_and_without_dust() -> None:
    X = sx.Rectangular(np.eye(4, 3), np.array([5.0, 3.0, 1e-4]), np.eye(5, 3))
    start = projection.warm(X, 1e-3)
    assert start.triple()[1] == pytest.approx(np.array([5.0, 3.0]) * 8.0001 / 8.0)
    assert start.triple()[0].shape == (4, 2)


def test_schedules_agree_where_they_meet() -> None:
    at = lambda schedule, k: projection.tolerance(schedule, k, 100, reach=3.0, kappa=0.5)  # noqa: E731
    assert at("derived", 1) == 0.25 * 9.0
    assert at("derived", 100) == at("tight", 1) == at("tight", 100)
    assert at("derived", 10) == at("loose", 1) == at("loose", 100)


def test_the_same_task_gives_the_same_numbers() -> None:
    task = next(task for task in projection.tasks(quick=True) if task.key == "l1 derived, seed 0")
    first, again = (projection.perform(task.settings | {"outer": 3}) for _ in range(2))
    assert set(first) == set(again)
    for name in set(first) - {"seconds", "seconds_exact"}:
        assert first[name] == again[name], name


def test_full_tasks_have_names_of_their_own_and_settings_that_json_holds() -> None:
    tasks = projection.tasks(quick=False)
    assert len({task.key for task in tasks}) == len(tasks)
    for task in tasks:
        assert from_plain(plain(task.settings)) == task.settings


@pytest.mark.slow
def test_the_miniature_tells_all_and_decides_only_what_it_can(tmp_path: Path) -> None:
    document = quick()
    path = tmp_path / "projection.json"
    path.write_text(document.as_json(), encoding="utf-8")
    document = read(path)  # what check sees
    found = projection_report.claims(document)
    assert missed(found) == []
    open_ = [claim for claim in found if claim.holds is None]
    judged = [claim for claim in found if claim.holds]
    assert open_ and all("miniature" in claim.measured for claim in open_)
    assert any("certificate is true" in claim.statement for claim in judged)
    assert sum("lower bound" in claim.statement for claim in judged) == 2
    told = projection_report.text(document)
    assert told.startswith("## Projections by rank-one steps\n") and "GENERATED" in told and "miniature" in told
    table = list(projection_report.rows(document))
    assert len({row["run"] for row in table}) == len(document.find(kind="run"))
    pytest.importorskip("matplotlib")
    (figure,) = projection_report.draw(document).values()
    assert plots.save(figure, tmp_path / "projection.png").stat().st_size > 10_000


def spoiled(document: Document, key: str, **changed: Any) -> Document:
    """The same results with one run's outcome altered."""
    runs = [replace(run, outcome=run.outcome | changed) if run.key == key else run for run in document.runs]
    return replace(document, runs=tuple(runs))


@pytest.mark.slow
def test_claims_notice_what_is_wrong() -> None:
    document = quick()

    def statements(spoilt: Document) -> list[str]:
        return [claim.statement for claim in missed(projection_report.claims(spoilt))]

    (liar,) = statements(spoiled(document, "hinge by cg", worst=1e-6))
    assert liar.startswith("Every certificate is true")
    (liar,) = statements(spoiled(document, "l1 loose", worst_value=1e-6))
    assert liar.startswith("Every certificate is true")
    (run,) = [run for run in document.runs if run.key == "l1 tight"]
    low = [*run.outcome["value"][:-1], 0.0]
    (fallen,) = statements(spoiled(document, "l1 tight", value=low))
    assert fallen.startswith("No value falls below")
    high = [*run.outcome["average"][:-1], 1e9]
    (broken,) = statements(spoiled(document, "l1 tight", average=high))
    assert broken.startswith("The average iterate obeys")


@pytest.mark.slow
def test_a_full_run_that_ends_far_from_exact_projections_is_a_miss() -> None:
    document = replace(quick(), quick=False)
    (run,) = document.find(problem="l1", schedule="derived", study="schedules")
    (exact,) = document.find(problem="l1", schedule="exact")
    (bracket,) = document.find(problem="l1", kind="bracket")
    lower = bracket.outcome["dual_lower"]
    for factor, misses in ((1.9, 0), (2.1, 1)):
        curves = {
            name: [*run.outcome[name][:-1], lower + factor * (exact.outcome[name][-1] - lower)]
            for name in ("best", "average")
        }
        found = projection_report.claims(spoiled(document, run.key, **curves))
        close = [claim for claim in found if claim.where == "ℓ1 completion" and "derived schedule" in claim.statement]
        assert [claim.holds for claim in close] == [not misses]
    assert "times as far" in projection_report.text(document)
