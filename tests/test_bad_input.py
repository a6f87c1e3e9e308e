"""Bad input is refused at the door: ValueError or TypeError, in a sentence with the value, the place and the remedy."""

import numpy as np
import pytest
import scipy.sparse as sp

import spectraplex as sx

NAN, INF = float("nan"), float("inf")
EYE = np.eye(3)
LOPSIDED = np.array([[1.0, 2.0, 0.0], [2.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
SKEWED = np.array([[1.0, 2.0 + 1.0j], [2.0 + 1.0j, 1.0]])  # symmetric, not Hermitian


def completion(rows=(0, 1, 2), cols=(0, 1, 1), values=(1.0, 2.0, 3.0), shape=(3, 2), **options):
    return sx.Completion(rows, cols, values, shape, **options)


def smooth(function=lambda X: (0.5 * np.sum(X**2), X), shape=(3, 3), **options):
    return sx.Smooth(function, shape, **options)


def refused(*rows):
    """Parameters (id, call, error, words of the message); each becomes one test."""
    cases = [pytest.param(call, error, words, id=name) for name, call, error, words in rows]
    return pytest.mark.parametrize(("call", "error", "words"), cases)


def on_hermitian(objective):
    return sx.Problem(objective, sx.Spectrahedron(objective.shape[0]))


def check(call, error, words):
    with pytest.raises(error, match=words) as caught:
        call()
    assert str(caught.value).rstrip().endswith("."), "the message is a sentence"


@refused(
    ("nan value", lambda: completion(values=(1.0, NAN, 3.0)), ValueError, r"values\[1\] is nan; remove or replace"),
    ("infinite value", lambda: completion(values=(INF, 2.0, INF)), ValueError, r"values\[0\] is inf.*2 such in all"),
    ("words as values", lambda: completion(values=("a", "b", "c")), TypeError, "values must be numbers"),
    ("a table of values", lambda: completion(values=np.ones((3, 1))), ValueError, r"values must have 1 .*\(3, 1\)"),
    ("row too large", lambda: completion(rows=(0, 3, 1)), ValueError, r"rows\[1\] is 3, outside 0 … 2;.*from zero"),
    ("column too large", lambda: completion(cols=(0, 1, 2)), ValueError, r"cols\[2\] is 2, outside 0 … 1"),
    ("negative index", lambda: completion(rows=(0, -1, 2)), ValueError, r"rows\[1\] is -1, outside 0 … 2"),
    ("fractional index", lambda: completion(rows=(0, 1.5, 2)), TypeError, r"rows\[1\] is 1.5.*integer"),
    ("nan index", lambda: completion(cols=(0, NAN, 1)), TypeError, r"cols\[1\] is nan.*integer"),
    ("boolean index", lambda: completion(rows=(True, False, True)), TypeError, "rows must be integers, got dtype bool"),
    ("words as indices", lambda: completion(cols=("a", "b", "c")), TypeError, "cols must be integers"),
    ("a table of indices", lambda: completion(rows=[[0, 1, 2]]), ValueError, r"rows must be one-dim.*\(1, 3\)"),
    ("lengths differ", lambda: completion(values=(1.0, 2.0)), ValueError, "3 rows, 3 columns and 2 values; give one"),
    ("nothing observed", lambda: completion((), (), ()), ValueError, "no entry is observed; there is nothing to fit"),
    ("unknown loss", lambda: completion(loss="cubic"), ValueError, "unknown loss 'cubic'; known: 'squared', 'huber'"),
    ("delta of zero", lambda: completion(loss="huber", delta=0.0), ValueError, "delta must be positive.*got 0.0"),
    ("delta nan", lambda: completion(loss="huber", delta=NAN), ValueError, "delta must be positive.*got nan"),
    ("delta a word", lambda: completion(loss="huber", delta="x"), TypeError, "delta must be .*got 'x'"),
    ("weights too few", lambda: completion(weights=(1.0,)), ValueError, "1 weights for 3 observations; give one each"),
    ("weight of zero", lambda: completion(weights=(1.0, 0.0, 1.0)), ValueError, r"weights\[1\] is 0.0; .*positive"),
    ("negative weight", lambda: completion(weights=(1.0, 1.0, -2.0)), ValueError, r"weights\[2\] is -2.0"),
    ("nan weight", lambda: completion(weights=(NAN, 1.0, 1.0)), ValueError, r"weights\[0\] is nan"),
    ("complex weights", lambda: completion(weights=(1j, 1.0, 1.0)), TypeError, "weights must be real, got complex"),
    ("complex labels", lambda: completion(values=(1j, 0, 1), loss="logistic"), TypeError, "needs real labels 0/1"),
    ("mixed labels", lambda: completion(values=(-1, 0, 1), loss="logistic"), ValueError, r"values\[1\] is 0"),
    ("ratings as labels", lambda: completion(values=(0, 5, 1), loss="logistic"), ValueError, r"values\[1\] is 5"),
    ("shape of one", lambda: completion(shape=(3,)), ValueError, r"shape must be \(rows, columns\), got \(3,\)"),
    ("shape a number", lambda: completion(shape=3), ValueError, r"shape must be \(rows, columns\), got 3"),
    ("shape of zero", lambda: completion(shape=(0, 2)), ValueError, r"at least 1 × 1, got \(0, 2\)"),
    ("shape a fraction", lambda: completion(shape=(3.5, 2)), ValueError, r"shape must be .*whole.*\(3.5, 2\)"),
)
def test_completion(call, error, words):
    check(call, error, words)


@pytest.mark.parametrize("seed", [0, 1])
def test_duplicate_entries_are_named_with_both_positions(seed):
    order = np.random.default_rng(seed).permutation(20)
    rows, cols = np.divmod(np.arange(20), 4)
    rows, cols = rows[order], cols[order]
    rows[17], cols[17] = rows[5], cols[5]
    words = rf"entry \({rows[5]}, {cols[5]}\) is given twice, at positions 5 and 17 .*keep one, or their mean"
    with pytest.raises(ValueError, match=words):
        sx.Completion(rows, cols, np.ones(20), (5, 4))


@refused(
    ("nan", lambda: sx.Distance([[1.0, NAN], [0.0, 1.0]]), ValueError, r"A\[\(0, 1\)\] is nan; remove or replace it"),
    ("sparse nan", lambda: sx.Distance(sp.csr_array([[1.0, 0.0], [0.0, NAN]])), ValueError, r"A.data\[1\] is nan"),
    ("ragged", lambda: sx.Distance([[1.0, 2.0], [3.0]]), ValueError, "A is ragged: all rows need the same length"),
    ("one dimension", lambda: sx.Distance([1.0, 2.0]), ValueError, r"A must have 2 dimension\(s\), got shape \(2,\)"),
    ("empty", lambda: sx.Distance(np.ones((0, 3))), ValueError, r"A has shape \(0, 3\); it must be at least 1 × 1"),
    ("words", lambda: sx.Distance([["a"]]), TypeError, "A must be numbers"),
    ("nothing", lambda: sx.Distance(None), TypeError, "A must be numbers, got dtype object"),
    ("no measurements", lambda: sx.Sensing([], []), ValueError, "there are no measurements"),
    ("one sparse matrix", lambda: sx.Sensing(sp.csr_array(EYE), [1.0]), TypeError, "one sparse .*pass a list of them"),
    ("measurements nan", lambda: sx.Sensing([[1.0, NAN]], [1.0]), ValueError, r"measurements\[\(0, 1\)\] is nan"),
    (
        "four dimensions",
        lambda: sx.Sensing(np.ones((2, 2, 2, 2)), [1.0, 2.0]),
        ValueError,
        r"shape \(2, 2, 2, 2\); pass a stack \(N, m, n\)",
    ),
    (
        "sparse shapes differ",
        lambda: sx.Sensing([sp.csr_array(EYE), sp.csr_array(np.eye(2))], [1.0, 2.0]),
        ValueError,
        r"different shapes: \[\(2, 2\), \(3, 3\)\]",
    ),
    ("sparse and dense", lambda: sx.Sensing([sp.csr_array(EYE), EYE], [1.0, 2.0]), (TypeError, ValueError), "Sensing"),
    ("targets too few", lambda: sx.Sensing(np.ones((3, 2)), [1.0]), ValueError, "3 measurements but 1 targets"),
    ("complex targets", lambda: sx.Sensing(np.ones((1, 2)), [1j]), TypeError, "targets must be real"),
    ("nan target", lambda: sx.Sensing(np.ones((2, 2)), [1.0, NAN]), ValueError, r"targets\[1\] is nan"),
)
def test_distance_and_sensing(call, error, words):
    check(call, error, words)


@refused(
    (
        "dense distance",
        lambda: on_hermitian(sx.Distance(LOPSIDED)),
        ValueError,
        r"A is not Hermitian: A\[\(0, 1\)\] = 2 differs .* by 0.5; pass \(A \+ Aᴴ\)/2",
    ),
    (
        "sparse distance",
        lambda: sx.Problem(sx.Distance(sp.csr_array(LOPSIDED)), sx.TraceBall(3, 1.0)),
        ValueError,
        r"A is not Hermitian: entry \(0, 1\) differs .* by 0.5; pass \(A \+ Aᴴ\)/2",
    ),
    ("symmetric", lambda: on_hermitian(sx.Distance(SKEWED)), ValueError, "conjugate of its mirror by 2"),
    ("sparse", lambda: on_hermitian(sx.Distance(sp.csr_array(SKEWED))), ValueError, "conjugate of its mirror by 2"),
    (
        "stack",
        lambda: on_hermitian(sx.Sensing(np.stack([EYE, LOPSIDED]), [1.0, 2.0])),
        ValueError,
        r"measurements\[\(1, 0, 1\)\] = 2 differs",
    ),
    (
        "sparse list",
        lambda: on_hermitian(sx.Sensing([sp.csr_array(EYE), sp.csr_array(LOPSIDED)], [1.0, 2.0])),
        ValueError,
        r"measurements\[1\] is not Hermitian .*0.5\); pass \(A \+ Aᴴ\)/2",
    ),
)
def test_what_is_not_hermitian_is_refused_by_hermitian_domains(call, error, words):
    check(call, error, words)


def test_what_is_not_hermitian_is_welcome_on_the_ball():
    for A in (LOPSIDED, sp.csr_array(LOPSIDED)):
        assert sx.Problem(sx.Distance(A), sx.NuclearBall((3, 3), 1.0)).dtype == "float64"


@refused(
    ("d of zero", lambda: sx.Spectrahedron(0), ValueError, "Spectrahedron: d must be a positive whole number, got 0"),
    ("d a fraction", lambda: sx.Spectrahedron(2.5), ValueError, "d must be a positive whole number, got 2.5"),
    ("d negative", lambda: sx.TraceBall(-3, 1.0), ValueError, "TraceBall: d must be .* got -3"),
    ("d true", lambda: sx.Spectrahedron(True), ValueError, "got True"),
    ("trace of zero", lambda: sx.Spectrahedron(3, 0.0), ValueError, "trace must be positive and finite, got 0.0"),
    ("trace nan", lambda: sx.TraceBall(3, NAN), ValueError, "trace must be positive and finite, got nan"),
    ("trace infinite", lambda: sx.TraceBall(3, INF), ValueError, "trace must be positive and finite, got inf"),
    ("trace a word", lambda: sx.TraceBall(3, "much"), TypeError, "trace must be a number, got 'much'"),
    ("radius negative", lambda: sx.NuclearBall((3, 2), -1), ValueError, "radius must be positive and finite, got -1"),
    ("radius nan", lambda: sx.NuclearBall((3, 2), NAN), ValueError, "NuclearBall: radius .* got nan"),
    ("radius complex", lambda: sx.NuclearBall((3, 2), 1j), TypeError, "radius must be a number, got 1j"),
    ("no rows", lambda: sx.NuclearBall((0, 2), 1.0), ValueError, "rows must be a positive whole number, got 0"),
    ("half a column", lambda: sx.NuclearBall((3, 2.5), 1.0), ValueError, "columns must be .* got 2.5"),
    ("three sizes", lambda: sx.NuclearBall((3, 2, 1), 1.0), ValueError, r"shape must be \(rows, columns\), got \(3, 2"),
    ("one size", lambda: sx.NuclearBall(3, 1.0), ValueError, r"shape must be \(rows, columns\), got 3"),
)
def test_domains(call, error, words):
    check(call, error, words)


@refused(
    (
        "shapes disagree",
        lambda: sx.Problem(completion(), sx.NuclearBall((2, 3), 1.0)),
        ValueError,
        r"objective is about 3×2 matrices, the domain .*about 2×3",
    ),
    ("not square", lambda: sx.Problem(completion(), sx.Spectrahedron(3)), ValueError, "3×2 matrices, .*about 3×3"),
    ("no objective", lambda: sx.Problem(EYE, sx.Spectrahedron(3)), TypeError, "ndarray is no objective.*Smooth"),
    ("swapped", lambda: sx.Problem(sx.Spectrahedron(3), sx.Distance(EYE)), TypeError, "Spectrahedron is no objective"),
    ("no domain", lambda: sx.Problem(sx.Distance(EYE), 3), TypeError, "int is no domain; use Spectrahedron, TraceBall"),
    ("a class", lambda: sx.Problem(sx.Distance(EYE), sx.Spectrahedron), TypeError, "is no domain"),
)
def test_problems(call, error, words):
    check(call, error, words)


# ------------------------------------------------------------------------------------------------- methods and stops


@refused(
    ("step", lambda: sx.ConditionalGradient(step="big"), ValueError, "'line-search' or 'open-loop', got 'big'"),
    ("ror step", lambda: sx.RankOneRegularized(step="big"), ValueError, "'theorem' or 'line-search', got 'big'"),
    ("select", lambda: sx.RankOneRegularized(select="best"), ValueError, "'random' or 'greedy', got 'best'"),
    ("beta a word", lambda: sx.RankOneRegularized(beta="auto"), ValueError, "None, a number or 'adaptive', got 'auto'"),
    ("beta negative", lambda: sx.RankOneRegularized(beta=-1.0), ValueError, "beta must be a number ≥ 0, got -1.0"),
    ("beta nan", lambda: sx.RankOneRegularized(beta=NAN), ValueError, "beta must be a number ≥ 0, got nan"),
    ("scale nan", lambda: sx.RankOneRegularized(scale=NAN), ValueError, "scale must be a number ≥ 0, got nan"),
    ("full beta", lambda: sx.FullRankOneRegularized(beta=-2.0), ValueError, "None or a number ≥ 0, got -2.0"),
    ("gap negative", lambda: sx.Stop(gap=-1e-3), ValueError, "gap must be a number ≥ 0 or None, got -0.001"),
    ("gap nan", lambda: sx.Stop(relative_gap=NAN), ValueError, "relative_gap must be a number ≥ 0 or None, got nan"),
    ("gap a word", lambda: sx.Stop(gap="small"), ValueError, "gap must be a number ≥ 0 or None, got 'small'"),
    ("half a step", lambda: sx.Stop(max_steps=2.5), ValueError, "max_steps must be a whole number, got 2.5"),
    ("endless steps", lambda: sx.Stop(max_steps=INF), ValueError, "max_steps must be a whole number.*got inf"),
    ("seconds negative", lambda: sx.Stop(max_seconds=-1), ValueError, "max_seconds must be .*got -1"),
    ("products true", lambda: sx.Stop(max_products=True), ValueError, "max_products must be .*got True"),
    ("value nan", lambda: sx.Stop(value=NAN), ValueError, "value must be a number or None, got nan"),
    ("value a word", lambda: sx.Stop(value="low"), (TypeError, ValueError), "value must be a number.* got 'low'"),
    ("no threads", lambda: sx.set_threads(0), ValueError, "threads must be at least 1, got 0"),
)
def test_options(call, error, words):
    check(call, error, words)


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64])
def test_a_stop_takes_the_numbers_of_numpy(kind):
    number = kind(5)
    stop = sx.Stop(gap=number, max_steps=number, max_seconds=number, max_products=number, value=number)
    assert stop.wanted(1.0) == 5.0
    assert stop.spent(5, 0.0, 0.0) is sx.Status.STEP_LIMIT


def solved(**options):
    """A solve of a small problem whose function must never be reached."""

    def untouched(X):
        raise AssertionError("work was done before the input was checked")

    options = {"method": "cg", "stop": sx.Stop(max_steps=2)} | options
    return lambda: sx.solve(sx.Problem(smooth(untouched), sx.Spectrahedron(3)), **options)


U3, HALVES = np.eye(3)[:, :2], np.array([0.5, 0.5])


@refused(
    ("no problem", lambda: sx.solve(sx.Distance(EYE)), TypeError, "first argument must be a Problem, got Distance"),
    ("unknown method", solved(method="newton"), ValueError, "Unknown method 'newton'; known: cg, away, pairwise, ror"),
    ("no method", solved(method=3), TypeError, r"method must be a name \(cg.* or have init and step, got int"),
    ("a class as method", solved(method=sx.Pairwise), TypeError, "method must be "),
    ("no stop", solved(stop=100), TypeError, "stop must be a Stop, got int"),
    ("failure of zero", solved(failure=0.0), ValueError, "failure is a probability between 0 and 1, got 0.0"),
    ("failure of one", solved(failure=1), ValueError, "failure is a probability between 0 and 1, got 1"),
    ("failure nan", solved(failure=NAN), ValueError, "failure is a probability between 0 and 1, got nan"),
    ("negative seed", solved(seed=-1), ValueError, "seed.* -1"),
    ("an observer that cannot be called", solved(observers=[3]), TypeError, "observer.*int"),
    ("an observer without a list", solved(observers=print), TypeError, "observers must be "),
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
    ("start words", solved(start=(np.full((3, 1), "a"), np.ones(1))), (TypeError, ValueError), "start.*number"),
)
def test_solve(call, error, words):
    check(call, error, words)


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


@pytest.mark.parametrize("method", sx.METHODS)
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
        ('"format": 1', '"format": 99', "has format 99; this version reads 1"),
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
