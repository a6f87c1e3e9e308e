"""What objectives and methods say of themselves is read into one record; work is done only where it is asked for."""

from __future__ import annotations

import copy
import pickle

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.methods import facts_of as facts_of_method
from spectraplex.objectives.facts import facts_of
from spectraplex.places.here import HERE


class Counting(sx.Distance):
    """A distance that counts how often its smoothness is worked out."""

    asked = 0

    @property
    def smoothness(self):
        self.asked += 1
        return 1.0


class Bare:
    """An objective that says nothing of itself."""

    shape, dtype = (4, 4), "float64"

    def __init__(self):
        inside = sx.Distance(np.eye(4))
        self.measure, self.combine, self.evaluate = inside.measure, inside.combine, inside.evaluate
        self.along, self.pair, self.gradient = inside.along, inside.pair, inside.gradient


def test_a_smoothness_that_takes_work_is_worked_out_when_asked_for_and_once():
    problem = sx.Problem(Counting(np.eye(4)), sx.Spectrahedron(4))
    assert problem.facts.given_smoothness is None and problem.objective.asked == 0
    assert problem.facts.smoothness == problem.facts.smoothness == 1.0 and problem.objective.asked == 1


def test_a_smoothness_that_is_a_number_is_given():
    assert facts_of(sx.Distance(np.eye(3))).given_smoothness == 1.0
    assert facts_of(sx.Smooth(lambda X: (0.0, X), (3, 3), smoothness=2.0)).given_smoothness == 2.0
    assert facts_of(sx.Sensing(np.ones((2, 3, 3)), np.ones(2))).given_smoothness is None


def test_an_objective_need_not_say_anything():
    facts = facts_of(Bare())
    said = [value for name, value in vars(facts).items() if name not in ("objective", "place", "images")]
    assert not any(said)
    assert facts.smoothness is facts.reach is facts.coverage is facts.condition is facts.lower is None
    result = sx.solve(sx.Problem(facts.objective, sx.Spectrahedron(4)), "cg", sx.Stop(gap=1e-3))
    assert result.gap <= 1e-3


def test_attributes_of_its_own_that_are_no_place_and_no_verbs_of_images():
    """An objective about photographs may well have images, and a place where they were taken."""
    bare = Bare()
    bare.place, bare.images = "Berlin", [np.eye(4)]
    result = sx.solve(sx.Problem(bare, sx.Spectrahedron(4)), "cg", sx.Stop(gap=1e-3))
    assert result.gap <= 1e-3 and sx.check(bare)


class Plain:
    """A loss without curvature and without conjugate."""

    def evaluate(self, z, b, weights):
        return float(np.abs(z - b).sum()), np.sign(z - b)


def test_what_a_loss_or_a_measurement_does_not_know_is_none():
    fit = sx.Fit(sx.Entries([0, 1], [0, 1], (2, 2)), np.ones(2), Plain())
    facts = facts_of(fit)
    assert fit.conjugate is None and fit.coverage is None and fit.require_hermitian is None
    assert facts.conjugate is None and facts.coverage is None and facts.bend is None
    assert facts_of(sx.Sensing(np.ones((2, 3, 3)), np.ones(2))).condition is None


@pytest.mark.parametrize("again", [copy.copy, copy.deepcopy, lambda problem: pickle.loads(pickle.dumps(problem))])
def test_a_problem_whose_facts_were_read_is_copied_and_pickled(again):
    rows, cols = np.nonzero(np.ones((3, 2)))
    problem = sx.Problem(sx.Completion(rows, cols, np.arange(6.0), (3, 2)), sx.NuclearBall((3, 2), 5.0))
    assert problem.facts.coverage is not None
    assert again(problem).facts.coverage[0] == pytest.approx(problem.facts.coverage[0])


def test_a_method_need_not_say_anything():
    class Method:
        def __init__(self):
            self.size = 0.1

    facts = facts_of_method(Method())
    assert facts.require is None and facts.zigzags and not facts.dense and "size" in facts.identity
    assert not facts_of_method(sx.METHODS["hybrid"]).zigzags and facts_of_method(sx.METHODS["pgd"]).dense


@pytest.mark.parametrize("name", ["parts", "conjugate", "start", "rounding"])
def test_a_method_that_is_none_is_refused_in_a_sentence(name):
    objective = Bare()
    setattr(objective, name, 3)
    with pytest.raises(TypeError, match=f"Bare: {name} must be a function, got 3"):
        sx.Problem(objective, sx.Spectrahedron(4))


def test_facts_are_read_once_and_never_those_of_another_objective():
    fit = sx.Completion([0, 1, 2], [0, 1, 1], [1.0, 2.0, 3.0], (3, 2))

    class Wrapped:
        called = "Wrapped"

        def __getattr__(self, name):
            return getattr(fit, name)

    outer = Wrapped()
    assert facts_of(fit) is facts_of(fit) and facts_of(outer).objective is outer
    assert facts_of(outer).called == "Wrapped" and facts_of(fit).called == "table"
    for other in (copy.copy(fit), pickle.loads(pickle.dumps(fit))):  # where it computes is this process's own place
        assert facts_of(other).objective is other and facts_of(other).place is HERE
