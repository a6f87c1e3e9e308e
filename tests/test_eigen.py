"""Leading eigenvectors: against dense eigh and ARPACK, to an additive accuracy, in every degenerate case."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import random as sparse_random
from scipy.sparse.linalg import eigsh, svds

from problems import normal, orthonormal
from spectraplex.eigen.leading import leading, upper_bound
from spectraplex.eigen.small import decomposed
from spectraplex.matrices.lifted import Lifted, Shifted
from spectraplex.matrices.operators import Dense, Sparse
from spectraplex.places.here import NumPyPlace
from spectraplex.places.pattern import Pattern


def hermitian(rng: np.random.Generator, d: int, complex_: bool) -> np.ndarray:
    A = normal(rng, (d, d), complex_)
    return (A + A.conj().T) / 2


def spectrum(rng: np.random.Generator, values: np.ndarray, complex_: bool) -> np.ndarray:
    Q = orthonormal(rng, values.size, values.size, complex_)
    A = (Q * values) @ Q.conj().T
    return (A + A.conj().T) / 2


def rayleigh(A: np.ndarray, V: np.ndarray) -> np.ndarray:
    return np.einsum("ik,ik->k", V.conj(), A @ V).real


def bipartite(R: np.ndarray) -> Lifted:
    m, n = R.shape
    return Lifted(Dense(R), slice(0, m), slice(m, m + n), m + n, 2.0)


class Searched:
    """An operator that does not say what its matrix is: LAPACK is never asked, whatever its size."""

    def __init__(self, inside):
        self.shape, self.dtype, self.matmat = inside.shape, inside.dtype, inside.matmat
        if isinstance(inside, Lifted):
            self.sides, self.apply = inside.sides, inside.apply


WAYS = {"searched": Searched, "decomposed": lambda operator: operator}

SPECTRA = {
    "random": lambda r, d: np.sort(r.standard_normal(d)),
    "tied leading": lambda r, d: np.append(np.sort(r.standard_normal(d))[: max(d - 3, 0)], np.full(min(d, 3), 4.0)),
    "clustered": lambda r, d: 1.0 + 1e-6 * r.standard_normal(d),
    "graded up": lambda r, d: -(2.0 ** -np.arange(d, dtype=float)),
    "graded down": lambda r, d: 2.0 ** -np.arange(d, dtype=float),
    "all equal": lambda r, d: np.full(d, -2.5),
    "zero": lambda r, d: np.zeros(d),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3, 17, 60])
def test_agrees_with_dense_eigh(way, kind, complex_, d):
    rng = np.random.default_rng([d, complex_])
    A = spectrum(rng, SPECTRA[kind](rng, d), complex_)
    exact = np.linalg.eigvalsh(A)[::-1]
    scale = np.abs(exact).max()
    for count in (1, 3, d, d + 2):
        found = leading(WAYS[way](Dense(A, hermitian=True)), count, rng=np.random.default_rng(1))
        kept = min(count, d)
        assert found.vectors.shape == (d, kept)
        assert found.converged
        np.testing.assert_allclose(found.vectors.conj().T @ found.vectors, np.eye(kept), atol=1e-10)
        np.testing.assert_allclose(rayleigh(A, found.vectors), exact[:kept], atol=1e-12 * scale * d)
        np.testing.assert_allclose(found.values, rayleigh(A, found.vectors), atol=1e-12 * scale * d)


@given(
    seed=st.integers(0, 10_000),
    d=st.integers(1, 50),
    accuracy=st.sampled_from([0.3, 0.03, 1e-3, 1e-6]),
    complex_=st.booleans(),
    shifted=st.booleans(),
    way=st.sampled_from(sorted(WAYS)),
)
def test_additive_accuracy_is_kept_also_from_the_worst_start(seed, d, accuracy, complex_, shifted, way):
    """EV_ξ: never below λ_max − ξ, started at the *least* eigenvector."""
    rng = np.random.default_rng(seed)
    A = hermitian(rng, d, complex_)
    operator = WAYS[way](Dense(A, hermitian=True))
    if shifted:
        x = normal(rng, (d, 1), complex_)
        x /= np.linalg.norm(x)
        operator = Shifted(operator, x, np.array([2.0]))
        A = A + 2.0 * x @ x.conj().T
    values, vectors = np.linalg.eigh(A)
    found = leading(operator, accuracy=accuracy, start=vectors[:, 0], rng=np.random.default_rng(seed + 1), careful=True)
    assert rayleigh(A, found.vectors)[0] >= values[-1] - accuracy
    assert found.value <= values[-1] + 1e-10  # a Ritz value never exceeds the eigenvalue


@given(
    seed=st.integers(0, 10_000),
    shape=st.tuples(st.integers(1, 25), st.integers(1, 25)),
    complex_=st.booleans(),
    strength=st.sampled_from([0.0, 0.5, 5.0]),
    way=st.sampled_from(sorted(WAYS)),
)
def test_bipartite_with_a_rank_one_shift(seed, shape, complex_, strength, way):
    rng = np.random.default_rng(seed)
    R = normal(rng, shape, complex_)
    x = normal(rng, (sum(shape), 1), complex_)
    x /= np.linalg.norm(x)
    operator = bipartite(R)
    A = operator.dense() + strength * x @ x.conj().T
    found = leading(Shifted(WAYS[way](operator), x, np.array([strength])), rng=rng)
    assert found.value == pytest.approx(np.linalg.eigvalsh(A)[-1], abs=1e-10)
    assert rayleigh(A, found.vectors)[0] == pytest.approx(found.value, abs=1e-10)


def test_an_exact_eigenvector_that_is_not_the_leading_one_does_not_end_the_search():
    rng = np.random.default_rng(3)
    A = spectrum(rng, np.linspace(-1, 1, 30), False)
    values, vectors = np.linalg.eigh(A)
    for accuracy in (0.0, 1e-3):
        lower = vectors[:, 20]
        operator = Shifted(Searched(Dense(A, hermitian=True)), lower[:, None], np.array([1e-9]))
        found = leading(operator, accuracy=accuracy, start=lower, rng=np.random.default_rng(0))
        assert found.value >= values[-1] - accuracy - 1e-8


def test_restarts_reach_rounding_level_in_a_large_dimension():
    rng = np.random.default_rng(0)
    values = np.concatenate([np.linspace(0, 1, 700), [1.02, 1.05]])
    A = spectrum(rng, values, False)
    found = leading(Dense(A, hermitian=True), 2, rng=rng, basis_size=24)
    np.testing.assert_allclose(found.values, [1.05, 1.02], atol=1e-12)
    assert not found.exact and found.converged


def test_agrees_with_arpack_on_sparse_matrices():
    for seed in range(3):
        S = sparse_random(300, 200, 0.03, format="csr", random_state=seed)
        S.sort_indices()
        pattern = Pattern.from_sorted(np.repeat(np.arange(300), np.diff(S.indptr)), S.indices, (300, 200))
        operator = Lifted(Sparse(pattern, S.data), slice(0, 300), slice(300, 500), 500, 2.0)
        found = leading(operator, 3, rng=np.random.default_rng(seed))
        exact = np.sort(svds(S, k=3, return_singular_vectors=False, tol=1e-12))[::-1]
        np.testing.assert_allclose(found.values, exact, rtol=1e-10)
        lifted = operator.dense()
        np.testing.assert_allclose(found.values[0], eigsh(lifted, k=1, which="LA")[0][0], rtol=1e-10)


def test_products_are_counted_as_they_are_done():
    class Watched:
        shape, dtype, seen = (40, 40), "float64", 0

        def __init__(self, A):
            self.A = A

        def matmat(self, V):
            self.seen += V.shape[1]
            return self.A @ V

    watched = Watched(hermitian(np.random.default_rng(0), 40, False))
    found = leading(watched, 2, rng=np.random.default_rng(1), accuracy=1e-3)
    assert found.products == watched.seen
    operator = bipartite(np.random.default_rng(2).standard_normal((30, 20)))
    found = leading(Searched(operator), rng=np.random.default_rng(1), accuracy=1e-3)
    assert found.products == operator.products  # half a product for each one-sided multiplication
    before = operator.products
    assert leading(operator).products == operator.products - before == 20  # a decomposition counts as its matrix does
    assert leading(Dense(watched.A, hermitian=True)).products == 40
    assert leading(Shifted(operator, np.eye(50, 1), np.ones(1))).products == 20


def test_a_warm_start_saves_products():
    rng = np.random.default_rng(0)
    A = spectrum(rng, np.append(np.linspace(0, 1, 400), 1.01), False)
    exact = np.linalg.eigh(A)[1][:, -1]
    operator = Dense(A, hermitian=True)
    cold = [leading(operator, rng=np.random.default_rng(s), accuracy=1e-6).products for s in range(3)]
    warm = [leading(operator, rng=np.random.default_rng(s), accuracy=1e-6, start=exact).products for s in range(3)]
    assert sum(warm) < sum(cold)


def test_same_seed_same_bits():
    A = hermitian(np.random.default_rng(0), 50, True)
    for way in WAYS.values():
        operator = way(Dense(A, hermitian=True))
        one, two = (leading(operator, rng=np.random.default_rng(5), accuracy=1e-2) for _ in range(2))
        assert np.array_equal(one.vectors, two.vectors)


# ------------------------------------------------------------------------------------------- small matrices at hand


@given(
    seed=st.integers(0, 10_000),
    d=st.integers(1, 40),
    rank=st.integers(0, 40),
    count=st.integers(1, 12),
    size=st.sampled_from([1e-140, 1e-8, 1.0, 1e8, 1e140]),
    kind=st.sampled_from(["whole", "padded", "two sides", "skew rest"]),
    shifts=st.integers(0, 2),
    complex_=st.booleans(),
)
def test_small_matrices_are_decomposed_like_eigh(seed, d, rank, count, size, kind, shifts, complex_):
    """Few distinct eigenvalues, many ties, often zero; all blocks of the lift; any size; shifted or not."""
    rng = np.random.default_rng(seed)
    values = size * rng.integers(-2, 3, d) * (np.arange(d) < rank)
    if kind == "two sides":
        n = int(rng.integers(1, 20))
        left, right = orthonormal(rng, d, min(d, n), complex_), orthonormal(rng, n, min(d, n), complex_)
        operator = bipartite((left * values[: min(d, n)]) @ right.conj().T)
    else:
        A = spectrum(rng, values, complex_)
        if kind == "skew rest":  # only the Hermitian part counts
            B = size * normal(rng, (d, d), complex_)
            A = A + (B - B.conj().T)
        block = slice(0, d)
        operator = Lifted(Dense(A, kind != "skew rest"), block, block, d + (kind == "padded"), 1.5)
    for _ in range(shifts):
        x = normal(rng, (operator.shape[0], 1), complex_)
        operator = Shifted(operator, x / np.linalg.norm(x), size * rng.standard_normal(1))
    matrix = operator.dense() / size
    exact = np.linalg.eigvalsh(matrix)[::-1][:count]
    found = leading(operator, count, rng=np.random.default_rng(seed))
    kept, scale = min(count, operator.shape[0]), max(1e-300, float(np.abs(exact).max()), float(np.abs(matrix).max()))
    assert found.exact and found.converged and found.vectors.shape == (operator.shape[0], kept)
    np.testing.assert_allclose(found.values / size, exact, atol=1e-13 * scale * operator.shape[0])
    np.testing.assert_allclose(rayleigh(matrix, found.vectors), exact, atol=1e-13 * scale * operator.shape[0])
    np.testing.assert_allclose(found.vectors.conj().T @ found.vectors, np.eye(kept), atol=1e-11)
    assert np.all(found.errors >= 0) and np.all(found.errors <= 1e-12 * scale * size * operator.shape[0])


@pytest.mark.parametrize("count", [1, 2, 4])
@pytest.mark.parametrize("two", [False, True])
def test_which_of_tied_vectors_is_found_does_not_hang_on_the_last_bits(count, two):
    rng = np.random.default_rng(0)
    values = np.array([3.0, 2.0, 2.0, 2.0, 2.0, 1.0, *np.zeros(18)])
    A = spectrum(rng, values, False)
    other = spectrum(np.random.default_rng(0), values, False) * (1 + 2e-16 * rng.standard_normal(A.shape))
    other = other if two else (other + other.T) / 2
    make = bipartite if two else lambda A: Dense(A, hermitian=True)
    one, again = (leading(make(matrix), count, rng=np.random.default_rng(7)).vectors for matrix in (A, other))
    # signs apart for the eigenvector that is alone; the others are drawn
    np.testing.assert_allclose(np.abs(np.sum(one * again, axis=0)), 1.0, atol=1e-10)


def test_what_is_small():
    def seen(d, dtype, **asked):
        return leading(Dense(np.eye(d, dtype=dtype), hermitian=True), accuracy=0.5, **asked).exact

    assert seen(200, float) and seen(150, complex) and seen(200, complex, careful=True)
    assert not seen(201, float) and not seen(151, complex) and not seen(201, complex, careful=True)


def test_a_matrix_that_is_not_finite_is_left_to_the_search():
    A = np.full((5, 5), np.nan)
    assert decomposed(Dense(A, hermitian=True), 1, np.random.default_rng(0)) is None


@pytest.mark.parametrize("off", [0.0, -1e-3, -3.0, 1e-3, 2.0])
def test_a_proof_of_what_was_expected_is_a_proof(off):
    """Too little is noticed, too much is loose; what is stated is never below."""
    for seed in range(5):
        A = hermitian(np.random.default_rng(seed), 30, seed % 2 == 1)
        top = np.linalg.eigvalsh(A)[-1]
        bound = upper_bound(Dense(A, hermitian=True), expected=top + off)
        assert bound.kind == "proven" and top <= bound.value <= top + max(off, 0.0) + 1e-11


@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("dense", [0, 1000])
def test_upper_bounds_are_above(kind, complex_, dense):
    """Proven (dense) and probable (random-start Lanczos) bounds both hold, and are tight once converged."""
    for seed, d in enumerate((1, 2, 12, 40)):
        rng = np.random.default_rng(seed)
        A = spectrum(rng, SPECTRA[kind](rng, d), complex_)
        top = np.linalg.eigvalsh(A)[-1]
        scale = max(np.abs(A).max(), 1e-300)
        for failure in (1e-3, 1e-9):
            bound = upper_bound(Dense(A, hermitian=True), failure=failure, rng=rng, dense=dense)
            assert bound.value >= top - 1e-14 * scale
            assert bound.value <= top + 1e-8 * scale * d
            assert bound.kind == ("proven" if dense else "probable")


def test_upper_bound_of_an_unfinished_run_is_still_above():
    """Six products are far from convergence: the Ritz value is below λ_max, the bound is not."""
    missed = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        R = rng.standard_normal((60, 50))
        sigma = np.linalg.svd(R, compute_uv=False)[0]
        bound = upper_bound(bipartite(R), failure=1e-3, rng=rng, products=6, dense=0)
        assert bound.value >= sigma
        missed += bound.estimate < sigma * (1 - 1e-6)
    assert missed > 50  # the control: a Ritz value used as a bound would have been wrong almost always


def test_a_matrix_whose_entries_cancelled_is_known_to_its_noise():
    """Zero may be what rounding left of it: another machine sees other last bits, and proves no more than the noise."""
    for noise in (0.0, 1e-3):
        zero = Dense(np.zeros((3, 3)), hermitian=True, blur=lambda noise=noise: noise)
        bound = upper_bound(Lifted(zero, slice(0, 3), slice(0, 3), 3, 2.0), failure=1e-9, rng=np.random.default_rng(0))
        assert bound.kind == "proven" and bound.value == bound.rounding == 2.0 * noise


@pytest.mark.parametrize("complex_", [False, True])
def test_one_side_bounded_from_many_starts_at_a_place_that_is_wide(complex_, monkeypatch):
    """Where many products cost little more than one: fewer steps, and the bound lies above λ_max of a known matrix."""
    place = NumPyPlace()
    place.wide = True
    for seed in range(3):
        rng = np.random.default_rng(seed)
        values = np.linspace(-2.0, 1.5, 420)
        A = spectrum(rng, values, complex_)
        whole = Lifted(Dense(A), slice(0, 420), slice(0, 420), 420, 1.0)
        monkeypatch.setattr(Lifted, "place", property(lambda self: place))
        wide = upper_bound(whole, failure=1e-6, accuracy=0.01, rng=rng)
        monkeypatch.undo()
        narrow = upper_bound(whole, failure=1e-6, accuracy=0.01, rng=rng)
        for bound in (wide, narrow):
            assert 1.5 - 1e-12 <= bound.value <= 1.52
        assert narrow.products < wide.products < 8 * 0.6 * narrow.products  # of eight columns at once


@pytest.mark.parametrize("complex_", [False, True])
def test_a_wide_start_is_multiplied_a_few_columns_at_a_time(complex_, monkeypatch):
    """What lies between the two products of RᴴR is as tall as the data."""
    rng = np.random.default_rng(3)
    R, place, widths = normal(rng, (260, 230), complex_), NumPyPlace(), []
    place.wide = True
    monkeypatch.setattr("spectraplex.eigen.far._MOST", 16)

    class Watched(Dense):
        def matmat(self, V):
            widths.append(V.shape[1])
            return super().matmat(V)

    operator = Lifted(Watched(R), slice(0, 260), slice(260, 490), 490, 2.0, place)
    start = normal(rng, (490, 60), complex_)
    found = leading(operator, 2, accuracy=1e-6, start=start, rng=rng, max_products=2000.0)
    assert max(widths) == 16
    np.testing.assert_allclose(found.values, np.linalg.svd(R, compute_uv=False)[:2], rtol=0, atol=1e-6)
