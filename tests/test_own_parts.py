"""Parts that a newcomer writes: what is wrong with them is a sentence, from check and from solve."""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.losses import Conjugate
from spectraplex.matrices.operators import LowRank


class Expectile:
    name, curvature, least = "expectile", 0.9, 0.0

    def evaluate(self, z, b, weights):
        r = z - b
        pull = np.where(r > 0, 0.9, 0.1) * (1.0 if weights is None else weights) * r
        return 0.5 * float(pull @ r), pull


class TwoArrays(Expectile):
    def evaluate(self, z, b, weights):
        return (z - b) ** 2, 2 * (z - b)


class ValueAlone(Expectile):
    def evaluate(self, z, b, weights):
        return float(np.sum((z - b) ** 2))


class NoConjugate(Expectile):
    def conjugate(self, slope, b, weights):
        return 3.0


class Word(Expectile):
    curvature = "one"


class Sums:
    """The sums of rows."""

    dtype: object = "float64"

    def __init__(self, shape=(6, 5)):
        self.shape, self.size = shape, shape[0]

    def measure(self, U, s, V):
        return (U * s) @ V.sum(0)

    def adjoint(self, slope):
        return LowRank(slope[:, None], np.ones(1), np.ones((self.shape[1], 1)))


class AnArray(Sums):
    def adjoint(self, slope):
        return np.outer(slope, np.ones(self.shape[1]))


class Turned(Sums):
    def adjoint(self, slope):
        return LowRank(np.ones((self.shape[1], 1)), np.ones(1), slope[:, None])


class Column(Sums):
    def measure(self, U, s, V):
        return super().measure(U, s, V)[:, None]


class Whole(Sums):
    dtype = "int32"


class Named(Sums):
    dtype = np.float64


@dataclass(frozen=True)
class Count:
    t: int


class Still:
    Memory = Count

    def init(self, problem, point, rng):
        return point, Count(0), sx.Step("start", 0.0, 0.0, np.inf)

    def step(self, problem, point, memory, rng):
        return point, memory


class StepAlone:
    def step(self, problem, point, memory, rng): ...


class Nothing: ...


def solved(measurements, loss="squared"):
    problem = sx.Problem(sx.Fit(measurements, np.arange(6.0), loss), sx.NuclearBall((6, 5), 5.0))
    return sx.solve(problem, stop=sx.Stop(relative_gap=1e-2, max_steps=50))


def test_good_parts_pass_and_are_solved():
    assert sx.check(Expectile()) and sx.check(Sums()) and sx.check(Named())
    assert solved(Sums(), Expectile()).value < 1e-6
    assert solved(Named()).certificate.kind == "proven"


@pytest.mark.parametrize(
    ("part", "words"),
    [
        (TwoArrays(), r"evaluate: it must return a number, .* got \(ndarray, ndarray\)"),
        (ValueAlone(), "evaluate: it must return a number, .* got float"),
        (NoConjugate(), "conjugate: it must return a spectraplex.losses.Conjugate, got float"),
        (Word(), "curvature: what it claims must be a number, got 'one'"),
        (AnArray(), r"adjoint must return something that multiplies.*Dense\(array\).*got ndarray"),
        (Turned(), r"operator: the operator is said to have shape \(5, 6\), not \(6, 5\)"),
        (Column(), r"measure must return a flat array of 6 numbers, got \(6, 1\)"),
        (Whole(), "dtype must be 'float64' or 'complex128', got 'int32'"),
        (Still(), r"step: it must return \(Point, Memory, Step\), got \(Point, Count\)"),
        (StepAlone(), "a method has both init and step"),
        (Nothing(), "Nothing is no objective .*your-own.md"),
        (None, "NoneType is no objective"),
        (sx.Distance, "this is a class"),
    ],
)
def test_check_says_what_is_wrong(part, words):
    report = sx.check(part)
    assert not report and len(report.wrong) == 1
    assert re.search(words, str(report)), str(report)


@pytest.mark.parametrize(
    ("part", "error", "words"),
    [
        (AnArray(), TypeError, r"adjoint\) must return something that multiplies.*got ndarray"),
        (Column(), ValueError, r"Column: measure must return a flat array of 6 numbers .*got shape \(6, 1\)"),
        (Whole(), ValueError, "Whole: dtype must be 'float64' or 'complex128', got 'int32'"),
    ],
)
def test_solve_says_it_too(part, error, words):
    with pytest.raises(error, match=words):
        solved(part)


def test_a_conjugate_is_known_by_its_class():
    assert isinstance(sx.losses.Squared().conjugate(np.ones(2), np.ones(2), None), Conjugate)
