"""Operators multiply like the dense matrices they stand for, and count their products."""

import numpy as np
import pytest

import dense
from spectraplex.matrices.given import as_hermitian, as_operator
from spectraplex.matrices.lifted import Lifted, Shifted
from spectraplex.matrices.operators import Dense, LowRank, Padded, Sparse, Sum
from spectraplex.places.pattern import Pattern

DTYPES = ("float64", "complex128")
KINDS = ("sparse", "dense", "low-rank", "sum")
seeds = pytest.mark.parametrize("seed", [0, 1])
dtypes = pytest.mark.parametrize("dtype", DTYPES)
kinds = pytest.mark.parametrize("kind", KINDS)


def make(kind, rng, shape, dtype, hermitian=False):
    """An operator and its dense matrix."""
    if kind == "sparse":
        seen = rng.random(shape) < 0.5
        seen[min(1, shape[0] - 1)] = False  # an empty row, where there is more than one
        seen[0, 0] = True
        seen = seen & seen.T if hermitian else seen
        A = dense.normal(rng, shape, dtype) * seen
        A = dense.hermitian(A) if hermitian else A
        rows, cols = np.nonzero(seen)
        return Sparse(Pattern.from_sorted(rows, cols, shape), A[rows, cols], hermitian), A
    if kind == "dense":
        A = dense.normal(rng, shape, dtype)
        A = dense.hermitian(A) if hermitian else A
        return Dense(A, hermitian), A
    if kind == "low-rank":
        U, s, V = dense.factors(rng, shape, 2, dtype, hermitian)
        s = s * [1.0, -1.0]
        return LowRank(U, s, V, hermitian), dense.matrix((U, s, V))
    terms = [make(each, rng, shape, dtype, hermitian) for each in ("sparse", "dense", "low-rank")]
    c = (1.5, -0.5, 2.0)
    total = sum(a * A for a, (_, A) in zip(c, terms, strict=True))
    return Sum(c, [operator for operator, _ in terms]), total


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12)


@kinds
@dtypes
@seeds
@pytest.mark.parametrize("shape", [(5, 4), (4, 5), (1, 6), (6, 1), (1, 1)], ids=str)
def test_rectangular_operators_are_their_matrices(kind, dtype, shape, seed):
    rng = np.random.default_rng(seed)
    operator, A = make(kind, rng, shape, dtype)
    assert operator.shape == shape and operator.dtype == dtype and not operator.hermitian
    close(operator.dense(), A)
    for k in (1, 2, 5):
        U, V = dense.normal(rng, (shape[0], k), dtype), dense.normal(rng, (shape[1], k), dtype)
        close(operator.matmat(V), A @ V)
        close(operator.rmatmat(U), A.conj().T @ U)
        for count in {1, k}:
            close(operator.scores(U, V, count), np.diag(U.conj().T @ A @ V).real[:count])


@dtypes
@seeds
def test_dense_scores_of_more_atoms_than_a_block_holds(dtype, seed):
    rng = np.random.default_rng(seed)
    operator, A = make("dense", rng, (5, 4), dtype)
    U, V = dense.normal(rng, (5, 150), dtype), dense.normal(rng, (4, 150), dtype)
    close(operator.scores(U, V, 140), np.einsum("ik,ij,jk->k", U.conj(), A, V).real[:140])


@seeds
def test_single_precision_scores_are_close_and_narrow(seed):
    rng = np.random.default_rng(seed)
    for dtype, narrow in (("float64", np.float32), ("complex128", np.complex64)):
        operator, A = make("sparse", rng, (9, 7), dtype)
        U, V = dense.normal(rng, (9, 6), dtype), dense.normal(rng, (7, 6), dtype)
        want = np.einsum("ik,ij,jk->k", U.conj(), A, V).real
        np.testing.assert_allclose(operator.scores(U.astype(narrow), V.astype(narrow), 6), want, rtol=0, atol=1e-4)


@seeds
def test_a_complex_sparse_operator_scores_real_vectors(seed):
    rng = np.random.default_rng(seed)
    operator, A = make("sparse", rng, (5, 5), "complex128", hermitian=True)
    V = rng.standard_normal((5, 3))
    close(operator.scores(V, V, 3), np.diag(V.T @ A @ V).real)


def test_a_sum_is_hermitian_only_when_every_term_is():
    rng = np.random.default_rng(0)
    yes, no = make("dense", rng, (3, 3), "float64", hermitian=True)[0], make("dense", rng, (3, 3), "float64")[0]
    assert Sum((1.0, 2.0), (yes, yes)).hermitian
    assert not Sum((1.0, 2.0), (yes, no)).hermitian


# ------------------------------------------------------------------------------------------------------------ lifted


def lift(layout, operator, A, scale):
    """A lifted operator in one of three layouts, and its dense matrix."""
    m, n = A.shape
    if layout == "ball":
        d, left, right = m + n, slice(0, m), slice(m, m + n)
    else:
        d, left, right = m + (layout == "slack"), slice(0, m), slice(0, m)
    up = np.zeros((d, d), A.dtype)
    up[left, right] = scale * A
    return Lifted(operator, left, right, d, scale), dense.hermitian(up)


@kinds
@dtypes
@seeds
@pytest.mark.parametrize("layout", ["whole", "slack", "ball"])
@pytest.mark.parametrize("hermitian", [False, True])
def test_lifted_operators_are_the_hermitian_part_of_a_block(kind, dtype, layout, hermitian, seed):
    rng = np.random.default_rng(seed)
    operator, A = make(kind, rng, (4, 4), dtype, hermitian)
    lifted, up = lift(layout, operator, A, -1.7)
    d = up.shape[0]
    assert lifted.shape == (d, d) and lifted.dtype == dtype and lifted.bipartite == (layout == "ball")
    close(lifted.dense(), up)
    for k in (1, 3):
        V = dense.normal(rng, (d, k), dtype)
        close(lifted.matmat(V), up @ V)
        close(lifted.scores(np.ascontiguousarray(V), k), np.diag(V.conj().T @ up @ V).real)
    wide = dense.normal(rng, (d, 7), dtype)
    close(lifted.scores(wide, 4), np.diag(wide.conj().T @ up @ wide).real[:4])


@kinds
@dtypes
@pytest.mark.parametrize("shape", [(5, 3), (1, 4), (4, 1)], ids=str)
def test_the_sides_of_a_rectangular_lift(kind, dtype, shape):
    rng = np.random.default_rng(3)
    operator, A = make(kind, rng, shape, dtype)
    lifted, up = lift("ball", operator, A, 2.0)
    left, right = lifted.sides
    P, Q = dense.normal(rng, (shape[0], 3), dtype), dense.normal(rng, (shape[1], 3), dtype)
    close(lifted.apply(0, P), up[right, left] @ P)
    close(lifted.apply(1, Q), up[left, right] @ Q)
    close(lifted.dense(), up)


@pytest.mark.parametrize("layout", ["whole", "slack"])
def test_one_sided_lifts_have_one_side(layout):
    operator, A = make("dense", np.random.default_rng(0), (4, 4), "float64")
    lifted, up = lift(layout, operator, A, 2.0)
    assert lifted.sides == (slice(0, up.shape[0]),)
    V = np.random.default_rng(1).standard_normal((up.shape[0], 2))
    close(lifted.apply(0, V), up @ V)


def test_products_are_counted_by_the_vector_and_half_a_side():
    rng = np.random.default_rng(0)
    ball, up = lift("ball", *make("dense", rng, (4, 3), "float64"), 1.0)
    ball.matmat(rng.standard_normal((7, 5)))
    assert ball.products == 5.0
    ball.apply(0, rng.standard_normal((4, 3)))
    assert ball.products == 6.5
    ball.apply(1, rng.standard_normal((3, 1)))
    assert ball.products == 7.0
    ball.scores(rng.standard_normal((7, 6)), 4)
    assert ball.products == 9.0
    ball.dense()
    assert ball.products == 12.0

    for layout in ("whole", "slack"):
        known, up = lift(layout, *make("dense", rng, (4, 4), "float64", hermitian=True), 1.0)
        V = rng.standard_normal((up.shape[0], 5))
        known.matmat(V)
        assert known.products == 5.0
        known.scores(V, 2)
        assert known.products == 7.0

    unknown, _ = lift("whole", *make("dense", rng, (4, 4), "float64"), 1.0)
    unknown.matmat(rng.standard_normal((4, 5)))
    assert unknown.products == 5.0  # A and Aᴴ, one side each
    unknown.scores(rng.standard_normal((4, 5)), 2)
    assert unknown.products == 6.0


@dtypes
@seeds
@pytest.mark.parametrize("rank", [1, 3])
def test_a_shift_adds_a_low_rank(dtype, rank, seed):
    rng = np.random.default_rng(seed)
    lifted, up = lift("ball", *make("sparse", rng, (4, 3), dtype), 1.3)
    X, strength = dense.factors(rng, (7, 7), rank, dtype)[0], rng.standard_normal(rank)
    shifted = Shifted(lifted, X, strength)
    V = dense.normal(rng, (7, 4), dtype)
    close(shifted.matmat(V), (up + dense.matrix((X, strength, X))) @ V)
    assert shifted.shape == (7, 7) and shifted.dtype == dtype
    assert lifted.products == 4.0


def test_a_complex_shift_makes_a_real_operator_complex():
    rng = np.random.default_rng(0)
    lifted, up = lift("whole", *make("dense", rng, (4, 4), "float64"), 1.0)
    X = dense.factors(rng, (4, 4), 1, "complex128")[0]
    shifted = Shifted(lifted, X, np.ones(1))
    V = rng.standard_normal((4, 2))
    assert shifted.dtype == "complex128"
    close(shifted.matmat(V), (up + X @ X.conj().T) @ V)


class Own:
    """A user's operator: what docs and the protocol ask for, but for ``noise``."""

    hermitian, dtype = False, "float64"

    def __init__(self, A):
        self.A, self.shape = A, A.shape

    def matmat(self, V):
        return self.A @ V

    def rmatmat(self, U):
        return self.A.T @ U

    def scores(self, P, Q, count):
        return np.einsum("ik,ik->k", P[:, :count], self.A @ Q[:, :count])

    def dense(self):
        return self.A


def test_an_operator_of_a_user_is_made_whole_at_the_door():
    A = np.random.default_rng(0).standard_normal((4, 3))
    whole, ours = as_operator(Own(A)), Dense(A)
    assert whole.noise() == 0.0 and whole.shape == (4, 3) and not whole.hermitian
    V, U = np.eye(3), np.eye(4)
    assert np.array_equal(whole.matmat(V), A) and np.array_equal(whole.rmatmat(U), A.T)
    assert np.array_equal(whole.scores(U[:, :3], V, 3), np.diag(A)) and whole.dense() is A
    assert as_operator(ours) is ours
    symmetric = as_hermitian(Own(A.T @ A))
    assert np.allclose(symmetric.apply(0, V), A.T @ A) and symmetric.products == 3.0 and symmetric.noise() == 0.0


def test_noise_of_a_sum_is_the_sum_of_its_terms():
    one, two = Dense(np.eye(3), True, lambda: 2e-9), Dense(np.eye(3), True, lambda: 1e-9)
    total = Sum((1.0, -3.0), [one, two])
    assert total.noise() == pytest.approx(5e-9) and Padded(total).noise() == total.noise()
    lifted = Lifted(total, slice(0, 3), slice(0, 3), 3, -2.0)
    assert lifted.noise() == pytest.approx(1e-8)
    assert Shifted(lifted, np.eye(3)[:, :1], np.ones(1)).noise() == lifted.noise()
