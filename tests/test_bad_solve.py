"""What solve refuses before any work, functions that misbehave, and saved results that are damaged."""

from dataclasses import replace

import numpy as np
import pytest

import spectraplex as sx
from problems import WHOLE
from refusals import check, refused

NAN, INF = float("nan"), float("inf")
EYE = np.eye(3)


def smooth(function=lambda X: (0.5 * np.sum(X**2), X), shape=(3, 3), **options):
    return sx.Smooth(function, shape, **options)


def solved(**options):
    """A solve of a small problem whose function must never be reached."""

    def untouched(X):
        raise AssertionError("work was done before the input was checked")

    options = {"method": "cg", "stop": sx.Stop(max_steps=2)} | options
    return lambda: sx.solve(sx.Problem(smooth(untouched), sx.Spectrahedron(3)), **options)


U3, HALVES = np.eye(3)[:, :2], np.array([0.5, 0.5])


@refused(
    ("no problem", lambda: sx.solve(sx.Distance(EYE)), TypeError, "first argument must be a Problem, got Distance"),
    (
        "unknown method",
        solved(method="newton"),
        ValueError,
        "Unknown method 'newton'; known: hybrid, cg, away, pairwise, ror",
    ),
    ("no method", solved(method=3), TypeError, r"method must be a name \(hybrid.* or have init and step, got int"),
    ("a class as method", solved(method=sx.Pairwise), TypeError, "method must be "),
    ("no stop", solved(stop=100), TypeError, r"stop must be a Stop such as .*, got int"),
    ("failure of zero", solved(failure=0.0), ValueError, "failure is a probability between 0 and 1, got 0.0"),
    ("failure of one", solved(failure=1), ValueError, "failure is a probability between 0 and 1, got 1"),
    ("failure nan", solved(failure=NAN), ValueError, "failure is a probability between 0 and 1, got nan"),
    ("failure a word", solved(failure="low"), (TypeError, ValueError), "failure is a probability .*got 'low'"),
    ("negative seed", solved(seed=-1), ValueError, "seed.* -1"),
    ("an observer that cannot be called", solved(observers=[3]), TypeError, "observers must be "),
    ("an observer without a list", solved(observers=print), TypeError, "observers must be "),
    ("observers a number", solved(observers=5), TypeError, "observers must be "),
    ("observers of nothing", solved(observers=None), TypeError, "observers must be "),
    ("ror without smoothness", solved(method="ror"), ValueError, "needs the smoothness β, which Smooth does not know"),
    ("ror-full without smoothness", solved(method="ror-full"), ValueError, "Full.* needs the smoothness β"),
    ("start a list", solved(start=[1, 2]), TypeError, r"start must be a Result, factors, .*got list"),
    ("start of one", solved(start=(U3,)), TypeError, r"start must be a Result, factors, \(vectors, weights\)"),
    ("start lopsided", solved(start=(U3, HALVES, U3)), ValueError, r"pass \(vectors, weights\), not \(U, s, V\)"),
    ("start too long", solved(start=(np.eye(4)[:, :2], HALVES)), ValueError, r"shapes \(4, 2\) and .*need \(3, k\)"),
    ("start weights", solved(start=(U3, np.ones(3))), ValueError, r"shapes \(3, 2\) and \(3,\); need \(3, k\)"),
    ("start nan", solved(start=(U3, np.array([NAN, 1.0]))), ValueError, "start factors contain NaN or infinity"),
    ("start negative", solved(start=(U3, np.array([1.5, -0.5]))), ValueError, "negative weight -0.5"),
    ("start trace", solved(start=(U3, np.array([0.5, 0.2]))), ValueError, "trace 0.7, but .* asks for 1: scale"),
    ("start complex", solved(start=(1j * U3, HALVES)), TypeError, "start is complex, but the objective is real"),
    ("complex weights", solved(start=(U3, 1j * HALVES)), (TypeError, ValueError), "weights.*(real|complex)"),
    ("factors", solved(start=sx.Symmetric(U3, 1j * HALVES)), (TypeError, ValueError), "weights.*(real|complex)"),
    ("start ragged", solved(start=([[1.0, 2.0], [3.0]], HALVES)), (TypeError, ValueError), "start"),
    ("factors of nothing", solved(start=sx.Symmetric(None, HALVES)), TypeError, "start must hold numbers"),
    ("start words", solved(start=(np.full((3, 1), "a"), np.ones(1))), (TypeError, ValueError), "start.*number"),
)
def test_solve(call, error, words):
    check(call, error, words)


def test_observers_may_come_from_a_generator():
    seen = []
    problem = sx.Problem(sx.Distance(EYE), sx.Spectrahedron(3))
    observers = (each for each in [lambda record, point: seen.append(record.step)])
    sx.solve(problem, "cg", sx.Stop(max_steps=2), observers)
    assert seen[-1] == 2


def started(domain, *start):
    return lambda: sx.solve(sx.Problem(sx.Distance(EYE), domain), "cg", sx.Stop(max_steps=1), start=start)


SMALL, LARGE = sx.NuclearBall((3, 3), 1.0), sx.NuclearBall((3, 3), 9.0)


@refused(
    ("trace", started(sx.TraceBall(3, 1.0), U3, np.ones(2)), ValueError, "trace 2, more than .* 1: scale it down"),
    ("radius", started(SMALL, U3, np.ones(2), U3), ValueError, "norm 2, more than the domain's radius 1: scale"),
    ("lengths", started(SMALL, U3, np.ones(3), U3), ValueError, r"needs \(3, k\), \(k,\), \(3, k\)"),
    ("a column", started(LARGE, U3, np.ones((2, 1)), U3), ValueError, r"needs \(3, k\), \(k,\), \(3, k\)"),
    ("nan", started(SMALL, NAN * U3, HALVES, U3), ValueError, "start factors contain NaN or infinity"),
    ("complex s", started(LARGE, U3, 1j * HALVES, U3), (TypeError, ValueError), "start.*(real|complex)"),
)
def test_starts_on_the_balls(call, error, words):
    check(call, error, words)


# ------------------------------------------------------------------------------------------- what is handed to whom


def test_words_in_place_of_a_choice_and_results_in_place_of_certificates(tmp_path):
    problem = sx.Problem(sx.Distance(EYE), sx.Spectrahedron(3))
    result = sx.solve(problem)
    check(lambda: sx.solve(problem, certify="no"), TypeError, "certify must be True or False, got 'no'")
    check(lambda: sx.verify(result, problem, result), TypeError, "got Result; pass result.certificate")
    check(lambda: sx.verify("{}", problem, result), ValueError, "no certificate .*'spectraplex certificate' is missing")
    check(lambda: sx.load(3), TypeError, "load: name the folder that was saved, a path; got int")
    (tmp_path / "file").write_text("x")
    check(lambda: result.save(tmp_path / "file"), FileExistsError, "save: .*file is a file; name a folder")
    check(lambda: sx.Problem(sx.Distance(EYE), 3), TypeError, "int is no domain; .*docs/your-own.md")
    large = sx.Completion([0, 1], [0, 1], [1e200, 1.0], (3, 2))
    check(lambda: sx.solve(sx.Problem(large, sx.NuclearBall((3, 2), 1.0))), ValueError, "1e154 cannot be squared: div")


# ----------------------------------------------------------------------------------------------------------- Smooth


@refused(
    ("not callable", lambda: sx.Smooth(EYE, (3, 3)), TypeError, "value_and_gradient must be callable, got ndarray"),
    ("shape", lambda: smooth(shape=3), ValueError, r"shape must be \(rows, columns\), got 3"),
    ("half a row", lambda: smooth(shape=(2.5, 3)), ValueError, r"shape must be .*whole.*\(2.5, 3\)"),
    ("dtype", lambda: smooth(dtype="int64"), ValueError, "dtype must be 'float64' or 'complex128', got 'int64'"),
    ("no dtype", lambda: smooth(dtype="real"), (TypeError, ValueError), "dtype must be 'float64' or .*got 'real'"),
    ("smoothness", lambda: smooth(smoothness=-1.0), ValueError, "smoothness must be a non-negative number, got -1.0"),
    ("convexity", lambda: smooth(strong_convexity=NAN), ValueError, "strong_convexity must be .* got nan"),
    ("a word", lambda: smooth(smoothness="much"), (TypeError, ValueError), "smoothness must be .* got 'much'"),
)
def test_smooth(call, error, words):
    check(call, error, words)


@pytest.mark.parametrize(
    ("answer", "error", "words"),
    [
        (lambda X: 1.0, TypeError, r"must return \(number, array\), got float"),
        (lambda X: None, TypeError, r"must return \(number, array\), got NoneType"),
        (lambda X: (1.0, X, X), TypeError, r"must return \(number, array\), got a 3-tuple"),
        (lambda X: (X, X), TypeError, r"must return \(number, array\)"),
        (lambda X: (1j, X), TypeError, r"must return \(number, array\)"),
        (lambda X: (1.0, X[:2]), ValueError, r"the gradient has shape \(2, 3\), but X has shape \(3, 3\)"),
        (lambda X: (1.0, 0.0), ValueError, r"the gradient has shape \(\), but X has shape \(3, 3\)"),
        (lambda X: (1.0, 1j * X), TypeError, "the gradient is complex; say dtype='complex128'"),
    ],
    ids=["number", "nothing", "three", "matrix value", "complex value", "short", "scalar", "complex gradient"],
)
@pytest.mark.parametrize("method", ["cg", "pgd"])
def test_a_function_that_returns_the_wrong_things_is_named(answer, error, words, method):
    problem = sx.Problem(smooth(answer), sx.Spectrahedron(3))
    with pytest.raises(error, match=words):
        sx.solve(problem, method)


@pytest.mark.parametrize("method", WHOLE)
@pytest.mark.parametrize("good", [2, 3, 5, 7, 12, 20])
@pytest.mark.parametrize("domain", [sx.Spectrahedron(3), sx.TraceBall(3, 1.0), sx.NuclearBall((3, 3), 1.0)], ids=str)
def test_a_function_that_turns_nan_midway_leaves_the_last_good_point(method, good, domain):
    A, calls = np.diag([0.6, 0.5, 0.3]) + 0.1, []

    def f(X):
        calls.append(1)
        if len(calls) > good:
            return NAN, X
        return honest(X), X - A + 0.4 * X**3

    def honest(X):
        return 0.5 * np.sum((X - A) ** 2) + 0.1 * np.sum(X**4)

    problem = sx.Problem(smooth(f, smoothness=4.0), domain)
    result = sx.solve(problem, method, sx.Stop(max_steps=100), seed=1)
    assert result.status is sx.Status.NOT_FINITE
    X = result.X.dense()
    assert np.isfinite(X).all() and np.isfinite(result.value)
    np.testing.assert_allclose(result.value, honest(X), rtol=1e-12)


@pytest.mark.parametrize("bad", [NAN, INF])
def test_a_function_that_is_nan_from_the_start_is_refused(bad):
    problem = sx.Problem(smooth(lambda X: (bad, X)), sx.Spectrahedron(3))
    with pytest.raises(ValueError, match=r"NaN or infinite at the starting point; run spectraplex\.check"):
        sx.solve(problem, "cg")


# ------------------------------------------------------------------------------------------------------- saved results


@pytest.fixture
def folder(tmp_path):
    problem = sx.Problem(sx.Distance(EYE), sx.Spectrahedron(3))
    return sx.solve(problem, "cg", sx.Stop(max_steps=3)).save(tmp_path / "saved")


def test_a_missing_result_is_named(tmp_path, folder):
    with pytest.raises(ValueError, match=r"nowhere holds no saved result: result\.json is missing"):
        sx.load(tmp_path / "nowhere")
    (folder / "result.npz").unlink()
    with pytest.raises(ValueError, match=r"saved holds no saved result: result\.npz is missing"):
        sx.load(folder)


@pytest.mark.parametrize("name", ["result.json", "result.npz"])
@pytest.mark.parametrize("damage", ["emptied", "cut", "garbage", "flipped", "text"])
def test_a_damaged_result_is_named(folder, name, damage):
    path = folder / name
    whole = path.read_bytes()
    middle = len(whole) // 2
    path.write_bytes(
        {
            "emptied": b"",
            "cut": whole[:middle],
            "garbage": b"\x93\xff\x00" * 50,
            "flipped": whole[:200] + bytes(byte ^ 0xFF for byte in whole[200:400]) + whole[400:],
            "text": b"[1, 2, 3]",
        }[damage]
    )
    with pytest.raises(ValueError, match=r"load: .*saved is damaged"):
        sx.load(folder)


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"format": 3', '"format": 99', "has format 99; this version reads 3"),
        ('"format": 3', '"format": 2', "has format 2; this version reads 3. Solve anew"),
        ('"STEP_LIMIT"', '"TIRED"', "damaged .*TIRED"),
        ('"numbers"', '"digits"', "damaged .*numbers"),
        ('"kinds": [', '"kinds": ["more", ', "damaged"),
    ],
)
def test_a_result_with_other_contents_is_named(folder, old, new, words):
    path = folder / "result.json"
    text = path.read_text(encoding="utf-8")
    assert old in text
    path.write_text(text.replace(old, new), encoding="utf-8")
    with pytest.raises(ValueError, match=words):
        sx.load(folder)


@pytest.mark.parametrize("change", [lambda z: z[:0], lambda z: np.concatenate([z, z]), lambda z: z + 0j])
def test_an_image_of_another_shape_is_measured_afresh(change):
    """One number is broadcast: such an image has a value, and would go far."""
    problem = sx.Problem(sx.Completion([0], [0], [0.0], (2, 2)), sx.NuclearBall((2, 2), 1.0))
    result = sx.solve(problem, "cg", sx.Stop(max_steps=3))
    state = result.state | {"image": change(np.asarray(result.state["image"]))}
    again = sx.solve(problem, "cg", sx.Stop(max_steps=1), start=replace(result, state=state))
    assert sx.verify(again.certificate, problem, again)


def test_columns_that_are_hardly_unit_are_made_unit():
    problem = sx.Problem(sx.Completion([0], [0], [8.0], (1, 1)), sx.NuclearBall((1, 1), 7.9))
    result = sx.solve(problem, "cg", sx.Stop(max_steps=3))
    state = result.state | {"columns": (1 + 1e-8) * result.state["columns"]}
    again = sx.solve(problem, "cg", sx.Stop(max_steps=1), start=replace(result, state=state))
    assert again.certificate.feasibility == 0.0
    assert again.value >= 0.5 * (8 - 7.9) ** 2 - again.certificate.rounding


def test_a_run_that_goes_on_keeps_the_better_matrix():
    """Atoms that cancel are charged for upstairs, but X, the solution, is not: a step that pays there may lose here."""
    problem = sx.Penalized(sx.Distance(np.diag([3.0, 1.0])), 1.0, bound=8.0)
    result = sx.solve(problem, "cg", sx.Stop(max_steps=1))
    half = np.sqrt(0.5)
    columns = np.array([[half, 0, half, 0, 0], [0, half, 0, half, 0], [0, half, 0, -half, 0], [0, 0, 0, 0, 1.0]]).T
    atoms = {"columns": columns, "index": np.arange(4), "weights": np.array([0.25, 0.1, 0.1, 0.55])}
    start = replace(result, state={k: v for k, v in result.state.items() if not k.startswith("best.")} | atoms)
    for steps in (1, 3):
        start = sx.solve(problem, "cg", sx.Stop(max_steps=steps), start=start)
        assert start.value <= 3.0 + start.certificate.rounding
        assert sx.verify(start.certificate, problem, start)
