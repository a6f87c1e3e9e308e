"""The loop: stopping, records, observers, going on, saving, interrupting; same seed, same result."""

from __future__ import annotations

import io
import math
import os
import signal
import threading

import numpy as np
import pytest

import spectraplex as sx
from problems import PROBLEMS, WHOLE
from spectraplex.problem import Step


def make(name: str = "rank 3 of 12", seed: int = 0):
    return PROBLEMS[name](np.random.default_rng(seed))


def same(one: sx.Result, two: sx.Result) -> None:
    for a, b in zip(one.X.triple(), two.X.triple(), strict=True):
        assert np.array_equal(a, b)
    assert one.value == two.value


# ----------------------------------------------------------------------------------------------------- stopping


def test_every_limit_ends_with_its_own_sentence():
    known = make()
    cases = {
        sx.Status.STEP_LIMIT: sx.Stop(max_steps=7),
        sx.Status.PRODUCT_LIMIT: sx.Stop(max_products=40),
        sx.Status.TIME_LIMIT: sx.Stop(max_seconds=0.0),
        sx.Status.VALUE: sx.Stop(value=known.optimum + 0.05),
        sx.Status.GAP: sx.Stop(gap=1e-2),
    }
    for status, stop in cases.items():
        result = sx.solve(known.problem, "cg", stop)
        assert result.status is status
        assert result.status.value.endswith(".") and len(result.status.value) > 20
    assert len(sx.solve(known.problem, "cg", sx.Stop(max_steps=7)).trace) == 7
    assert sx.solve(known.problem, "cg", sx.Stop(value=known.optimum + 0.05)).value <= known.optimum + 0.05


@pytest.mark.parametrize("method", ["cg", "pairwise", "ror-adaptive", "apgd"])
@pytest.mark.parametrize("name", ["rank 3 of 12", "ball, active", "complex rank 3 of 9", "ball, Huber"])
def test_a_gap_that_was_asked_for_is_certified_and_true(method, name):
    known = make(name)
    result = sx.solve(known.problem, method, sx.Stop(relative_gap=1e-2, max_steps=3000))
    assert result.status is sx.Status.GAP
    assert result.gap <= 1e-2 * abs(result.value)
    assert result.lower_bound <= known.optimum <= result.value + 1e-12
    assert result.certificate.kind in ("proven", "probable")
    assert "above the optimum" in str(result.certificate)


def test_without_a_gap_asked_for_the_end_is_still_certified_unless_told_not_to():
    known = make()
    assert math.isfinite(sx.solve(known.problem, "cg", sx.Stop(max_steps=20)).gap)
    blind = sx.solve(known.problem, "cg", sx.Stop(max_steps=20), certify=False)
    assert blind.gap == math.inf and blind.lower_bound == -math.inf
    assert "Nothing was certified" in str(blind.certificate)


def test_at_the_optimum_it_says_so_instead_of_running_on():
    result = sx.solve(make("ball, 1 × 1").problem, "cg", sx.Stop(max_steps=10_000))
    assert result.status in (sx.Status.STALLED, sx.Status.FLOOR)
    assert len(result.trace) < 100
    assert sx.solve(make().problem, "apgd", sx.Stop(gap=0.0, max_steps=500)).gap < 1e-10


# ------------------------------------------------------------------------------------------ records, observers


def test_the_trace_has_one_record_per_step():
    problem = make().problem
    result = sx.solve(problem, "ror-adaptive", sx.Stop(max_steps=30))
    columns = result.trace.as_dict()
    assert list(columns) == [
        "step",
        "seconds",
        "value",
        "gap",
        "lower_bound",
        "estimated_gap",
        "atoms",
        "products",
        "kind",
        "size",
        "rounds",
        "bytes",
    ]
    assert not columns["rounds"].any() and not columns["bytes"].any()  # nothing goes over a wire
    assert np.array_equal(columns["step"], np.arange(1, 31))
    assert np.all(np.diff(columns["seconds"]) >= 0) and np.all(np.diff(columns["products"]) > 0)
    # The result is the best of the trace. A step along a line that is searched exactly does not rise but for rounding,
    # of two sums of d² terms no larger than those of ½(‖X‖ + ‖A‖)²; smaller steps than that may end either way.
    rounding = 2 * 144 * np.finfo(float).eps * 0.5 * (1 + np.linalg.norm(problem.objective.A)) ** 2
    best = min(columns["value"])  # carried along from step to step; the value returned is measured afresh
    assert abs(result.value - best) <= rounding and columns["value"][-1] <= best + rounding
    assert result.trace[-1].products < result.products  # the certificate at the end is not the method's
    assert len(result.trace[3:5]) == 2 and result.trace[4].step == 5
    assert np.isinf(columns["gap"][:-1]).all() and np.isfinite(columns["gap"][-1])


def test_only_returning_false_stops():
    seen = []

    def polite(record, point):
        seen.append(record.step)
        return None if record.step < 10 else record.step < 12

    result = sx.solve(make().problem, "cg", sx.Stop(max_steps=50), observers=[polite])
    assert result.status is sx.Status.OBSERVER
    assert seen == list(range(1, 13))


def test_collect_and_progress():
    table, collect = io.StringIO(), sx.Collect(points=True)
    watch = [collect, sx.Progress(every_seconds=0.0, file=table)]
    result = sx.solve(make().problem, "away", sx.Stop(max_steps=5), observers=watch)
    assert len(collect.trace) == len(collect.points) == 5
    assert collect.points[-1].value == pytest.approx(result.value, rel=1e-12)  # that of X, whose columns were made unit
    lines = table.getvalue().splitlines()
    assert len(lines) == 6 and lines[0].split() == [
        "step",
        "seconds",
        "value",
        "gap",
        "atoms",
        "products",
        "kind",
    ]


def test_nothing_is_printed(capfd):
    sx.solve(make().problem, "cg", sx.Stop(max_steps=5))
    out, err = capfd.readouterr()
    assert out == "" and err == ""


@pytest.mark.parametrize(("answer", "steps"), [(False, 3), (np.False_, 3), (None, 8), (0, 8), (np.True_, 8)])
def test_only_false_stops_and_numpys_false_is_one(answer, steps):
    observers = [lambda record, point: answer if record.step == 3 else None]
    result = sx.solve(make().problem, "cg", sx.Stop(max_steps=8), observers=observers)
    assert len(result.trace) == steps


def test_observers_do_not_cost_solver_time(monkeypatch):
    """The clock stands still while an observer works: with a clock that only observers move, no time passes."""
    now = [100.0]
    monkeypatch.setattr("time.perf_counter", lambda: now[0])

    def slow(record, point):
        now[0] += 60.0

    result = sx.solve(make().problem, "cg", sx.Stop(max_steps=10, max_seconds=30.0), observers=[slow])
    assert result.seconds == 0.0 and result.status is sx.Status.STEP_LIMIT


# --------------------------------------------------------------------------------------- seeds, going on, saving


@pytest.mark.parametrize("method", WHOLE)
def test_same_seed_same_result(method):
    known = make("ball, active")
    one, two = (sx.solve(known.problem, method, sx.Stop(max_steps=12), seed=3) for _ in range(2))
    same(one, two)
    assert one.trace.as_dict()["products"].tolist() == two.trace.as_dict()["products"].tolist()


@pytest.mark.parametrize("method", WHOLE)
@pytest.mark.parametrize("name", ["ball, active", "complex rank 3 of 9", "ball, logistic"])
def test_going_on_is_exactly_not_having_stopped(method, name, tmp_path):
    """Half, saved, loaded, second half: bitwise what the whole run gives."""
    known = make(name)
    whole = sx.solve(known.problem, method, sx.Stop(max_steps=24), seed=5, certify=False)
    half = sx.solve(known.problem, method, sx.Stop(max_steps=12), seed=5, certify=False)
    half.save(tmp_path / "half")
    rest = sx.solve(
        known.problem, method, sx.Stop(max_steps=12), start=sx.load(tmp_path / "half"), seed=99, certify=False
    )
    same(whole, rest)
    assert [r.step for r in rest.trace] == [r.step for r in whole.trace]
    assert rest.products == whole.products
    np.testing.assert_array_equal(rest.trace.as_dict()["value"], whole.trace.as_dict()["value"])


def test_a_sparse_distance_goes_on_exactly_too(tmp_path):
    from scipy.sparse import random as sparse_random

    A = sparse_random(30, 20, 0.2, random_state=0)
    problem = sx.Problem(sx.Distance(A), sx.NuclearBall((30, 20), 2.0))
    whole = sx.solve(problem, "pairwise", sx.Stop(max_steps=40), certify=False)
    half = sx.solve(problem, "pairwise", sx.Stop(max_steps=20), certify=False)
    half.save(tmp_path)
    same(whole, sx.solve(problem, "pairwise", sx.Stop(max_steps=20), start=sx.load(tmp_path), certify=False))


@pytest.mark.parametrize("method", ["hybrid", "cg", "in-face"])
def test_what_an_observer_keeps_goes_on_exactly_from_every_step(method):
    known, kept = make("ball, Huber"), []

    class Keeps:
        def __call__(self, record, point):
            pass

        def keep(self, result):
            kept.append(result())

    class Stops(Keeps):
        def keep(self, result):
            return len(result().trace) < 2

    stop = sx.Stop(relative_gap=1e-7, max_steps=12)
    whole = sx.solve(known.problem, method, stop)
    watched = sx.solve(known.problem, method, stop, observers=[Keeps()])
    same(whole, watched)
    assert len(kept) == len(whole.trace) - 1  # wherever it went on, not where it ended
    for each in kept:
        left = sx.Stop(relative_gap=1e-7, max_steps=12 - each.trace[-1].step)
        again = sx.solve(known.problem, method, left, start=each)
        same(whole, again)
        assert again.status is whole.status and len(again.trace) == len(whole.trace)
    ended = sx.solve(known.problem, method, stop, observers=[Stops()])
    assert ended.status is sx.Status.OBSERVER and len(ended.trace) == 2


def test_another_method_goes_on_from_the_point():
    known = make("ball, active")
    first = sx.solve(known.problem, "cg", sx.Stop(max_steps=30))
    for method in WHOLE:
        if method == "ror-full":
            continue  # its first steps replace everything, as printed: it may lose ground
        second = sx.solve(known.problem, method, sx.Stop(max_steps=15), start=first)
        assert second.value <= first.value + 1e-9
        # where the slope of X itself shows nearly as much, its bound is the one that is stated
        assert second.lower_bound >= first.lower_bound - 0.06 * first.gap
        assert len(second.trace) > len(first.trace)


@pytest.mark.parametrize("name", ["rank 3 of 12", "trace ball, inside", "ball, inside", "ball, complex", "trace 2.5"])
def test_starting_from_factors(name):
    known = make(name)
    X = sx.solve(known.problem, "apgd", sx.Stop(max_steps=300)).X
    for start in (X, X.triple()[: 2 if isinstance(X, sx.Symmetric) else 3]):
        result = sx.solve(known.problem, "cg", sx.Stop(max_steps=3), start=start)
        assert result.trace[0].kind == "start"
        assert result.value == pytest.approx(known.optimum, abs=1e-6)


def test_save_and_load_round_trip(tmp_path):
    for name in ("rank 3 of 12", "ball, complex"):
        result = sx.solve(make(name).problem, "cg", sx.Stop(max_steps=9))
        folder = result.save(tmp_path / name)
        again = sx.load(folder)
        same(result, again)
        for field in ("gap", "lower_bound", "status", "seconds", "products", "certificate"):
            assert getattr(again, field) == getattr(result, field)
        assert [r for r in again.trace] == [r for r in result.trace]
        assert sorted(p.name for p in folder.iterdir()) == ["result.json", "result.npz"]
        result.save(folder)  # over an older one
        same(result, sx.load(folder))


def test_a_result_of_another_problem_is_refused():
    result = sx.solve(make("ball, active").problem, "cg", sx.Stop(max_steps=3))
    with pytest.raises(ValueError, match="start is a result for"):
        sx.solve(make().problem, "cg", start=result)


# ---------------------------------------------------------------------------------------------- when things end


def test_ctrl_c_returns_the_best_point():
    known = make("ball, active")

    def press(record, point):
        if record.step == 8:
            os.kill(os.getpid(), signal.SIGINT)

    result = sx.solve(known.problem, "cg", sx.Stop(max_steps=100_000), observers=[press])
    assert result.status is sx.Status.INTERRUPTED
    assert len(result.trace) >= 8
    assert np.linalg.svd(result.X.dense(), compute_uv=False).sum() <= known.problem.domain.radius * (1 + 1e-12)
    more = sx.solve(known.problem, "cg", sx.Stop(max_steps=10), start=result)
    assert more.value <= result.value


def test_ctrl_c_at_any_moment():
    """Interrupted inside a step, wherever that is: the result is feasible and consistent."""
    A = np.random.default_rng(0).standard_normal((120, 100)) / 10
    problem = sx.Problem(sx.Distance(A), sx.NuclearBall((120, 100), 2.0))
    for delay in (0.03, 0.07, 0.11, 0.16):
        timer = threading.Timer(delay, lambda: os.kill(os.getpid(), signal.SIGINT))
        timer.start()
        result = sx.solve(problem, "ror-adaptive", sx.Stop(max_steps=100_000, max_seconds=20))
        timer.join()
        assert result.status is sx.Status.INTERRUPTED
        _, s, _ = result.X.triple()
        assert 0.5 * np.sum((result.X.dense() - A) ** 2) == pytest.approx(result.value, rel=1e-9)
        assert s.sum() <= 2.0 * (1 + 1e-12)


def test_the_best_point_is_returned_when_the_last_is_worse():
    class Wanders:
        """A method whose second half undoes the first."""

        Memory = sx.METHODS["cg"].Memory

        def init(self, problem, point, rng):
            return sx.METHODS["cg"].init(problem, point, rng)

        def step(self, problem, point, memory, rng):
            if memory.t < 20:
                return sx.METHODS["cg"].step(problem, point, memory, rng)
            worse = problem.point(problem.domain.start(problem.dtype, rng))
            return worse, memory, Step("wander", 1.0, 0.0, np.inf)

    result = sx.solve(make().problem, Wanders(), sx.Stop(max_steps=30))
    best = min(record.value for record in result.trace)  # carried along; the value returned is measured afresh
    assert abs(result.value - best) <= 2 * result.certificate.rounding and best < result.trace[-1].value
    assert 0.5 * np.sum((result.X.dense() - make().problem.objective.A) ** 2) == pytest.approx(result.value)


def test_an_image_that_drifts_is_noticed():
    class Crooked(sx.Distance):
        def combine(self, a, z, b, w):
            return 1.001 * super().combine(a, z, b, w)

    problem = sx.Problem(Crooked(make().problem.objective.A), sx.Spectrahedron(12))
    result = sx.solve(problem, "cg", sx.Stop(max_steps=500))
    assert result.status is sx.Status.INCONSISTENT


def test_solving_from_several_threads_gives_the_same_results():
    known = make("ball, active")
    alone = sx.solve(known.problem, "ror-adaptive", sx.Stop(max_steps=40))
    results: list[sx.Result] = []
    threads = [
        threading.Thread(target=lambda: results.append(sx.solve(known.problem, "ror-adaptive", sx.Stop(max_steps=40))))
        for _ in range(4)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(results) == 4
    for result in results:
        same(alone, result)
