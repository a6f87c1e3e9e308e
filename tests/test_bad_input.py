"""Bad input is refused at the door: ValueError or TypeError, in a sentence with the value, the place and the remedy."""

import re

import numpy as np
import pytest
import scipy.sparse as sp

import spectraplex as sx
from refusals import check, refused
from spectraplex.checks import hermitian_or_say

NAN, INF = float("nan"), float("inf")
EYE = np.eye(3)
LOPSIDED = np.array([[1.0, 2.0, 0.0], [2.5, 1.0, 0.0], [0.0, 0.0, 1.0]])
SKEWED = np.array([[1.0, 2.0 + 1.0j], [2.0 + 1.0j, 1.0]])  # symmetric, not Hermitian


def completion(rows=(0, 1, 2), cols=(0, 1, 1), values=(1.0, 2.0, 3.0), shape=(3, 2), **options):
    return sx.Completion(rows, cols, values, shape, **options)


def on_hermitian(objective):
    return sx.Problem(objective, sx.Spectrahedron(objective.shape[0]))


@refused(
    ("nan value", lambda: completion(values=(1.0, NAN, 3.0)), ValueError, r"values\[1\] is nan; remove or replace"),
    ("infinite value", lambda: completion(values=(INF, 2.0, INF)), ValueError, r"values\[0\] is inf.*2 such in all"),
    ("words as values", lambda: completion(values=("a", "b", "c")), TypeError, "values must be numbers"),
    ("masked values", lambda: completion(values=np.ma.array(EYE[0], mask=EYE[1])), ValueError, "values.*mask"),
    ("a table of values", lambda: completion(values=np.ones((3, 1))), ValueError, r"values must have 1 .*\(3, 1\)"),
    ("row too large", lambda: completion(rows=(0, 3, 1)), ValueError, r"rows\[1\] is 3, outside 0 … 2;.*from zero"),
    ("column too large", lambda: completion(cols=(0, 1, 2)), ValueError, r"cols\[2\] is 2, outside 0 … 1"),
    ("negative index", lambda: completion(rows=(0, -1, 2)), ValueError, r"rows\[1\] is -1, outside 0 … 2"),
    ("fractional index", lambda: completion(rows=(0, 1.5, 2)), TypeError, r"rows\[1\] is 1.5.*integer"),
    ("nan index", lambda: completion(cols=(0, NAN, 1)), TypeError, r"cols\[1\] is nan.*integer"),
    ("huge index", lambda: completion(rows=(0, 1e300, 2)), ValueError, r"rows\[1\] is 1e\+300, outside 0 … 2"),
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


# SciPy has sparse arrays of one dimension since 1.13; before, the same call makes a row.
SPARSE_VECTOR = sp.coo_array([1.0, 2.0])
SPARSE_VECTORS = [("sparse one dimension", lambda: sx.Distance(SPARSE_VECTOR), ValueError, r"A must have 2 .*\(2,\)")]
SPARSE_VECTORS = SPARSE_VECTORS if SPARSE_VECTOR.ndim == 1 else []


@refused(
    ("nan", lambda: sx.Distance([[1.0, NAN], [0.0, 1.0]]), ValueError, r"A\[\(0, 1\)\] is nan; remove or replace it"),
    ("sparse nan", lambda: sx.Distance(sp.csr_array([[1.0, 0.0], [0.0, NAN]])), ValueError, r"A.data\[1\] is nan"),
    ("ragged", lambda: sx.Distance([[1.0, 2.0], [3.0]]), ValueError, "A is ragged: all rows need the same length"),
    ("one dimension", lambda: sx.Distance([1.0, 2.0]), ValueError, r"A must have 2 dimension\(s\), got shape \(2,\)"),
    *SPARSE_VECTORS,
    ("masked", lambda: sx.Distance(np.ma.array(EYE, mask=EYE == 0)), ValueError, "A.*mask"),
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
    ("d of zero", lambda: sx.Spectrahedron(0), ValueError, "Spectrahedron: d must be a whole number ≥ 1, got 0"),
    ("d a fraction", lambda: sx.Spectrahedron(2.5), ValueError, "d must be a whole number ≥ 1, got 2.5"),
    ("d negative", lambda: sx.TraceBall(-3, 1.0), ValueError, "TraceBall: d must be .* got -3"),
    ("d true", lambda: sx.Spectrahedron(True), ValueError, "got True"),
    ("trace of zero", lambda: sx.Spectrahedron(3, 0.0), ValueError, "trace must be positive and finite, got 0.0"),
    ("trace nan", lambda: sx.TraceBall(3, NAN), ValueError, "trace must be positive and finite, got nan"),
    ("trace infinite", lambda: sx.TraceBall(3, INF), ValueError, "trace must be positive and finite, got inf"),
    ("trace a word", lambda: sx.TraceBall(3, "much"), TypeError, "trace must be a number, got 'much'"),
    ("radius negative", lambda: sx.NuclearBall((3, 2), -1), ValueError, "radius must be positive and finite, got -1"),
    ("radius nan", lambda: sx.NuclearBall((3, 2), NAN), ValueError, "NuclearBall: radius .* got nan"),
    ("radius complex", lambda: sx.NuclearBall((3, 2), 1j), TypeError, "radius must be a number, got 1j"),
    ("radius tiny", lambda: sx.NuclearBall((3, 2), 1e-310), ValueError, "radius 1e-310 is too small .* multiply data"),
    ("trace tiny", lambda: sx.TraceBall(3, 5e-324), ValueError, "TraceBall: trace 5e-324 is too small for floating"),
    ("fixed trace tiny", lambda: sx.Spectrahedron(3, 1e-300), ValueError, "Spectrahedron: trace 1e-300 is too small"),
    ("lam tiny", lambda: sx.Penalized(sx.Distance([[1.0]]), 1e-310), ValueError, "lam 1e-310 is too small for float"),
    (
        "path tiny",
        lambda: sx.path(sx.Problem(completion(), sx.NuclearBall((3, 2), 1.0)), [1e-310]),
        ValueError,
        "path: the radius 1e-310 is too small for float",
    ),
    (
        "radius of NumPy, complex",
        lambda: sx.NuclearBall((3, 2), np.complex128(1)),
        TypeError,
        "radius must be a number",
    ),
    ("radius of NumPy, true", lambda: sx.NuclearBall((3, 2), np.True_), TypeError, "radius must be a number"),
    ("no rows", lambda: sx.NuclearBall((0, 2), 1.0), ValueError, "rows must be a whole number ≥ 1, got 0"),
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
    ("select", lambda: sx.RankOneRegularized(select="best"), ValueError, "'random', 'greedy' or 'worthy', got 'best'"),
    ("beta a word", lambda: sx.RankOneRegularized(beta="auto"), ValueError, "None, a number or 'adaptive', got 'auto'"),
    (
        "beta negative",
        lambda: sx.RankOneRegularized(beta=-1.0),
        ValueError,
        "beta must be a non-negative number, got -1.0",
    ),
    ("beta nan", lambda: sx.RankOneRegularized(beta=NAN), ValueError, "beta must be a non-negative number, got nan"),
    ("scale nan", lambda: sx.RankOneRegularized(scale=NAN), ValueError, "scale must be a non-negative number, got nan"),
    ("beta complex", lambda: sx.RankOneRegularized(beta=1j), (TypeError, ValueError), "beta must be .* got 1j"),
    ("scale a word", lambda: sx.RankOneRegularized(scale="x"), (TypeError, ValueError), "scale must be .* got 'x'"),
    ("oracle a word", lambda: sx.RankOneRegularized(oracle="exact"), TypeError, "oracle must be None or a function"),
    ("oracle a class", lambda: sx.ConditionalGradient(oracle=dict), TypeError, "like methods.oracle.find, got <class"),
    ("full beta word", lambda: sx.FullRankOneRegularized(beta="x"), (TypeError, ValueError), "beta must be .*got 'x'"),
    (
        "full beta",
        lambda: sx.FullRankOneRegularized(beta=-2.0),
        ValueError,
        "beta must be a non-negative number, got -2.0",
    ),
    ("gap negative", lambda: sx.Stop(gap=-1e-3), ValueError, "gap must be a number ≥ 0 or None, got -0.001"),
    ("gap nan", lambda: sx.Stop(relative_gap=NAN), ValueError, "relative_gap must be a number ≥ 0 or None, got nan"),
    ("gap a word", lambda: sx.Stop(gap="small"), ValueError, "gap must be a number ≥ 0 or None, got 'small'"),
    ("half a step", lambda: sx.Stop(max_steps=2.5), ValueError, "max_steps must be a whole number, got 2.5"),
    ("endless steps", lambda: sx.Stop(max_steps=INF), ValueError, "max_steps must be a whole number.*got inf"),
    ("seconds negative", lambda: sx.Stop(max_seconds=-1), ValueError, "max_seconds must be .*got -1"),
    ("products true", lambda: sx.Stop(max_products=True), ValueError, "max_products must be .*got True"),
    ("gap endless", lambda: sx.Stop(max_steps=10**400), ValueError, "max_steps must be a whole number"),
    ("a class as trace", lambda: sx.Spectrahedron(2, float), TypeError, "trace must be a number, got <class 'float'>"),
    ("a huge radius", lambda: sx.NuclearBall((2, 2), 10**400), ValueError, "radius must be positive and finite"),
    ("cg step an array", lambda: sx.ConditionalGradient(step=EYE), ValueError, "step must be 'line-search' or"),
    ("value nan", lambda: sx.Stop(value=NAN), ValueError, "value must be a number or None, got nan"),
    ("value a word", lambda: sx.Stop(value="low"), (TypeError, ValueError), "value must be a number.* got 'low'"),
)
def test_options(call, error, words):
    check(call, error, words)


BALL = sx.Problem(sx.Completion([0, 1, 2], [0, 1, 1], [1.0, 2.0, 3.0], (3, 2)), sx.NuclearBall((3, 2), 1.0))
RAGGED = [[1.0, 2.0], [3.0]]


@refused(
    ("ragged targets", lambda: sx.Fit(sx.Identity((2, 2)), RAGGED), ValueError, "Fit: targets is ragged"),
    ("ragged rows", lambda: sx.Entries(RAGGED, [0, 1], (2, 2)), ValueError, "Entries: rows is ragged"),
    ("ragged tuples", lambda: sx.Differences(np.eye(3), RAGGED), ValueError, "Differences: tuples is ragged"),
    ("ragged X", lambda: sx.certify(BALL, RAGGED), ValueError, "certify: X is ragged"),
    ("dates", lambda: sx.certify(BALL, np.zeros((3, 2), "datetime64[D]")), ValueError, "certify: X is .*datetime"),
    ("ragged entries", lambda: sx.solve(BALL).X.entries(RAGGED, 0), ValueError, "entries: rows and cols must be"),
    ("project without a stop", lambda: sx.project(EYE, sx.Spectrahedron(3), 3), TypeError, "project: stop must be a"),
    ("project seed", lambda: sx.project(EYE, sx.Spectrahedron(3), seed=-1), ValueError, "project: seed must be"),
    ("counterpart of none", lambda: sx.counterpart(EYE, EYE), TypeError, "counterpart: the problem must be a"),
    ("counterpart of another shape", lambda: sx.counterpart(BALL, np.eye(9)), ValueError, "counterpart: X is an array"),
    ("counterpart outside", lambda: sx.counterpart(BALL, np.ones((3, 2))), ValueError, "counterpart: X lies .*outside"),
    (
        "counterpart of shorter factors",  # kernels would read past their end
        lambda: sx.counterpart(BALL, (np.ones((2, 1)), np.ones(1), np.ones((2, 1)))),
        ValueError,
        "counterpart: X has factors of shapes .*3×2",
    ),
    ("check seed", lambda: sx.check(BALL.objective, seed="x"), ValueError, "check: seed must be a whole number"),
    ("check hermitian", lambda: sx.check(BALL.objective, hermitian=EYE), TypeError, "check: hermitian must be True"),
)
def test_what_is_no_array_no_stop_and_no_matrix(call, error, words):
    check(call, error, words)


@pytest.mark.parametrize("count", [0, -1, 2.5, "two"])
def test_threads(count):
    before = sx.set_threads(1)
    try:
        with pytest.raises((TypeError, ValueError), match=f"threads must be .*got {count!r}"):
            sx.set_threads(count)
        assert sx.set_threads(1) == 1
    finally:
        sx.set_threads(before)


@pytest.mark.parametrize("kind", [np.int64, np.float32, np.float64])
def test_a_stop_takes_the_numbers_of_numpy(kind):
    number = kind(5)
    stop = sx.Stop(gap=number, max_steps=number, max_seconds=number, max_products=number, value=number)
    assert stop.wanted(1.0) == 5.0
    assert stop.spent(5, 0.0, 0.0) is sx.Status.STEP_LIMIT


@pytest.mark.parametrize("block", [1, 7, 40, 1 << 20])
@pytest.mark.parametrize("shape", [(1, 1), (9, 9), (4, 5, 5), (50, 3, 3)])
def test_the_worst_of_what_is_not_hermitian_is_found_whatever_the_blocks(monkeypatch, shape, block):
    monkeypatch.setattr("spectraplex.checks._BLOCK", block)
    rng = np.random.default_rng(len(shape) * 100 + shape[-1])
    A = rng.standard_normal(shape) + 1j * rng.standard_normal(shape)
    good = A + A.conj().swapaxes(-1, -2)
    assert hermitian_or_say("Here", "A", good)
    tiny = good.copy()
    tiny[(*(0,) * (len(shape) - 1), -1)] += 1e-14j
    assert not hermitian_or_say("Here", "A", tiny)
    skew = np.abs(A - A.conj().swapaxes(-1, -2))
    place = tuple(int(i) for i in np.unravel_index(np.argmax(skew), shape))
    with pytest.raises(ValueError, match=re.escape(f"A[{place}] = {A[place]:.6g} differs")) as said:
        hermitian_or_say("Here", "A", A)
    assert f"by {skew[place]:.3g};" in str(said.value)
