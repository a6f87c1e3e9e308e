"""sx.check finds nothing wrong with the built-in objectives, and the right thing wrong with broken ones."""

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pytest

import dense
import spectraplex as sx
from spectraplex.domains.lift import LiftedObjective
from spectraplex.losses.curves import Quadratic
from spectraplex.matrices.atoms import Atoms
from spectraplex.matrices.operators import Dense
from spectraplex.methods.oracle import base, begin, find
from spectraplex.places.here import HERE

ALL = [("rectangular", name) for name in dense.RECTANGULAR] + [("hermitian", name) for name in dense.HERMITIAN]
A = dense.normal(np.random.default_rng(0), (4, 3), "complex128")
B = dense.hermitian(dense.normal(np.random.default_rng(1), (4, 4)))


def faults(objective, **options):
    """The names of the properties that fail."""
    report = sx.check(objective, **options)
    assert bool(report) == (not report.wrong)
    return {line.partition(":")[0] for line in report.wrong}


@pytest.mark.parametrize(("kind", "name"), ALL, ids=["-".join(pair) for pair in ALL])
@pytest.mark.parametrize("seed", [0, 1])
def test_built_in_objectives_are_what_they_say(kind, name, seed):
    _, make = (dense.RECTANGULAR if kind == "rectangular" else dense.HERMITIAN)[name]
    report = sx.check(make(np.random.default_rng(seed)).objective, hermitian=kind == "hermitian", size=3.0, seed=seed)
    assert report, str(report)
    assert {"linear image", "adjoint products", "pairing", "finite differences", "convexity"} < set(report.tested)
    assert "claimed smoothness" in report.tested
    assert str(report).startswith(f"All {len(report.tested)} properties hold")


@pytest.mark.parametrize("size", [1e-4, 1.0, 1e4])
@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_the_size_of_the_matrices_does_not_confuse_it(size, dtype):
    rng = np.random.default_rng(2)
    A = size * dense.normal(rng, (5, 4), dtype)
    rows, cols = (each.ravel() for each in np.indices((5, 4)))
    for f in (sx.Distance(A), sx.Completion(rows, cols, A.ravel(), (5, 4), "huber", delta=size)):
        report = sx.check(f, size=size)
        assert report, str(report)


# ------------------------------------------------------------------------------------------- what can go wrong


class WrongPair(sx.Distance):
    def pair(self, slope, z):
        return 1.001 * super().pair(slope, z)


class ForgottenConjugate(sx.Distance):
    def gradient(self, slope):
        return Dense(slope.conj())


class WrongAdjoint(sx.Distance):
    def gradient(self, slope):
        class Broken(Dense):
            def rmatmat(self, U):
                return self.matrix.T @ U  # the transpose, not the conjugate transpose

        return Broken(slope)


class AffineImage(sx.Distance):
    def measure(self, U, s, V):
        return super().measure(U, s, V) + 1.0


class CurvedImage(sx.Distance):
    def measure(self, U, s, V):
        X = super().measure(U, s, V)
        return X * np.abs(X)


class WrongCombine(sx.Distance):
    def combine(self, a, z, b, w):
        return a * z + abs(b) * w


class WrongCurveValue(sx.Distance):
    def along(self, z, dz):
        right = super().along(z, dz)
        return Quadratic(right.start, right.slope, 2 * right.bend)


class WrongCurveDerivative(sx.Distance):
    def along(self, z, dz):
        right = super().along(z, dz)
        return Quadratic(right.start - 0.07 * right.slope, 1.1 * right.slope, right.bend)


class TooSmooth(sx.Distance):
    smoothness = 0.999


class TooConvex(sx.Distance):
    strong_convexity = 1.001


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (WrongPair, "pairing"),
        (ForgottenConjugate, "pairing"),
        (WrongAdjoint, "adjoint products"),
        (AffineImage, "linear image"),
        (CurvedImage, "linear image"),
        (WrongCombine, "linear image"),
        (WrongCurveValue, "curve value"),
        (WrongCurveDerivative, "curve derivative"),
        (TooSmooth, "claimed smoothness"),
        (TooConvex, "claimed strong convexity"),
    ],
)
def test_a_broken_distance_is_caught_by_name(broken, fault, seed):
    assert fault in faults(broken(A), seed=seed)


@pytest.mark.parametrize("broken", [TooSmooth, TooConvex, WrongAdjoint, WrongCurveValue])
def test_a_single_fault_is_the_only_one_reported(broken):
    assert len(faults(broken(A))) == 1


def quadratic(gradient=lambda X: X - B, value=lambda X: 0.5 * np.sum((X - B) ** 2), **claims):
    return sx.Smooth(lambda X: (value(X), gradient(X)), (4, 4), **claims)


@pytest.mark.parametrize("seed", [0, 1, 2])
@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (quadratic(gradient=lambda X: 1.01 * (X - B)), "finite differences"),
        (quadratic(gradient=lambda X: B - X), "finite differences"),
        (quadratic(gradient=lambda X: X), "finite differences"),
        (quadratic(lambda X: -X, lambda X: -0.5 * np.sum(X**2)), "convexity"),
        (quadratic(lambda X: np.cos(X), lambda X: np.sum(np.sin(X))), "convexity"),
        (quadratic(smoothness=0.99), "claimed smoothness"),
        (quadratic(strong_convexity=1.01), "claimed strong convexity"),
    ],
    ids=["scaled", "sign", "constant", "concave", "sine", "smoothness", "strong-convexity"],
)
def test_a_broken_function_is_caught_by_name(broken, fault, seed):
    found = faults(broken, seed=seed)
    assert fault in found
    assert found <= {fault, "convexity"}  # a tangent with a wrong slope may also pass above the function


def test_hermitian_constants_are_the_ones_tested_on_hermitian_matrices():
    rows, cols = (each.ravel() for each in np.indices((3, 3)))

    class Claims(sx.Completion):
        hermitian_smoothness = 0.99
        hermitian_strong_convexity = 1.01

    f = Claims(rows, cols, np.zeros(9), (3, 3))
    assert faults(f, hermitian=True) == {"claimed smoothness", "claimed strong convexity"}
    assert faults(f, hermitian=False) == set()


def test_the_report_gives_the_numbers_it_met():
    report = sx.check(quadratic(smoothness=0.5, strong_convexity=2.0))
    assert "a curvature of 1 was met, more than the smoothness 0.5" in str(report)
    assert "a curvature of 1 was met, less than the strong_convexity 2" in str(report)
    assert str(report).startswith(f"2 of {len(report.tested)} properties fail:")


def test_missing_methods_are_named():
    class Half:
        shape, dtype = (3, 3), "float64"

        def measure(self, U, s, V): ...
        def evaluate(self, z): ...

    report = sx.check(Half())
    assert not report
    assert report.tested == ("protocol",)
    assert "lacks combine, along, pair, gradient" in str(report)


def test_a_raising_function_is_reported_not_raised():
    def fails(X):
        raise ZeroDivisionError("one over nothing")

    report = sx.check(sx.Smooth(fails, (3, 3)))
    assert not report
    assert "evaluation: it raised ZeroDivisionError: one over nothing" in str(report)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_not_finite_is_reported(bad):
    class Endless(sx.Distance):
        def evaluate(self, z):
            return bad, super().evaluate(z)[1]

    assert faults(Endless(A)) == {"finite"}
    report = sx.check(sx.Smooth(lambda X: (bad, X), (3, 3)))
    assert report.skipped == report.trials == 8
    assert "not finite anywhere it was looked at" in str(report) and "8 of 8 trials were skipped" in str(report)


# ------------------------------------------------------------------------------------- functions infinite in places


def logdet(X):
    M = 0.5 * (X + X.conj().T)
    try:
        L = np.linalg.cholesky(M)
    except np.linalg.LinAlgError:
        return np.inf, np.full(X.shape, np.nan)
    return -2 * float(np.sum(np.log(np.abs(np.diag(L))))), -np.linalg.inv(M)


def poisson(X):
    return (float(np.sum(X - 3 * np.log(X))), 1 - 3 / X) if (X > 0).all() else (np.inf, X)


def cone(X):
    """Finite only near seven times the identity."""
    D = X - 7 * np.eye(*X.shape)
    room = 1 - np.sum(D * D)
    return (-np.log(room), 2 * D / room) if room > 0 else (np.nan, X)


@pytest.mark.parametrize("seed", [0, 1])
@pytest.mark.parametrize(
    ("function", "shape", "dtype", "size"),
    [
        (logdet, (5, 5), "float64", 1.0),
        (logdet, (5, 5), "complex128", 100.0),
        (poisson, (5, 4), "float64", 1.0),
        (poisson, (5, 5), "float64", 1e-3),
        (cone, (5, 5), "float64", 35.0),
    ],
    ids=lambda value: getattr(value, "__name__", str(value)),
)
def test_a_function_infinite_in_places_is_tested_where_it_is_finite(function, shape, dtype, size, seed):
    report = sx.check(sx.Smooth(function, shape, dtype=dtype), size=size, seed=seed)
    assert report, str(report)
    assert {"linear image", "curve value", "finite differences", "convexity"} < set(report.tested)
    assert report.moved + report.skipped >= 7 and report.skipped <= 2
    assert f"{report.moved} of 8 trials were moved to where the function is finite" in str(report)

    def wrong(X):
        value, gradient = function(X)
        return value, 1.01 * gradient

    assert "finite differences" in faults(sx.Smooth(wrong, shape, dtype=dtype), size=size, seed=seed)


def test_an_objective_that_returns_infinity_itself_is_tested_where_it_is_finite():
    class Walled(sx.Distance):
        def evaluate(self, z):
            value, slope = super().evaluate(z)
            return (value, slope) if np.abs(z).max() < 0.2 else (np.inf, slope)

    report = sx.check(Walled(A))
    assert report and report.moved > 0, str(report)


def test_a_function_finite_nowhere_near_says_so():
    report = sx.check(sx.Smooth(cone, (5, 5)), size=1e-3)
    assert not report
    assert "not finite anywhere it was looked at" in str(report) and "size=" in str(report)


def test_a_function_finite_everywhere_is_not_moved():
    report = sx.check(quadratic())
    assert report.moved == report.skipped == 0 and "trials" not in str(report)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"trials": 0}, "trials must be .*got 0"),
        ({"size": 0.0}, "size must be .*got 0.0"),
        ({"size": np.nan}, "size must be .*got nan"),
        ({"hermitian": True}, "4×3.*square"),  # of a wide one, kernels would read past the end of U
    ],
    ids=str,
)
def test_a_check_that_could_not_tell_anything_is_refused(options, words):
    rows, cols = np.nonzero(A)
    with pytest.raises(ValueError, match=words):
        sx.check(sx.Completion(rows, cols, A[rows, cols], A.shape), **options)


class WrongConjugate(sx.Distance):
    def conjugate(self, slope):
        right = super().conjugate(slope)
        return replace(right, at=lambda c: right.at(c) - 1.0)


class WrongOperator(sx.Distance):
    def __init__(self, *given, **wrong):
        super().__init__(*given)
        self.wrong = wrong

    def gradient(self, slope):
        right = super().gradient(slope)
        return SimpleNamespace(**{name: getattr(right, name) for name in dir(right) if name[0] != "_"} | self.wrong)


@pytest.mark.parametrize(
    ("broken", "fault"),
    [
        (WrongConjugate(A), "conjugate"),
        (WrongOperator(A, scores=lambda P, Q, count: np.ones(count)), "scores"),
        (WrongOperator(A, dense=lambda: np.ones(A.shape)), "dense"),
        (WrongOperator(A, hermitian=True), "hermitian"),
        (WrongOperator(A, shape=A.shape[::-1]), "operator"),
        (sx.Smooth(lambda X: (0.5 * float(np.sum(X * X)), X), (4, 3), lower=1e3), "lower"),
    ],
    ids=["conjugate", "scores", "dense", "hermitian", "shape", "lower"],
)
def test_what_certificates_and_methods_stand_on_is_tested(broken, fault):
    assert fault in faults(broken)


def scores_swapped(measurement):
    def adjoint(slope):
        right = type(measurement).adjoint(measurement, slope)
        parts = {name: getattr(right, name) for name in dir(right) if name[0] != "_"}
        return SimpleNamespace(**parts | {"scores": lambda P, Q, count: right.scores(P, Q, count)[::-1]})

    return adjoint


def test_the_shortcuts_of_a_measurement_are_tested():
    stack = np.random.default_rng(0).standard_normal((5, 4, 3))
    for name, wrong, fault in (
        ("gram", lambda of: lambda: np.eye(5), "gram"),
        ("of_operator", lambda of: lambda G: np.zeros(5), "of_operator"),
        ("coverage", lambda of: lambda weights: (np.zeros(4), np.zeros(3)), "coverage"),
        ("adjoint", scores_swapped, "scores"),
    ):
        broken = sx.Matrices(stack)
        setattr(broken, name, wrong(broken))
        assert fault in faults(broken), name


def test_one_by_one_is_no_fault():
    assert sx.check(sx.Distance(np.full((1, 1), 3.0)), hermitian=True)


@dataclass(frozen=True)
class Count:
    t: int


class Steps:
    """Frank-Wolfe with a fixed step, and one thing wrong with it."""

    Memory = Count

    def __init__(self, wrong=""):
        self.wrong = wrong

    def require(self, problem):
        if self.wrong == "require":
            raise ValueError("never.")

    def init(self, problem, point, rng):
        point, _, step = begin(problem, point, rng)
        return point, Count(1), step

    def step(self, problem, point, memory, rng):
        descent = problem.descent(point)
        found = find(descent, base(problem, point), rng)
        dz = problem.lifted.combine(1.0, problem.image_of(found.vector), -1.0, point.image)
        new = problem.ahead(point, point.atoms.blend(found.vector, 0.1), dz, 0.1)
        if self.wrong == "feasible":
            new = replace(new, atoms=replace(new.atoms, weights=1.1 * new.atoms.weights))
        if self.wrong == "image":
            new = replace(new, value=point.value, image=point.image)
        if self.wrong == "slope":
            new = replace(new, slope=point.slope)
        if self.wrong == "progress":
            return point, memory, sx.Step("stay", 0.0, descent.products, found.gap)
        memory = Count(np.array([None])) if self.wrong == "memory" else memory
        return new, memory, sx.Step("toward", 0.1, descent.products, found.gap)


@pytest.mark.parametrize("wrong", ["", "feasible", "image", "slope", "progress", "memory", "require"])
def test_a_broken_method_is_caught_by_name(wrong):
    found = faults(Steps(wrong))
    assert wrong in found if wrong else not found


def lifts(**changed):
    kind = type("Lifts", (LiftedObjective,), changed)
    return {"lift": lambda self, f: kind(f, slice(0, 4), slice(0, 4), 4, 1.0, free=False)}


BROKEN_DOMAINS = {
    "projection": (sx.NuclearBall, {"prox": lambda self, A, step: sx.NuclearBall((4, 3), 2.0).prox(A, step)}),
    "shrink": (
        sx.NuclearBall,
        {"shrink": lambda self, v, step=1.0: v / 2, "prox": lambda self, A, step: BALL.prox(A, step)},
    ),
    "start": (
        sx.Spectrahedron,
        {"start": lambda self, kind, rng: Atoms(HERE.buffer(np.ones((4, 1), kind)), np.arange(1), np.ones(1))},
    ),
    "lam": (sx.Spectrahedron, {"lam": 1.0}),
    "claimed curvature": (
        sx.TraceBall,
        {"lift": lambda self, f: LiftedObjective(f, slice(0, 4), slice(0, 4), 5, 1.0, free=False)},
    ),
    "pairing": (sx.Spectrahedron, lifts(pair=lambda self, slope, z: 2.0 * LiftedObjective.pair(self, slope, z))),
    "lower bound": (
        sx.Spectrahedron,
        lifts(pull=lambda self, slope: replace(LiftedObjective.pull(self, slope), scale=-0.5)),
    ),
}
BALL = sx.NuclearBall((4, 3), 1.0)


@pytest.mark.parametrize("fault", BROKEN_DOMAINS)
def test_a_broken_domain_is_caught_by_name(fault):
    kind, changed = BROKEN_DOMAINS[fault]
    broken = type("Broken", (kind,), changed)((4, 3) if kind is sx.NuclearBall else 4, 1.0)
    assert fault in faults(broken)


@pytest.mark.parametrize("domain", [sx.Spectrahedron(1), sx.TraceBall(1, 1e-100), sx.NuclearBall((1, 1), 1e100)])
def test_the_smallest_domains_are_what_they_say(domain):
    assert all(sx.check(domain, seed=seed) for seed in range(6))
