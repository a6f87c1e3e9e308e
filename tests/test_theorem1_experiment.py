"""theorem1: its problems are what they say, its oracles err by what they say, its claims can be missed."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.experiments.claims import missed
from spectraplex.experiments.document import Document, Run, from_plain, plain
from spectraplex.experiments.theorem1 import run as theorem1
from spectraplex.experiments.theorem1 import words as theorem1_report
from spectraplex.experiments.theorem1.read import Curves, Setting, below_for_good, bounds, exponent, flattest, settings
from spectraplex.experiments.theorem1.run import Allowance, Asked, Exact, Worst, known, perform
from spectraplex.matrices.atoms import Atoms
from spectraplex.methods.oracle import find
from spectraplex.methods.rank_one_parts import theorem_accuracy


def about(kind="face", d=12, rank=3, least=0.1, **more):
    alpha = theorem1.ALPHA if kind == "weighted" else 1.0
    head = {"problem": kind, "d": d, "rank": rank, "least": least, "alpha": alpha, "steps": 60, "seeds": [0, 2]}
    return head | {"method": "ror", "oracle": "exact"} | more


@pytest.fixture(scope="module")
def quick() -> Document:
    runs = (Run(t.key, t.settings, from_plain(plain(perform(t.settings)))) for t in theorem1.tasks(quick=True))
    return Document("theorem1", True, {}, {}, tuple(runs))


# ------------------------------------------------------------------------------------------------------- the problems


@pytest.mark.parametrize(("kind", "rank", "least"), [("face", 1, 1.0), ("weighted", 3, 0.05), ("centre", 4, 0.01)])
def test_the_optimum_and_its_constants_are_as_told(kind, rank, least):
    case = known(about(kind, rank=rank, least=least), seed=3)
    # Q is orthogonal, and the slope's smallest eigenvalue is found, to within a few d·eps times norms that are ≤ 2.
    assert case.proof <= 8 * 12 * np.finfo(float).eps * 2
    lifted = case.problem.lifted
    assert (lifted.strong_convexity, lifted.smoothness) == (theorem1.ALPHA if kind == "weighted" else 1.0, 1.0)
    # another method, which knows nothing of how the problem was made
    result = sx.solve(case.problem, "apgd", sx.Stop(gap=1e-12, max_steps=5000))
    assert result.value == pytest.approx(case.optimum, abs=2e-12)
    eigenvalues = np.linalg.eigvalsh(result.X.dense())[::-1]
    assert eigenvalues[rank - 1] == pytest.approx(least, abs=1e-5)
    assert np.all(np.abs(eigenvalues[rank:]) < 1e-5)
    point = case.problem.point(Atoms.of(result.X.vectors, result.X.weights))
    slope = np.linalg.norm(case.problem.descent(point).dense())
    assert slope < 1e-5 if kind == "centre" else slope > 0.1


def test_the_grid_has_the_first_steps_and_the_last():
    grid = theorem1.steps_grid(2000)
    assert grid[:5] == [1, 2, 3, 4, 5] and grid[-1] == 2000 and len(grid) <= theorem1.GRID
    assert theorem1.on_grid([5.0, 4.0], [1, 2, 3, 9]) == [5.0, 4.0, 4.0, 4.0]


# -------------------------------------------------------------------------------------------------------- the oracles


@pytest.mark.parametrize("method", [sx.RankOneRegularized, sx.ConditionalGradient])
def test_an_oracle_that_is_the_librarys_own_changes_nothing(method):
    problem = known(about(), 0).problem
    values = [
        [record.value for record in sx.solve(problem, each, sx.Stop(max_steps=30), seed=5, certify=False).trace]
        for each in (method(), method(oracle=find))
    ]
    assert values[0] == values[1]
    assert repr(method()) == repr(method(oracle=None)) != repr(method(oracle=Exact()))


@pytest.mark.parametrize("xi", [0.0, 1e-6, 0.3, 50.0])
def test_the_worst_oracle_errs_by_exactly_what_is_allowed(xi):
    problem = known(about(), 1).problem
    atoms = Atoms.of(np.random.default_rng(0).standard_normal((12, 3)), np.array([0.5, 0.3, 0.2]))
    operator = problem.descent(problem.point(atoms))
    A = operator.dense()
    values = np.linalg.eigvalsh(A)
    for factor in (1.0, 10.0):
        found = Worst(Allowance(factor))(operator, 0.0, np.random.default_rng(0), accuracy=xi, guess=None)
        assert np.linalg.norm(found.vector) == pytest.approx(1.0, abs=1e-12)
        wanted = max(values[-1] - factor * xi, values[0])
        assert found.vector @ A @ found.vector == pytest.approx(wanted, abs=1e-12)
        assert found.value == pytest.approx(wanted, abs=1e-12)
    fixed = Worst(Allowance(fixed=0.01))(operator, 0.0, np.random.default_rng(0), accuracy=xi)
    assert fixed.value == pytest.approx(values[-1] - 0.01, abs=1e-12)
    exact = Exact()(operator, 0.0, None, accuracy=xi)
    assert exact.vector @ A @ exact.vector == pytest.approx(values[-1], abs=1e-12)


def test_what_was_asked_for_is_noted_beside_what_was_made():
    outcome = perform(about(d=210, steps=12, seeds=[0, 1], oracle="asked", factor=10.0))
    asked, made, products = (np.array(outcome[name])[0] for name in ("asked", "made", "products"))
    taken = np.array(outcome["steps"]) < 12
    wanted = [10.0 * theorem_accuracy(t, 1.0) for t in np.array(outcome["steps"])[taken]]
    np.testing.assert_allclose(asked[taken], wanted)
    assert np.all(np.isnan(asked) == ~taken)
    assert np.all(made[taken] <= asked[taken]) and made[taken].max() > 1e-9  # it does stop early up there
    assert np.all((products[taken] > 0) & (products[taken] < 210))
    assert repr(Asked(Allowance(2.0))) == "Asked(allowance=Allowance(factor=2.0, fixed=None))"


# ----------------------------------------------------------------------------------------------------------- the runs


def test_seeds_do_not_depend_on_how_they_are_put_into_tasks():
    whole, first, second = (perform(about(seeds=seeds))["errors"] for seeds in ([0, 2], [0, 1], [1, 2]))
    assert plain(whole) == plain(first) + plain(second)
    assert plain(first) != plain(second)


def test_a_rise_beyond_what_is_allowed_is_seen():
    """The same run judged by a smaller allowance than its oracle took: the invariant must break."""
    case = known(about(), 0)
    watch = theorem1.Watch(case.optimum, Allowance(0.0), 1.0)
    method = sx.RankOneRegularized(oracle=Worst(Allowance(1.0)))
    sx.solve(case.problem, method, sx.Stop(max_steps=60), [watch], certify=False)
    assert watch.rise > 1e-3 and watch.weight <= 1e-12 and watch.atoms <= 0
    assert perform(about(oracle="worst", factor=1.0))["rise"] <= 1e-12


# ------------------------------------------------------------------------------------------------------ the arithmetic


def test_bounds_by_hand():
    setting = Setting("weighted", 50, 4, 0.5, 0.25, 100)
    first, second, third = bounds(np.array([1, 92]), setting, beta=2.0)
    np.testing.assert_allclose(first, [108 / 9, 108 / 100])
    np.testing.assert_allclose(second[1], (270 * 2**0.25 * 2 * 2 / (0.25**0.25 * 100)) ** (4 / 3))
    np.testing.assert_allclose(third[1], 52488 * 4 / (0.25 * 0.25 * 1e4))


def test_exponents_of_known_curves():
    t = np.array(theorem1.steps_grid(1000))
    noise = np.exp(0.3 * np.random.default_rng(0).standard_normal((40, 1)))
    found = exponent(Curves(t, noise * 5.0 * t**-1.5))
    assert found.value == pytest.approx(1.5) and (found.first, found.last) == (t[t >= 100][0], 1000)
    assert found.high - found.low < 1e-9  # all seeds decay alike
    mixed = exponent(Curves(t, np.stack([t**-1.0, t**-2.0, t**-3.0])))
    assert mixed.low < mixed.value < mixed.high
    steep = exponent(Curves(t, np.stack([t**-5.0, t**-5.0])))  # below 1e-11 from t = 159 on
    assert steep.value == pytest.approx(5.0) and 100 < steep.last < 159
    assert exponent(Curves(t, np.stack([10.0 ** -t.astype(float)]))) is None


def test_the_flattest_decade_is_where_a_curve_rests():
    t = np.array(theorem1.steps_grid(10_000))
    rests = np.where(t < 300, t**-2.0, np.where(t < 3000, 300**-2.0, 300**-2.0 * (t / 3000.0) ** -4.0))
    found = flattest(Curves(t, np.stack([rests, rests])))
    assert abs(found.value) < 0.05 and 250 < found.first < 350 and 2500 < found.last < 3500
    assert exponent(Curves(t, np.stack([rests, rests]))).value > 1.0


def test_who_is_below_whom_and_from_where():
    t = np.arange(1, 6)
    one, other = Curves(t, np.array([[5.0, 4.0, 1.0, 3.0, 0.1]])), Curves(t, np.full((1, 5), 2.0))
    assert below_for_good(one, other) == 5
    assert below_for_good(other, one) is None
    assert below_for_good(one, one) == 1


# ----------------------------------------------------------------------------------------------------------- the report


def test_quick_results_prove_nothing_but_the_invariants(quick):
    claims = theorem1_report.claims(quick)
    decided = [claim for claim in claims if claim.holds is not None]
    assert [claim.holds for claim in decided] == [True, True]
    assert all("needs" in claim.measured for claim in claims if claim.holds is None)
    assert {claim.ours for claim in claims} == {True, False}


def enlarged(document: Document, change) -> Document:
    """Results with enough seeds and steps to be judged: those of the quick run again and again, changed as told."""

    def one(run: Run) -> Run:
        errors = np.repeat(run.outcome["errors"], 17, axis=0)
        steps = np.array(run.outcome["steps"]) * 10
        return replace(run, outcome=run.outcome | {"errors": change(run, steps, errors).tolist(), "steps": steps})

    return replace(document, runs=tuple(one(run) for run in document.runs))


def test_a_mean_above_a_bound_is_a_miss(quick):
    shown = len(settings(quick, oracle="exact"))
    fine = theorem1_report.claims(enlarged(quick, lambda run, t, errors: errors / 10))
    assert not missed(fine)
    assert sum(claim.holds is True for claim in fine if "bounds" in claim.statement and claim.ours) == shown + 1

    def above(run, t, errors):  # at one step only, and on average only: most seeds stay below
        errors = errors / 10
        if (run.settings["problem"], run.settings["method"]) == ("centre", "ror"):
            errors[:3, -1] += 20 * 54 / (t[-1] + 8.0)
        return errors

    bad = missed(theorem1_report.claims(enlarged(quick, above)))
    assert len(bad) == 1 and "bounds" in bad[0].statement and "centre" in bad[0].where


def test_a_slower_decay_is_a_miss_against_line_search_and_a_remark_against_open_loop(quick):
    slopes = {"ror": 1.0, "cg": 1.2, "cg-open-loop": 2.0}
    claims = theorem1_report.claims(
        enlarged(quick, lambda run, t, errors: np.ones_like(errors) * t ** -slopes[run.settings["method"]])
    )
    steeper = [claim for claim in claims if "exponent" in claim.statement]
    assert steeper and all(claim.holds is False for claim in steeper)
    assert all("line search" in claim.statement for claim in missed(claims))
    assert len(missed(claims)) == len(steeper) / 2
    slopes["cg"] = 0.5
    again = enlarged(quick, lambda run, t, errors: np.ones_like(errors) * t ** -slopes[run.settings["method"]])
    assert not missed(theorem1_report.claims(again))


def test_runs_that_end_before_an_atom_may_weigh_least_are_reported_not_judged(quick):
    def smaller(document):
        runs = (replace(run, settings=run.settings | {"least": 1e-4}) for run in document.runs)
        return replace(document, runs=tuple(runs))

    slopes = {"ror": 0.1, "cg": 1.2, "cg-open-loop": 2.0}
    slow = enlarged(quick, lambda run, t, errors: 1e-3 * np.ones_like(errors) * t ** -slopes[run.settings["method"]])
    assert [claim.holds for claim in missed(theorem1_report.claims(slow))] == [False] * 3
    claims = theorem1_report.claims(smaller(slow))
    told = [claim for claim in claims if "line search" in claim.statement]
    assert not missed(claims) and all(claim.holds is False and "90,000" in claim.measured for claim in told)
    assert "0.10 [0.10, 0.10] against 1.20 [1.20, 1.20]" in theorem1_report.text(smaller(slow))


def test_a_broken_invariant_or_an_optimum_that_is_none_is_a_miss(quick):
    for name, value in (("rise", 1e-6), ("weight", 0.1), ("atoms", 1.0), ("proof", 1e-3)):
        runs = (*quick.runs[1:], replace(quick.runs[0], outcome=quick.runs[0].outcome | {name: value}))
        assert len(missed(theorem1_report.claims(replace(quick, runs=runs)))) == 1


def test_table_text_and_figures_come_from_the_results(quick):
    rows = list(theorem1_report.rows(quick))
    names = ("problem", "rank", "method", "oracle", "factor", "fixed")
    runs = {tuple(row[name] for name in names) for row in rows}
    assert len(runs) == len(quick.runs)  # one block each when quick
    run = quick.runs[0]
    mine = [r for r in rows if (r["problem"], r["rank"], r["method"], r["oracle"]) == ("face", 1, "ror", "exact")]
    np.testing.assert_array_equal([r["mean"] for r in mine], np.mean(run.outcome["errors"], axis=0))
    text = theorem1_report.text(quick)
    assert text.startswith("## Theorem 1\n") and "nan" not in text
    for setting in settings(quick, oracle="exact"):
        assert f"| {setting.label} |" in text
    figures = theorem1_report.draw(quick)
    assert list(figures) == ["theorem1", "theorem1-accuracy"]
    assert [len(figure.axes) for figure in figures.values()] == [4, 2]


def test_a_missing_run_is_named(quick):
    lacking = replace(quick, runs=tuple(run for run in quick.runs if run.settings["method"] != "cg"))
    with pytest.raises(ValueError, match=r"no run of cg .*face, rank 1"):
        theorem1_report.text(lacking)
