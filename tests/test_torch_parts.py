"""What the Torch place is made of, beside NumPy's: functions on tensors, patterns, decks, marks, tall arrays."""

from __future__ import annotations

import operator
import pickle

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st
from scipy import special

torch = pytest.importorskip("torch")

from on_torch import AWAY, CPU, back, tensor  # noqa: E402
from spectraplex.places.deck import NumPyDeck  # noqa: E402
from spectraplex.places.marks import entries_mark, rows_mark  # noqa: E402
from spectraplex.places.pattern import Pattern  # noqa: E402
from spectraplex.places.tall import Tall  # noqa: E402
from spectraplex.places.torch_array import TorchArray  # noqa: E402
from spectraplex.places.torch_deck import TorchDeck  # noqa: E402
from spectraplex.places.torch_functions import _FUNCTIONS  # noqa: E402
from spectraplex.places.torch_marks import entries_mark as torch_entries_mark  # noqa: E402
from spectraplex.places.torch_marks import rows_mark as torch_rows_mark  # noqa: E402
from spectraplex.places.torch_pattern import TorchPattern, TorchSparse  # noqa: E402
from spectraplex.places.torch_ufuncs import _UFUNCS  # noqa: E402

KINDS = ["float64", "float32", "complex128", "complex64"]
seeds = st.integers(0, 2**32 - 1)


def drawn(seed, shape, kind="float64"):
    rng = np.random.default_rng(seed)
    out = rng.standard_normal(shape) * 10.0 ** rng.integers(-2, 3)
    if np.dtype(kind).kind == "c":
        out = out + 1j * rng.standard_normal(shape)
    return out.astype(kind)


def alike(got, want, rounding=1e-13):
    """Same shape, same kind of numbers, and numbers within rounding of their size; infinities and NaN where NumPy has
    them."""
    got, want = np.asarray(back(got)), np.asarray(want)
    assert got.shape == want.shape and got.dtype.kind == want.dtype.kind, (got.dtype, want.dtype)
    if want.dtype.kind in "bi":
        assert np.array_equal(got, want)
        return
    single = want.dtype in (np.float32, np.complex64)
    odd = ~np.isfinite(want)
    assert np.array_equal(got[odd], want[odd], equal_nan=True)
    top = float(np.max(np.abs(want[~odd]), initial=1.0))
    assert np.max(np.abs(got[~odd] - want[~odd]), initial=0.0) <= (2e-5 if single else rounding) * top


# ------------------------------------------------------------------------------------------ elementwise functions

REAL_ONLY = {
    "logaddexp", "hypot", "maximum", "minimum", "sign", "greater", "greater_equal", "less", "less_equal", "expit",
    "xlogy", "xlog1py", "entr", "gammaln", "log_expit", "expm1", "log1p",
}  # fmt: skip
POSITIVE = {"sqrt", "log", "log1p", "xlogy", "xlog1py", "entr", "gammaln", "power"}
BOOLEAN = {"logical_and", "logical_or", "logical_not", "bitwise_and", "bitwise_or", "invert"}


def the_ufunc(name):
    name = {"true_divide": "divide"}.get(name, name)
    return getattr(np, name) if hasattr(np, name) else getattr(special, name)


@pytest.mark.parametrize("name", sorted(_UFUNCS))
@given(seed=seeds, size=st.integers(0, 5), kind=st.sampled_from(KINDS))
def test_elementwise_functions(name, seed, size, kind):
    ufunc = the_ufunc(name)
    if (name in REAL_ONLY and np.dtype(kind).kind == "c") or name in ("xlogy", "xlog1py"):
        kind = "float64"  # SciPy makes a single-precision array double beside a plain number
    given_ = [drawn(seed + k, (size, 3), kind) for k in range(ufunc.nin)]
    if name in POSITIVE:
        given_ = [np.abs(each).astype(kind) for each in given_]
        if name == "power":
            given_[1] = np.full_like(given_[1], 2.0)
    if name in BOOLEAN:
        given_ = [each.real > 0.0 for each in given_]
    with np.errstate(all="ignore"):
        alike(ufunc(*map(tensor, given_)), ufunc(*given_))
        if ufunc.nin == 2 and name not in BOOLEAN:  # a number, or an array of this machine, on either side
            number = given_[1].flat[0].item() if size else 2.0
            alike(ufunc(tensor(given_[0]), number), ufunc(given_[0], number))
            alike(ufunc(number, tensor(given_[1])), ufunc(number, given_[1]))
            alike(ufunc(tensor(given_[0]), given_[1]), ufunc(*given_))
            alike(ufunc(given_[0], tensor(given_[1])), ufunc(*given_))


@pytest.mark.parametrize("name", ["add", "sub", "mul", "truediv", "pow", "lt", "le", "gt", "ge", "eq", "ne"])
@given(seed=seeds, kind=st.sampled_from(KINDS))
def test_operators(name, seed, kind):
    how, a, b = getattr(operator, name), drawn(seed, (4, 3), kind), drawn(seed + 1, (3,), kind)
    if name in ("lt", "le", "gt", "ge"):
        a, b = a.real, b.real
    if name == "pow":
        a, b = np.abs(a), 3.0
    alike(how(tensor(a), tensor(b) if np.ndim(b) else b), how(a, b))
    if name != "pow":
        alike(how(tensor(a), b), how(a, b))
        alike(how(b, tensor(a)), how(b, a))
        alike(how(tensor(a), 0.3), how(a, 0.3))
        alike(how(0.3, tensor(a)), how(0.3, a))
        wide = a.astype(np.result_type(a, np.float64))
        alike(how(1e-200, tensor(wide)), how(1e-200, wide))
        alike(how(0.3, tensor(np.arange(1, 6))), how(0.3, np.arange(1, 6)))


@given(seed=seeds, kind=st.sampled_from(KINDS))
def test_shapes_views_and_writing(seed, kind):
    a, t = drawn(seed, (5, 3), kind), tensor(drawn(seed, (5, 3), kind).copy())
    index, mask = np.array([3, 0, 3]), a[:, 0].real > 0.0
    for pick in (slice(1, 4), index, mask, (slice(None), 1), (slice(None), slice(0, 2)), (index, 1), 2):
        alike(t[pick], a[pick])
    alike(t.T, a.T)
    alike(t.conj(), a.conj())
    alike(t.real, a.real)
    alike(t.imag, a.imag)
    alike(t.reshape(3, 5), a.reshape(3, 5))
    alike(t.ravel(), a.ravel())
    alike(-t, -a)
    alike(abs(t), abs(a))
    assert (t.shape, t.size, t.ndim, t.nbytes, len(t), t.dtype) == (a.shape, a.size, a.ndim, a.nbytes, 5, a.dtype)
    kept = t.copy()
    a[index] = 7.0
    t[index] = 7.0
    a[:, 1] *= 2.0
    t[:, 1] = 2.0 * t[:, 1]
    alike(t, a)
    t += kept
    t -= kept
    t *= 3.0
    alike(t, 3.0 * a)
    alike(kept, drawn(seed, (5, 3), kind))


def test_nothing_tall_comes_here_unseen():
    for refused in (lambda: np.asarray(tensor(np.eye(2))), lambda: np.ascontiguousarray(tensor(np.eye(2)))):
        with pytest.raises(TypeError, match="handed to NumPy"):
            refused()
    with pytest.raises(TypeError, match=r"numpy\.kron is not known"):
        np.kron(tensor(np.eye(2)), np.eye(2))
    with pytest.raises(TypeError, match=r"numpy\.sin"):
        np.sin(tensor(np.eye(2)))
    with pytest.raises(TypeError, match="out= or where="):
        np.add(tensor(np.eye(2)), 1.0, out=np.eye(2))


# ---------------------------------------------------------------------------------------------- other functions


def whole(seed, size, top):
    return np.random.default_rng(seed).integers(0, top, size)


def rebuilt(values, vectors):
    """Eigenvectors are known up to a phase, the matrix is known."""
    return [values, (vectors * values) @ vectors.conj().T]


def rebuilt_svd(U, s, Vh):
    return [s, (U * s) @ Vh]


#: name ↦ what is asked of NumPy and of tensors: ``a`` is 5 × 3, ``v`` and ``w`` are 15 long, ``i`` is whole numbers
ASKED = {
    "sum": lambda f, x: [np.sum(f(x.a)), np.sum(f(x.a), axis=0), f(x.a).sum(axis=1)],
    "mean": lambda f, x: [np.mean(f(x.a)), np.mean(f(x.a), axis=1), f(x.a).mean()],
    "max": lambda f, x: [np.max(f(x.r)), np.max(f(x.r), axis=0, initial=0.1), f(x.r[:0]).max(initial=0.0)],
    "min": lambda f, x: [np.min(f(x.r)), np.min(f(x.r), axis=1, initial=0.1), np.min(f(x.r[:0]), initial=np.inf)],
    "all": lambda f, x: [np.all(f(x.r) > 0), (f(x.r) > -1e9).all(), np.all(f(x.r) > 0, axis=0)],
    "any": lambda f, x: [np.any(f(x.r) > 0), (f(x.r) > 1e9).any(), np.any(f(x.r) > 0, axis=1)],
    "argmax": lambda f, x: [np.argmax(f(x.r)), np.argmax(f(x.r), axis=0)],
    "argmin": lambda f, x: [np.argmin(f(x.r)), f(x.r).argmin(axis=1)],
    "where": lambda f, x: [
        np.where(f(x.r) > 0, f(x.a), 0.0), np.where(f(x.r) > 0, 1.0, f(x.a)), np.where(f(x.r) > 0, 1.0, -np.inf),
        np.where(f(x.r) > 0, f(x.a), f(2.0 * x.a)),
    ],
    "clip": lambda f, x: [np.clip(f(x.r), -0.5, 0.5), np.clip(f(x.r), 0.0, None)],
    "dot": lambda f, x: [np.dot(f(x.v), f(x.w)), np.dot(f(x.v), x.w), f(x.a) @ f(x.a.T), x.a.T @ f(x.a)],
    "vdot": lambda f, x: [np.vdot(f(x.v), f(x.w)), np.vdot(x.v, f(x.w)), np.vdot(f(x.a), f(x.a))],
    "einsum": lambda f, x: [
        np.einsum("ik,ik->k", f(x.a), f(x.a)), np.einsum("ik,ik->i", f(x.a), x.a),
        np.einsum("ek,ek->e", f(x.a), f(x.a)), np.einsum("ij,kj->ik", f(x.a), f(x.a)),
    ],
    "concatenate": lambda f, x: [
        np.concatenate([f(x.a), f(x.a)]), np.concatenate([f(x.a), x.a], axis=1), np.concatenate([[0], f(x.i)]),
        np.concatenate([f(x.r), f(x.a)]),
    ],
    "append": lambda f, x: [np.append(f(x.i), 7), np.append(f(x.v), x.w)],
    "argsort": lambda f, x: [np.argsort(f(x.i), kind="stable")],
    "stack": lambda f, x: [np.stack([f(x.v), f(x.w)]), np.stack([f(x.v), f(x.w)], axis=1)],
    "zeros_like": lambda f, x: [np.zeros_like(f(x.a)), np.zeros_like(f(x.a), dtype=np.float32)],
    "ones_like": lambda f, x: [np.ones_like(f(x.a)), np.ones_like(f(x.i), dtype=float)],
    "empty_like": lambda f, x: [0.0 * np.ones_like(np.empty_like(f(x.a)))],
    "full_like": lambda f, x: [np.full_like(f(x.r), 3.0), np.full_like(f(x.r), np.nan)],
    "norm": lambda f, x: [np.linalg.norm(f(x.v)), np.linalg.norm(f(x.a)), np.linalg.norm(f(x.a), axis=0)],
    "eigh": lambda f, x: rebuilt(*np.linalg.eigh(f(x.a.conj().T @ x.a))),
    "svd": lambda f, x: rebuilt_svd(*np.linalg.svd(f(x.a), full_matrices=False)),
    "bincount": lambda f, x: [
        np.bincount(f(x.i), f(x.v.real), 9), np.bincount(x.i, f(x.v.real)), 1.0 * np.bincount(f(x.i), minlength=9),
    ],
    "repeat": lambda f, x: [np.repeat(f(x.v), f(x.i)), np.repeat(f(x.a), 2, axis=1)],
    "nonzero": lambda f, x: list(np.nonzero(f(x.r) > 0)),
    "diff": lambda f, x: [np.diff(f(x.v))],
    "outer": lambda f, x: [np.outer(f(x.v), f(x.w)), np.outer(f(x.v), x.w)],
    "shape": lambda f, x: [np.array(np.shape(f(x.a)))],
    "ndim": lambda f, x: [np.array(np.ndim(f(x.a)))],
    "size": lambda f, x: [np.array(np.size(f(x.a)))],
    "reduceat": lambda f, x: [
        np.add.reduceat(f(x.v.real), f(x.starts)), np.maximum.reduceat(f(x.v.real), f(x.starts)),
        np.minimum.reduceat(f(x.v.real), x.starts),
    ],
    "reduce": lambda f, x: [np.add.reduce(f(x.a)), np.maximum.reduce(f(x.r), axis=1)],
}  # fmt: skip


class Given:
    def __init__(self, seed, kind):
        self.a, self.v, self.w = (drawn(seed + k, shape, kind) for k, shape in enumerate([(5, 3), 15, 15]))
        self.r, self.i, self.starts = self.a.real.copy(), whole(seed, 15, 6), np.array([0, 2, 3, 9])


def test_every_function_in_the_list_is_asked():
    known = {function.__name__ for function in _FUNCTIONS} - {"amax", "amin", "result_type"}
    assert known == set(ASKED) - {"reduceat", "reduce"}


@pytest.mark.parametrize("name", ASKED)
@given(seed=seeds, kind=st.sampled_from(KINDS))
def test_functions(name, seed, kind):
    x = Given(seed, kind)
    for got, want in zip(ASKED[name](tensor, x), ASKED[name](lambda each: each, x), strict=True):
        alike(got, want)


def test_types_that_come_out():
    a, b = tensor(np.ones(2, np.float32)), tensor(np.ones(2, np.complex128))
    assert np.result_type(a, b) == np.complex128 and np.result_type(a, np.float64) == np.float64
    assert (a + 1.0).dtype == np.float32 and (a * b).dtype == np.complex128
    assert tensor(np.ones(2, np.uint64)).dtype == np.int64 and tensor(np.ones(2, np.uint32)).dtype == np.int32
    assert tensor(np.ones(2, np.float16)).dtype == np.float64
    assert isinstance(np.sum(a), np.float32) and isinstance(float(np.vdot(a, a)), float)


# ------------------------------------------------------------------------------------------------------ patterns


def table(seed, shape, share, kind):
    rng = np.random.default_rng(seed)
    rows, cols = np.nonzero(rng.random(shape) < share)
    pattern = Pattern.from_sorted(rows, cols, shape)
    return pattern, TorchPattern.of(pattern, CPU), drawn(seed, rows.size, kind)


@pytest.mark.parametrize("kind", KINDS)
@given(
    seed=seeds,
    shape=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    share=st.sampled_from([0.0, 0.3, 1.0]),
    width=st.sampled_from([0, 1, 2, 5, 70]),
)
def test_patterns(kind, seed, shape, share, width):
    here, there, data = table(seed, shape, share, kind)
    (m, n), t = shape, tensor(data)
    U, V = drawn(seed + 1, (m, width), kind), drawn(seed + 2, (n, width), kind)
    s = np.random.default_rng(seed).uniform(0.5, 2.0, width)
    assert there.size == here.size and there.shape == here.shape
    assert np.array_equal(back(there.rows), here.rows) and np.array_equal(back(there.indices), here.indices)
    assert np.array_equal(there.here().indptr, here.indptr)
    wide = "complex128" if "complex" in kind else "float64"  # sums are in double, whatever the numbers are
    P, Q, exact = U.astype(wide), V.astype(wide), data.astype(wide)
    alike(there.sample(tensor(U), tensor(V), s), here.sample(P, Q, s), 1e-12)
    alike(there.sample(tensor(U), tensor(V)), here.sample(P, Q), 1e-12)
    if width:
        alike(there.multiply(t, tensor(V)), here.multiply(exact, Q), 1e-12)
        alike(there.scores(t, tensor(U), tensor(V), width), here.scores(exact, P, Q, width), 1e-11)
    alike(there.multiply(t, tensor(drawn(seed, n))), here.multiply(exact, drawn(seed, n)), 1e-12)
    turned, flipped = there.flip(t)
    wanted, values = here.flip(data)
    assert np.array_equal(back(turned.indices), wanted.indices) and np.array_equal(back(flipped), values)
    assert np.array_equal(back(turned.indptr), wanted.indptr)
    v, w = drawn(seed, m), drawn(seed + 3, n)
    alike(there.add(tensor(w)), here.add(w), 1e-12)
    z = drawn(seed + 4, here.size)
    alike(there.spread(tensor(z), tensor(v), tensor(w)), here.spread(z, v, w))
    for one, other in zip(there.sums(t), here.sums(exact), strict=True):
        alike(one, other, 1e-12)


@pytest.mark.parametrize("kind", KINDS)
def test_sparse_matrices(kind):
    rng = np.random.default_rng(0)
    A = sp.csr_array(drawn(0, (9, 6), kind) * (rng.random((9, 6)) < 0.4))
    B, V, U = TorchSparse(A, CPU), drawn(1, (6, 3), kind), drawn(2, (9, 3), kind)
    alike(B @ tensor(V), A @ V)
    alike(B @ V, A @ V)
    alike(B.T @ tensor(U), A.T @ U)
    alike(B.conj() @ tensor(V), A.conj() @ V)
    alike(abs(B) @ tensor(np.abs(V)), abs(A) @ np.abs(V))
    alike(B.toarray(), A.toarray())
    alike(abs(B).power(2).sum(axis=1), np.asarray(abs(A).power(2).sum(axis=1)).reshape(-1))
    alike(abs(B).power(2).sum(axis=0), np.asarray(abs(A).power(2).sum(axis=0)).reshape(-1))
    assert B.shape == A.shape and B.dtype == A.dtype


# --------------------------------------------------------------------------------------------------------- decks


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("compiled", [False, True])
def test_decks(kind, compiled):
    """Three passes a step, several steps, on the same numbers: sums within rounding, pairs within single precision."""
    rng, (d, k), history = np.random.default_rng(0), (40, 3), 3
    Y, gradient = (drawn(seed, (d, k), kind) for seed in (1, 2))
    scaling = rng.uniform(0.5, 2.0, (d, k))
    here = NumPyDeck(Y.copy(), gradient.copy(), scaling, history, compiled)
    there = TorchDeck(tensor(Y.copy()), tensor(gradient.copy()), tensor(scaling), history)
    for step in range(5):
        kept = [each % history for each in range(max(0, step - history), step)]
        slots, free = kept, step % history  # the fourth lies where the oldest was
        a, c = rng.standard_normal(len(slots)), rng.standard_normal(len(slots))
        assert there.back(slots, a) == pytest.approx(here.back(slots, a), rel=1e-5, abs=1e-3)
        assert there.forth(slots, c, 0.7, free) == pytest.approx(here.forth(slots, c, 0.7, free), rel=1e-5)
        alike(back(there.ahead).astype("c8"), here.ahead.astype("c8"))
        if step == 1:
            assert there.shorten(free, 0.25) == pytest.approx(here.shorten(free, 0.25), rel=1e-5)
        product = drawn(5 + step, (d, k), kind)
        slots = [each for each in slots if each != free]
        dots = here.turn(slots, free, product.copy(), 0.1, 2.0)
        assert there.turn(slots, free, tensor(product.copy()), 0.1, 2.0) == pytest.approx(dots, rel=1e-4, abs=1e-2)
        alike(back(there.here).astype("c8"), here.here.astype("c8"))
        if step == 1:
            scaling = rng.uniform(0.5, 2.0, (d, k))
            here.rescale(scaling)
            there.rescale(tensor(scaling))


# --------------------------------------------------------------------------------------------------------- marks


@pytest.mark.parametrize("kind", [*KINDS, "int64", "int32", "bool"])
@given(
    seed=seeds,
    shape=st.one_of(st.tuples(st.integers(0, 9), st.integers(0, 5)), st.tuples(st.integers(0, 50))),
    first=st.integers(0, 2**40),
)
def test_marks_have_the_same_bits(kind, seed, shape, first):
    numbers = drawn(seed, shape, "complex128" if "complex" in kind else "float64").astype(kind)
    assert np.array_equal(torch_rows_mark(tensor(numbers).t, first), rows_mark(numbers, first))


def test_marks_of_long_blocks_in_pieces():
    numbers = drawn(0, (70_000, 130))
    assert np.array_equal(torch_rows_mark(tensor(numbers).t), rows_mark(numbers))


@pytest.mark.parametrize("kind", KINDS)
@given(seed=seeds, size=st.integers(0, 30), weighted=st.booleans())
def test_marks_of_entries(kind, seed, size, weighted):
    rows, cols, values = whole(seed, size, 9), whole(seed + 1, size, 7), drawn(seed, size, kind)
    weights = drawn(seed + 2, size) if weighted else None
    want = entries_mark(rows, cols, values, weights)
    held = None if weights is None else tensor(weights).t
    assert np.array_equal(torch_entries_mark(tensor(rows).t, tensor(cols).t, tensor(values).t, held), want)


def test_signed_zeros_and_odd_numbers_have_their_own_marks():
    numbers = np.array([[0.0, -0.0, np.inf, -np.inf, np.nan, 5e-324]])
    assert np.array_equal(torch_rows_mark(tensor(numbers).t), rows_mark(numbers))
    assert not np.array_equal(torch_rows_mark(tensor(np.zeros((1, 1))).t), rows_mark(-np.zeros((1, 1))))


# --------------------------------------------------------------------------------------------------- tall arrays


@pytest.mark.parametrize("kind", KINDS)
def test_tall_arrays(kind):
    numbers = drawn(3, (7, 4), kind)
    tall = AWAY.packed(tensor(numbers.copy()))
    assert isinstance(tall, Tall) and tall.shape == (7, 4) and tall.dtype == numbers.dtype
    assert np.array_equal(np.asarray(tall), numbers) and np.array_equal(tall.rows(2, 5), numbers[2:5])
    assert np.array_equal(tall.mark(), rows_mark(numbers)) and tall.finite()
    numbers[2, 1] = np.inf
    assert not AWAY.packed(tensor(numbers)).finite()
    again = pickle.loads(pickle.dumps(tall))
    assert isinstance(again, np.ndarray) and np.array_equal(again, drawn(3, (7, 4), kind))
    assert isinstance(AWAY.from_host(tall), TorchArray)


@pytest.mark.parametrize(("block", "most"), [(1000, 10**6), (1000, 7), (3, 10**6), (3, 5), (3, 1)])
def test_segments_cover_every_entry_once_and_their_sums_go_to_the_right_rows(block, most):
    """What the kernels do with segments, in NumPy: sums of short rows, places of long ones, folded in order."""
    from spectraplex.places.triton_device import Segments

    rng = np.random.default_rng(3)
    m, n = 9, 40
    dense = rng.random((m, n)) < np.array([0.9, 0.05, 0.5, 0.0, 1.0, 0.02, 0.3, 0.7, 0.1])[:, None]
    rows, cols = np.nonzero(dense)
    pattern = TorchPattern.from_sorted(torch.as_tensor(rows), torch.as_tensor(cols), (m, n))
    data = rng.standard_normal(rows.size)
    parts = Segments.of(pattern, block, most, length=4)
    assert len(parts) > 1 or most > 100
    out, seen = np.zeros(m), np.zeros(rows.size, int)
    for cut in parts:
        places = np.full(cut.slots, np.nan)
        for row, low, high, slot in zip(
            *(each.tolist() for each in (cut.row, cut.low, cut.high, cut.slot)), strict=True
        ):
            assert set(rows[low:high]) == {row}
            assert high - low <= 4
            assert n <= 4 * block or np.ptp(cols[low:high] // block) == 0
            seen[low:high] += 1
            if slot < 0:
                out[row] = data[low:high].sum()
            else:
                assert np.isnan(places[slot])
                places[slot] = data[low:high].sum()
        for row, first, last in zip(*(each.tolist() for each in cut.long), strict=True):
            out[row] = places[first:last].sum()
        assert cut.slots <= most + max(dense.sum(1))
    assert np.all(seen == 1)
    np.testing.assert_allclose(out, np.bincount(rows, data, m), rtol=1e-13, atol=1e-14)
