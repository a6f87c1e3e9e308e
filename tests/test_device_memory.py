"""Too little memory on a device: a sentence before any work, and the best point where it ends on the way."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.places.device_memory import DeviceFull, bytes_of, is_full, require_room
from spectraplex.stop import Status


def table(rng):
    rows, cols = np.nonzero(rng.random((60, 40)) < 0.4)
    return sx.Completion(rows, cols, rng.standard_normal(rows.size), (60, 40))


def test_what_a_table_takes_is_counted_once():
    """A position is 24 bytes, a target 8; what two attributes share is counted once."""
    objective = table(np.random.default_rng(0))
    count = objective.targets.size
    assert 32 * count <= bytes_of(objective) <= 48 * count + 16 * 100 + 100


def test_too_large_is_a_sentence_with_numbers():
    objective = table(np.random.default_rng(0))
    require_room(objective, 1000, 1e9, "cuda:0")
    with pytest.raises(DeviceFull, match=r"cuda:0 has 0\.0 GB free, and this problem needs .* GB.*cluster"):
        require_room(objective, 1000, 1e3, "cuda:0")


class OutOfMemoryError(RuntimeError):
    """As Torch calls it."""


def test_out_of_memory_on_the_way_returns_the_best_point(monkeypatch):
    problem = sx.Problem(table(np.random.default_rng(0)), sx.NuclearBall((60, 40), 30.0))
    method, steps = sx.METHODS["cg"], []
    whole = type(method).step if not isinstance(method, type) else method.step

    def step(self, *asked):
        steps.append(1)
        if len(steps) == 5:
            raise OutOfMemoryError("out of memory")
        return whole(self, *asked)

    monkeypatch.setattr(type(method) if not isinstance(method, type) else method, "step", step)
    result = sx.solve(problem, "cg", sx.Stop(relative_gap=1e-12))
    assert result.status is Status.MEMORY
    assert "out of memory" in result.status.value
    assert result.lower_bound <= result.value
    assert sx.verify(result.certificate, problem, result.X)


def test_other_errors_are_not_taken_for_it():
    assert is_full(OutOfMemoryError())
    assert not is_full(RuntimeError("something else"))


def test_a_run_holds_no_more_of_an_earlier_point_than_it_needs(monkeypatch):
    """The bound of an earlier point rests on its slope alone, and a guess is four columns, not a view of all found."""
    from spectraplex.certificates.certifier import Certifier
    from spectraplex.methods import hybrid

    problem, seen = sx.Problem(table(np.random.default_rng(0)), sx.NuclearBall((60, 40), 30.0)), []
    inside, guesses = Certifier.certify, []

    def certify(self, own, most, wanted=np.nan):
        spent = inside(self, own, most, wanted)
        seen.append(self.found.candidate)
        return spent

    def escape(*asked):
        found = whole(*asked)
        guesses.append(found[1].guess)
        return found

    whole = hybrid.escape
    monkeypatch.setattr(Certifier, "certify", certify)
    monkeypatch.setattr(hybrid, "escape", escape)
    result = sx.solve(problem, "hybrid", sx.Stop(relative_gap=1e-6))
    assert result.status is Status.GAP
    assert seen and all(each.of_what is None and each.image is None for each in seen)
    assert guesses and all(each.base is None or each.base.size <= each.size for each in guesses)
    assert sx.verify(result.certificate, problem, result.X)


def test_nobody_holds_the_factor_that_a_descent_began_with(monkeypatch):
    """It is copied at once; one more block as tall would be held all the time otherwise."""
    import weakref

    from spectraplex.matrices.atoms import Atoms
    from spectraplex.methods import descent

    made, held = [], []
    factor, first = Atoms.factor, descent._first_gradient

    def noted(self):
        found = factor(self)
        made.append(weakref.ref(found))
        return found

    def looked(*asked):
        held.append(made[-1]() is not None)
        return first(*asked)

    monkeypatch.setattr(Atoms, "factor", noted)
    monkeypatch.setattr(descent, "_first_gradient", looked)
    problem = sx.Problem(table(np.random.default_rng(0)), sx.NuclearBall((60, 40), 30.0))
    sx.solve(problem, "hybrid", sx.Stop(relative_gap=1e-6))
    assert held and not any(held)
