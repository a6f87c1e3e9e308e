"""Runs on the Torch place: saved on one and resumed on the other, searches by blocks, single-precision atoms, paths."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx

torch = pytest.importorskip("torch")

import spectraplex.methods.hybrid as hybrid  # noqa: E402
from campaign.places import PLACES  # noqa: E402
from campaign.runner import Plan  # noqa: E402
from on_torch import AWAY, solved_alike, there, wide_place  # noqa: E402
from problems import PROBLEMS  # noqa: E402
from spectraplex.places.here import HERE  # noqa: E402
from test_standing_campaign import clean  # noqa: E402


def completion(m, n, share, radius, seed=0):
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random((m, n)) < share)
    values = (rng.standard_normal((m, 4)) @ rng.standard_normal((4, n)))[rows, cols] + rng.standard_normal(rows.size)
    return sx.Problem(sx.Completion(rows, cols, values, (m, n)), sx.NuclearBall((m, n), radius))


@pytest.mark.parametrize("method", ["hybrid", "cg", "pairwise", "apgd", "ror-adaptive", "in-face"])
@pytest.mark.parametrize("name", ["ball, active", "ball, complex", "ball, squared", "trace ball, active"])
def test_saved_and_resumed_at_the_other_place(name, method, tmp_path):
    """The same steps, up to rounding, as one run on this machine alone; certificates are verified on both places."""
    known = PROBLEMS[name](np.random.default_rng(3))
    here, away = known.problem, there(known.problem)
    long = sx.solve(here, method, sx.Stop(max_steps=6))
    for first, second in ((here, away), (away, here), (away, away)):
        short = sx.solve(first, method, sx.Stop(max_steps=3))
        again = sx.load(short.save(tmp_path / f"{method}{id(first)}{id(second)}"))
        for problem in (here, away):
            assert sx.verify(again.certificate, problem, again), (method, problem.place)
        for start in (short, again):
            on = sx.solve(second, method, sx.Stop(max_steps=3), start=start)
            assert on.value <= short.value + short.certificate.rounding
            assert abs(on.value - long.value) <= max(on.gap + long.gap, 1e-9 * abs(long.value))
            for problem in (here, away):
                assert sx.verify(on.certificate, problem, on.X)


def test_data_come_back_as_they_came():
    result = sx.solve(completion(12, 9, 0.5, 6.0).to("cpu"), stop=sx.Stop(relative_gap=1e-3))
    assert result.X.place is HERE
    assert all(type(each) is np.ndarray for each in result.X.triple())
    assert type(result.X.dense()) is np.ndarray


@pytest.mark.parametrize("method", ["hybrid", "cg", "ror-adaptive", "in-face"])
@pytest.mark.parametrize("place", [AWAY, wide_place()], ids=["narrow", "wide"])
def test_large_enough_to_search(method, place):
    """Above 400 nothing is decomposed whole: Krylov spaces, probable bounds and restarts, one by one or by blocks."""
    problem = completion(320, 260, 0.05, 300.0, seed=1)
    _, away = solved_alike(problem, method, sx.Stop(max_steps=12, relative_gap=1e-2), place)
    assert away.certificate.kind == "probable"


@pytest.mark.parametrize("complex_", [False, True])
def test_hermitian_searches_by_blocks(complex_):
    rng = np.random.default_rng(5)
    a = rng.standard_normal((450, 3)) + (1j * rng.standard_normal((450, 3)) if complex_ else 0.0)
    A = a @ a.conj().T / 450 + 0.01 * np.diag(rng.standard_normal(450))
    problem = sx.Problem(sx.Distance(0.5 * (A + A.conj().T)), sx.Spectrahedron(450))
    solved_alike(problem, "hybrid", sx.Stop(max_steps=10, relative_gap=1e-3), wide_place())


def test_atoms_in_single_precision(monkeypatch, tmp_path):
    """Where atoms fill the memory they are kept in single precision; the certificate is about what comes back."""
    monkeypatch.setattr(hybrid, "_TALL", 1000)
    problem = completion(320, 260, 0.2, 300.0, seed=2)
    stop = sx.Stop(max_steps=40, relative_gap=1e-3)
    here, away = solved_alike(problem, "hybrid", stop, wide_place())
    assert here.gap <= 1e-3 * abs(here.value) and away.gap <= 1e-3 * abs(away.value)
    short = sx.solve(there(problem, wide_place()), "hybrid", sx.Stop(max_steps=3))
    held = sx.load(short.save(tmp_path / "run"))
    assert sx.verify(held.certificate, problem, held)
    for where in (problem, there(problem, wide_place()), there(problem)):
        on = sx.solve(where, "hybrid", stop, start=held)
        assert on.gap <= 1e-3 * abs(on.value) and sx.verify(on.certificate, problem, on.X)


def test_a_path_there():
    problem = completion(20, 15, 0.5, 8.0)
    path = sx.path(there(problem), [2.0, 4.0, 8.0], gap=1e-2)
    for size in (2.0, 5.0, 8.0):
        X, certificate = path.at(size)
        assert sx.verify(certificate, sx.Problem(problem.objective, sx.NuclearBall((20, 15), size)), X)


def test_a_function_infinite_at_zero_there():
    rng = np.random.default_rng(5)
    counts = sx.Fit(sx.RankOnes(rng.standard_normal((8, 3))), rng.poisson(5.0, 8) + 1.0, "poisson")
    solved_alike(sx.Penalized(counts, 0.5, psd=True), "hybrid", sx.Stop(relative_gap=1e-4, max_steps=50))


@pytest.mark.parametrize("place", PLACES[1:])
@pytest.mark.parametrize("block", range(4))
def test_a_share_of_the_campaign(place, block):
    """Brackets, files, forgeries: as on this machine; claims are checked in exact arithmetic and verified here."""
    jobs = list(Plan(seed=200_000, problems=400).jobs())
    clean([(*job, False, None, place) for job in jobs[100 * block : 100 * (block + 1)]])


@pytest.mark.parametrize("radius", [700.0, 2000.0])
def test_atoms_in_single_precision_are_no_end_of_a_run(monkeypatch, radius):
    """As on a large GPU run. Where the rounded X was larger than the ball by 1e-9, no point inside had its value."""
    monkeypatch.setattr(hybrid, "_many", lambda problem, atoms: True)
    rng = np.random.default_rng(0)
    rows, cols = np.nonzero(rng.random((90, 70)) < 0.7)
    values = (rng.standard_normal((90, 30)) @ rng.standard_normal((30, 70)))[rows, cols]
    problem = sx.Problem(sx.Completion(rows, cols, values, (90, 70)), sx.NuclearBall((90, 70), radius)).to("cpu")
    collect = sx.Collect(points=True)
    result = sx.solve(problem, stop=sx.Stop(relative_gap=1e-6, max_steps=40), observers=[collect])
    assert result.status is sx.Status.GAP
    light = [point.atoms for point in collect.points if problem.place.kind(point.atoms.buffer.block) == np.float32]
    assert light
    for atoms in light:
        norms = atoms.vectors.t.double().norm(dim=0).numpy()
        assert abs(atoms.weights @ norms**2 - 1.0) <= (len(atoms) + 160) * 2.0**-52
