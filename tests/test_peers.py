"""The comparison with other tools: our versions of their methods are right, and so are clock, evaluator and page."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peers import child, common, page, problems, run, solvers, verdict  # noqa: E402
from benchmarks.peers.recorder import Recorder  # noqa: E402

PEERS = ("copt", "cvxpy", "scs", "clarabel")


@pytest.fixture(scope="module")
def full():
    """Every entry observed: the optimum is the projection of the table on the ball, in closed form."""
    rng = np.random.default_rng(3)
    A = rng.standard_normal((24, 4)) @ rng.standard_normal((4, 18)) + 0.1 * rng.standard_normal((24, 18))
    rows, cols = (index.ravel() for index in np.indices(A.shape))
    s = np.linalg.svd(A, compute_uv=False)
    shrink = 6.0  # λ, and then the radius that belongs to it
    radius = float(np.maximum(s - shrink, 0).sum())
    optimum = 0.5 * float(np.sum(np.minimum(s, shrink) ** 2))
    return problems.Table(rows, cols, A.ravel(), A.shape, radius, shrink), optimum


SETTINGS = [
    ("ours", {"relative_gap": 1e-6}, 1e-6),
    ("frank_wolfe", {"tolerance": 0.0}, 5e-2),
    ("frank_wolfe", {"tolerance": 0.1}, 5e-2),
    ("frank_wolfe_open_loop", {"tolerance": 0.0}, 5e-2),
    ("projected_gradient", {"decomposition": "svd"}, 1e-9),
    ("projected_gradient", {"decomposition": "gram"}, 1e-9),
    ("soft_impute", {"rank": 12, "start": "cold"}, 1e-7),
    ("soft_impute", {"rank": 12, "start": "path"}, 1e-7),
]


@pytest.mark.parametrize("name, setting, error", SETTINGS, ids=lambda value: str(value))
def test_our_own_versions_reach_a_known_optimum(full, name, setting, error):
    table, optimum = full
    recorder = Recorder(table, 5.0, optimum * (1 + error))
    recorder.start()
    answer = solvers.peer(name).run(table, recorder, setting)
    assert optimum * (1 - 1e-9) <= recorder.curve[-1][1] <= optimum * (1 + error)
    looked = child.look_at(table, answer, recorder.image)
    assert looked["norm_over_radius"] <= 1 + 1e-9 and looked["value_error"] <= 1e-6
    assert [at for at, _ in recorder.curve] == sorted(at for at, _ in recorder.curve)


def test_evaluator_scales_into_the_ball_and_bounds_stay_below_the_optimum(full, tmp_path):
    table, optimum = full
    U, s, Vt = np.linalg.svd(table.values.reshape(table.shape), full_matrices=False)
    assert table.value(table.entries(U, s, Vt.T)) == pytest.approx(0.0, abs=1e-20)
    image, factor = table.inside(U, s, Vt.T)
    assert factor * s.sum() == pytest.approx(table.radius)
    assert table.value(image) == pytest.approx(0.5 * np.sum(((1 - factor) * s) ** 2))
    assert table.inside(U, 1e-3 * s, Vt.T)[1] == pytest.approx(1e3 * factor)  # too short: made longer
    recorder = Recorder(table, 1.0, optimum * (1 + 1e-4), tmp_path)
    recorder.start()
    solvers.peer("projected_gradient").run(table, recorder, {"decomposition": "svd"})
    certified = child.certify(table, recorder.saved)
    assert certified[-1][0] == recorder.saved[-1][0]
    assert all(bound <= optimum * (1 + 1e-9) <= value * (1 + 1e-8) for _, value, bound in certified)
    assert certified[-1][1] - certified[-1][2] <= 0.1 * optimum


def test_clock_stands_still_while_it_evaluates(full):
    import time

    table, _ = full

    def slow() -> np.ndarray:
        time.sleep(0.2)
        return np.zeros(table.values.size)

    recorder = Recorder(table, 5.0)
    recorder.start()
    assert recorder.take(slow)
    assert recorder.seconds < 0.1 and recorder.curve[0][1] == table.value(np.zeros(table.values.size))


def document() -> dict:
    """Two problems, two peers and one that is not there; numbers chosen by hand."""

    def entry(problem, peer, curve, certified, **more):
        common = {"title": peer, "setting": {"tol": 0.1}, "limit_seconds": 100.0, "status": "limit", "message": ""}
        common |= {"blas_threads": 1}
        common |= {"warm_up_seconds": 0.1, "seconds": 100.0, "rank": 5, "peak_mb": 20.0, "answer": None}
        return {"problem": problem, "peer": peer, **common, "curve": curve, "certified": certified, **more}

    known = {"shape": [10, 8], "observed": 40, "limit_seconds": 100.0, "multiplier": 1.0}
    return {
        "format": 1,
        "machine": common.machine(2, run.PACKAGES),
        "first_call": {"compiling": 5.0, "cached": 0.5},
        "problems": {
            "100k-2500": {**known, "title": "first", "radius": 2500.0, "optimum": [1000.0, 1000.0]},
            "1m-18000": {**known, "title": "second", "radius": 18000.0, "optimum": [1000.0, 1002.0]},
        },
        "runs": [
            entry("100k-2500", "ours", [[0.1, 1100.0], [0.5, 1000.9], [2.0, 1000.0]], [[2.0, 1000.0, 999.5]]),
            entry("100k-2500", "frank_wolfe", [[1.0, 1100.0], [20.0, 1000.9]], [[20.0, 1000.9, 900.0]]),
            entry("100k-2500", "copt_fw", [], [], status="missing", message="No module named 'copt'"),
            entry("1m-18000", "ours", [[5.0, 1003.0]], [[5.0, 1003.0, 999.0]]),
            entry("1m-18000", "frank_wolfe", [[50.0, 1100.0]], [[50.0, 1100.0, 950.0]]),
        ],
    }


def test_verdict():
    results = document()
    assert verdict.seconds_to_error(results, "100k-2500", "ours", 1e-3) == 0.5
    assert verdict.best_peer(results, "100k-2500", verdict.seconds_to_error, 1e-3) == ("frank_wolfe", 20.0)
    assert verdict.seconds_to_certified(results, "100k-2500", "frank_wolfe", 1e-3) == np.inf
    assert np.isnan(verdict.seconds_to_error(results, "1m-18000", "ours", 1e-3))  # finer than the bracket
    met = {label: met for label, _, met in verdict.targets(results)}
    by = {name: [met for label, met in met.items() if label.startswith(name)] for name in results["problems"]}
    assert by["100k-2500"] == [True, True, True, True]  # 40×, more than 50×, reached, memory
    assert by["1m-18000"] == [True, True]
    results["runs"][0]["curve"] = [[5.0, 1000.9]]
    words = "\n".join(verdict.report(results))
    assert "MISSED" in words and "No module named 'copt'" in words


def test_page(tmp_path):
    written = page.write(json.loads(json.dumps(document())), tmp_path)
    assert [path.name for path in written] == ["peers.md", "peers-value.png", "peers-gap.png"]
    assert all(path.stat().st_size > 1000 for path in written)
    text = written[0].read_text(encoding="utf-8")
    assert "only we reach 1e-06 (2.00 s)" in text and "we win to 0.001 by 40.0× over frank_wolfe" in text
    assert "| *ratio* | 40.0× | 40.0× | > 50.0× | > 50.0× |" in text
    assert "No module named 'copt'" in text and "f* in [1000, 1002]" in text


def test_a_peer_that_is_not_there_stops_nothing(tmp_path):
    results = run.run(run.Plan(tmp_path, ("quick",), ("copt_fw",), 0.2, grids={"copt_fw": [{"variable": "table"}]}))
    there = importlib.util.find_spec("copt") is not None
    assert [each["status"] for each in results["runs"]] == ["limit" if there else "missing"]
    assert json.loads((tmp_path / "peers.json").read_text(encoding="utf-8")) == json.loads(json.dumps(results))


@pytest.mark.skipif(
    any(importlib.util.find_spec(name) is None for name in PEERS), reason="the other tools are not installed"
)
def test_smoke(tmp_path):
    command = [sys.executable, "-m", "benchmarks.peers", "run", "--quick", "--limit", "0.5", "--out", str(tmp_path)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    results = json.loads((tmp_path / "peers.json").read_text(encoding="utf-8"))
    assert {each["peer"] for each in results["runs"]} == set(solvers.names())
    assert {each["status"] for each in results["runs"]} <= {"done", "limit"}
    for each in results["runs"]:
        answer = each["answer"]
        assert answer is None or answer["norm_over_radius"] <= 1 + 1e-6
