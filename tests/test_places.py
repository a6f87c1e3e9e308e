"""Everything tall goes through a place's verbs: the conformance problems on a place that refuses all else."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx
from problems import PROBLEMS, WHOLE
from sealed import SEALED, Sealed, Shut, opened
from spectraplex.places.deck import NumPyDeck
from spectraplex.places.here import HERE, NumPyBuffer, NumPyPlace

STEPS = 10


def there(problem):
    """The same problem on the sealed place."""
    if isinstance(problem, sx.Penalized):
        return sx.Penalized(Sealed(problem.objective), problem.lam, psd=problem.psd, bound=problem.domain.size)
    return sx.Problem(Sealed(problem.objective), problem.domain)


def test_nothing_but_verbs():
    block = Shut(np.eye(3))
    for refused in (
        lambda: block + block,
        lambda: block @ block,
        lambda: 2.0 * block,
        lambda: block[0],
        lambda: block.shape,
        lambda: np.asarray(block),
        lambda: np.linalg.norm(block),
        lambda: np.concatenate([block, block]),
        lambda: len(block),
        lambda: SEALED.gram(np.eye(3), block),
    ):
        with pytest.raises(TypeError, match=r"block|place"):
            refused()


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("method", WHOLE)
def test_the_same_solve_there(method, name):
    """Same seed, same numbers: the steps there are those of this machine, and so is what is certified."""
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
    assert away.X.place is SEALED


@pytest.mark.parametrize("method", ["hybrid", "cg", "ror-adaptive", "in-face"])
def test_large_enough_to_search(method):
    """Above 400 nothing is decomposed whole: Krylov spaces, probable bounds and restarts by verbs alone."""
    rng = np.random.default_rng(1)
    m, n = 320, 260
    rows, cols = np.nonzero(rng.random((m, n)) < 0.05)
    values = (rng.standard_normal((m, 4)) @ rng.standard_normal((4, n)))[rows, cols]
    problem = sx.Problem(sx.Completion(rows, cols, values, (m, n)), sx.NuclearBall((m, n), 300.0))
    stop = sx.Stop(max_steps=12, relative_gap=1e-2)
    here, away = sx.solve(problem, method, stop), sx.solve(there(problem), method, stop)
    assert away.certificate.kind == "probable"
    assert abs(away.value - here.value) <= max(here.gap + away.gap, 1e-9 * abs(here.value))
    assert sx.verify(away.certificate, problem, away.X)  # on this machine, from what was found there
    assert sx.verify(here.certificate, there(problem), here.X)


@pytest.mark.parametrize("psd", [False, True])
@pytest.mark.parametrize("method", ["hybrid", "pairwise", "apgd"])
def test_penalties_there(method, psd):
    rng = np.random.default_rng(2)
    A = rng.standard_normal((14, 14))
    problem = sx.Penalized(sx.Distance(A + A.T if psd else A), 2.0, psd=psd)
    stop = sx.Stop(max_steps=200, relative_gap=1e-3)
    here, away = sx.solve(problem, method, stop), sx.solve(there(problem), method, stop)
    assert abs(away.value - here.value) <= here.gap + away.gap + 1e-9
    assert sx.verify(away.certificate, problem, away.X)


def test_rounding_is_that_of_this_machine_there():
    """A slope that is no array is as long there as here, and a function of one's own says nothing of its rounding."""
    function = sx.Smooth(lambda X: (0.5 * float(np.sum(X * X)), X), (5, 5))
    problem = sx.Problem(function, sx.Spectrahedron(5))
    here, away = (sx.solve(each, "cg", sx.Stop(gap=1e-3)) for each in (problem, there(problem)))
    assert away.certificate.rounding == pytest.approx(here.certificate.rounding, rel=0.1)
    assert sx.verify(away.certificate, problem, away.X)


def test_a_penalty_on_what_is_infinite_at_zero_there():
    rng = np.random.default_rng(5)
    counts = sx.Fit(sx.RankOnes(rng.standard_normal((8, 3))), rng.poisson(5.0, 8) + 1.0, "poisson")
    assert sx.Penalized(Sealed(counts), 0.5, psd=True).domain.size == sx.Penalized(counts, 0.5, psd=True).domain.size


def test_saved_and_resumed_there(tmp_path):
    known = PROBLEMS["ball, active"](np.random.default_rng(3))
    problem = there(known.problem)
    for method in ("hybrid", "ror-adaptive"):
        short = sx.solve(problem, method, sx.Stop(max_steps=3))
        long = sx.solve(problem, method, sx.Stop(max_steps=6))
        again = sx.load(short.save(tmp_path / method))
        on = sx.solve(problem, method, sx.Stop(max_steps=3), start=again)
        assert on.value == pytest.approx(long.value, rel=1e-12)
        assert sx.verify(on.certificate, problem, on.X)


def test_a_path_there():
    rng = np.random.default_rng(4)
    rows, cols = np.nonzero(rng.random((20, 15)) < 0.5)
    objective = sx.Completion(rows, cols, rng.standard_normal(rows.size), (20, 15))
    problem = sx.Problem(objective, sx.NuclearBall((20, 15), 8.0))
    path = sx.path(there(problem), [2.0, 4.0, 8.0], gap=1e-2)
    for size in (2.0, 5.0, 8.0):
        X, certificate = path.at(size)
        at = sx.Problem(Sealed(objective), sx.NuclearBall((20, 15), size))
        assert sx.verify(certificate, at, X)


def test_both_places_pass_the_tester():
    for place in (HERE, SEALED):
        assert sx.check(place), sx.check(place)


class Forgetful(NumPyBuffer):
    """It loses its columns when it grows."""

    def append(self, column):
        if self.used == self.block.shape[1]:
            self.block = np.zeros((self.block.shape[0], 2 * self.used), self.block.dtype)
        return super().append(column)


def deck(**changed):
    return {"deck": lambda self, *given: type("Deck", (NumPyDeck,), changed)(*given)}


BROKEN = {
    "gram": {"gram": lambda self, A, B: A.T @ B},  # not conjugated
    "gram in single": {"gram": lambda self, A, B: A.conj().T @ B},
    "dots": {"dots": lambda self, A, B, weights=None: NumPyPlace.dots(self, A, B)},
    "buffer": {"buffer": lambda self, columns: Forgetful(columns)},
    "copy": {"copy": lambda self, A, dtype: A.astype(dtype, copy=False)},
    "cast": {"cast": lambda self, A, dtype: A},
    "finite": {"finite": lambda self, A: not np.isnan(A).any()},
    "orthonormal": {"orthonormal": lambda self, A, basis=None: NumPyPlace.orthonormal(self, np.cumsum(A, 0), basis)},
    "random": {"random": lambda self, d, k, kind, rng: np.repeat(NumPyPlace.random(self, d, 1, kind, rng), k, 1)},
    "deck.back": deck(back=lambda self, slots, a: -NumPyDeck.back(self, slots, a)),
    "deck.forth": deck(forth=lambda self, slots, c, *rest: NumPyDeck.forth(self, slots, -c, *rest)),
    "deck.turn": deck(turn=lambda self, s, f, product, lean, b: NumPyDeck.turn(self, s, f, product, -lean, b)),
    "deck.back after a rescale": deck(rescale=lambda self, scaling: None),
}


@pytest.mark.parametrize("broken", BROKEN)
def test_the_tester_names_the_broken_verb(broken):
    report = sx.check(type("Broken", (NumPyPlace,), BROKEN[broken])())
    assert not report and f"\n{broken.split()[0]}: " in str(report)


@pytest.mark.parametrize("kind", [sx.Spectrahedron, sx.Hybrid, NumPyPlace])
def test_a_class_is_no_instance(kind):
    assert "this is a class; check an instance" in str(sx.check(kind))


def test_the_tester_finds_what_is_wrong():
    class Careless(type(SEALED)):
        """Its Gram matrix is not conjugated."""

        def __init__(self):
            super().__init__()
            self.gram = lambda A, B: opened(A).T @ opened(B)

    report = sx.check(Careless())
    assert not report and "gram" in str(report)


def test_a_shortened_step_is_measured_where_it_ends(monkeypatch):
    """A block that a deck handed out is not the one after the step was shortened."""
    from spectraplex.methods.descent import descend
    from spectraplex.methods.quasi_newton import LimitedMemory

    A = 0.1 * np.diag(np.arange(8.0))  # a small slope beside the curvature: first steps are too long
    rng, shortened, plain = np.random.default_rng(1), [], LimitedMemory.shorten
    monkeypatch.setattr(LimitedMemory, "shorten", lambda memory, cut: shortened.append(cut) or plain(memory, cut))
    Y = rng.standard_normal((8, 2))
    Y, values = Y / np.linalg.norm(Y), []
    objective = sx.Smooth(lambda X: (0.5 * float(np.sum((X - A) ** 2)), X - A), (8, 8))
    for function, place in ((objective, HERE), (Sealed(objective), SEALED)):
        problem = sx.Problem(function, sx.Spectrahedron(8))
        found = descend(problem, place.from_host(Y.copy()), None, 1e-9, most=6, fading=0.0)
        assert found.steps > 0
        values.append((found.value, len(shortened)))
    assert values[0][1] > 0 and values[1][1] == 2 * values[0][1]
    assert values[1][0] == pytest.approx(values[0][0], rel=1e-12)
