"""The Torch place: the conformance problems and every pair of measurement and loss, on tensors of this processor."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx

torch = pytest.importorskip("torch")

from on_torch import AWAY, solved_alike, there, wide_place  # noqa: E402
from problems import PROBLEMS, WHOLE  # noqa: E402
from test_fit import FORMS, PAIRS, problem_of  # noqa: E402

STEPS = 10


def test_the_tester_of_places_finds_nothing():
    for place in (AWAY, wide_place()):
        report = sx.check(place, trials=12)
        assert report, str(report)


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("method", WHOLE)
def test_the_same_solve_there(method, name):
    """The steps there are those of this machine up to rounding, and so is what is certified."""
    known = PROBLEMS[name](np.random.default_rng(0))
    stop = sx.Stop(max_steps=4 if method == "ror-full" else STEPS, relative_gap=1e-6)
    try:
        here = sx.solve(known.problem, method, stop)
    except ValueError as refused:
        with pytest.raises(ValueError, match=str(refused)[:20]):
            sx.solve(there(known.problem), method, stop)
        return
    away = sx.solve(there(known.problem), method, stop)
    scale = max(1.0, abs(known.optimum))
    assert abs(away.value - here.value) <= max(here.gap + away.gap, 1e-9 * scale)
    assert away.lower_bound <= known.optimum + 1e-12 * scale <= away.value + 2e-12 * scale
    assert sx.verify(away.certificate, there(known.problem), away.X)
    assert sx.verify(away.certificate, known.problem, away.X)
    assert isinstance(away.X.triple()[0], np.ndarray)  # as the data came


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("form", "name"), PAIRS)
def test_every_pair_is_the_same_function_there(form, name, weighted):
    """Images, values, slopes, curves, gradients and conjugates beside those of this machine."""
    problem = problem_of(form, name, seed=2, weighted=weighted)
    here, away = problem.objective, there(problem).objective
    rng, (m, n) = np.random.default_rng(7), here.shape
    kind = np.dtype(here.dtype)
    U, V = normal(rng, (m, 3), kind), normal(rng, (n, 3), kind)
    V = U if problem.domain.hermitian else V
    s = rng.dirichlet(np.ones(3)) * problem.domain.size
    start = here.start(problem.domain) if here.start is not None else None
    if start is not None:  # where the loss is finite
        U, s, V = start.triple()
    s = s / np.linalg.norm(U, axis=0) / np.linalg.norm(V, axis=0)
    z, w = here.measure(U, s, V), away.measure(AWAY.from_host(U), s, AWAY.from_host(V))
    close(images(away, w), z)
    value, slope = here.evaluate(z)
    told, lean = away.evaluate(w)
    assert told == pytest.approx(value, rel=1e-12, abs=1e-12)
    close(images(away, lean), slope)
    assert away.pair(lean, w) == pytest.approx(here.pair(slope, z), rel=1e-11, abs=1e-12)
    curve, bent = here.along(z, -0.1 * z), away.along(w, -0.1 * w)
    for size in (0.0, 0.3, 1.0):
        for one in ("value", "derivative"):
            got, want = (getattr(each, one)(size) for each in (bent, curve))
            assert got == pytest.approx(want, rel=1e-10, abs=1e-11), (one, size)
    close(away.gradient(lean).dense(), here.gradient(slope).dense())
    own, theirs = here.conjugate(slope), away.conjugate(lean)
    for c in (0.5, 1.0):
        assert theirs.at(c) == pytest.approx(own.at(c), rel=1e-10, abs=1e-10)
    assert away.parts() is not None and away.smoothness == here.smoothness


def normal(rng, shape, kind):
    out = rng.standard_normal(shape)
    return out + 1j * rng.standard_normal(shape) if kind.kind == "c" else out


def images(away, z):
    return np.asarray(away.images.pack(z))


def close(got, want):
    top = float(np.max(np.abs(want), initial=1.0))
    assert got.shape == want.shape and np.max(np.abs(got - want), initial=0.0) <= 1e-12 * top


@pytest.mark.parametrize(("form", "name"), PAIRS)
def test_every_pair_is_solved_there(form, name):
    problem = problem_of(form, name, seed=3, weighted=True)
    _, away = solved_alike(problem, "hybrid", sx.Stop(gap=1e-3, max_steps=200))
    assert away.gap <= 1e-3


def test_the_forms_are_real_and_complex():
    kinds = {FORMS[form](np.random.default_rng(0))[0].dtype for form in FORMS}
    assert {np.dtype(kind).kind for kind in kinds} == {"f", "c"}


@pytest.mark.parametrize("size", [12, 120])
@pytest.mark.parametrize("kind", [torch.float64, torch.complex128])
def test_the_projection_of_a_tensor_is_tensors(size, kind):
    A = torch.eye(size, dtype=kind) + torch.arange(size, dtype=torch.float64).diag()
    for domain in (sx.Spectrahedron(size), sx.NuclearBall((size, size), 3.0)):
        result = sx.project(A, domain)
        assert all(isinstance(side, torch.Tensor) for side in result.X.triple()[::2])
        assert sx.verify(result.certificate, sx.Problem(sx.Distance(A), domain), result)
        assert sx.verify(result.certificate, sx.Problem(sx.Distance(A.numpy()), domain), result)
