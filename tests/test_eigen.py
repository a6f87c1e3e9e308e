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
from spectraplex.matrices.lifted import Lifted, Shifted
from spectraplex.matrices.operators import Dense, Sparse
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


SPECTRA = {
    "random": lambda r, d: np.sort(r.standard_normal(d)),
    "tied leading": lambda r, d: np.append(np.sort(r.standard_normal(d))[: max(d - 3, 0)], np.full(min(d, 3), 4.0)),
    "clustered": lambda r, d: 1.0 + 1e-6 * r.standard_normal(d),
    "graded up": lambda r, d: -(2.0 ** -np.arange(d, dtype=float)),
    "graded down": lambda r, d: 2.0 ** -np.arange(d, dtype=float),
    "all equal": lambda r, d: np.full(d, -2.5),
    "zero": lambda r, d: np.zeros(d),
}


@pytest.mark.parametrize("kind", SPECTRA)
@pytest.mark.parametrize("complex_", [False, True])
@pytest.mark.parametrize("d", [1, 2, 3, 17, 60])
def test_agrees_with_dense_eigh(kind, complex_, d):
    rng = np.random.default_rng([d, complex_])
    A = spectrum(rng, SPECTRA[kind](rng, d), complex_)
    exact = np.linalg.eigvalsh(A)[::-1]
    scale = np.abs(exact).max()
    for count in (1, 3, d, d + 2):
        found = leading(Dense(A, hermitian=True), count, rng=np.random.default_rng(1))
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
)
def test_additive_accuracy_is_kept_also_from_the_worst_start(seed, d, accuracy, complex_, shifted):
    """EV_ξ: never below λ_max − ξ, started at the *least* eigenvector."""
    rng = np.random.default_rng(seed)
    A = hermitian(rng, d, complex_)
    operator = Dense(A, hermitian=True)
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
)
def test_bipartite_with_a_rank_one_shift(seed, shape, complex_, strength):
    rng = np.random.default_rng(seed)
    R = normal(rng, shape, complex_)
    x = normal(rng, (sum(shape), 1), complex_)
    x /= np.linalg.norm(x)
    operator = bipartite(R)
    A = operator.dense() + strength * x @ x.conj().T
    found = leading(Shifted(operator, x, np.array([strength])), rng=rng)
    assert found.value == pytest.approx(np.linalg.eigvalsh(A)[-1], abs=1e-10)
    assert rayleigh(A, found.vectors)[0] == pytest.approx(found.value, abs=1e-10)


def test_an_exact_eigenvector_that_is_not_the_leading_one_does_not_end_the_search():
    rng = np.random.default_rng(3)
    A = spectrum(rng, np.linspace(-1, 1, 30), False)
    values, vectors = np.linalg.eigh(A)
    for accuracy in (0.0, 1e-3):
        lower = vectors[:, 20]
        operator = Shifted(Dense(A, hermitian=True), lower[:, None], np.array([1e-9]))
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
    found = leading(operator, rng=np.random.default_rng(1), accuracy=1e-3)
    assert found.products == operator.products  # half a product for each one-sided multiplication


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
    one, two = (leading(Dense(A, hermitian=True), rng=np.random.default_rng(5), accuracy=1e-2) for _ in range(2))
    assert np.array_equal(one.vectors, two.vectors)


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
