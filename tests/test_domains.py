"""Domains: the lift both ways, feasibility, gradients upstairs, and Euclidean projection."""

import itertools

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dense
import spectraplex as sx
from spectraplex.domains.penalties import NuclearPenalty, TracePenalty
from spectraplex.domains.protocol import Domain
from spectraplex.domains.spectra import capped, simplex
from spectraplex.matrices.atoms import Atoms

DTYPES = ("float64", "complex128")
SHAPES = ((1, 1), (1, 5), (5, 1), (3, 3), (4, 3), (2, 6))
property_test = settings(max_examples=60)
random = st.builds(np.random.default_rng, st.integers(0, 2**32))
dtypes = st.sampled_from(DTYPES)
sizes = st.sampled_from([1e-3, 0.7, 1.0, 2.5, 1e4])
balls = st.one_of(
    st.builds(sx.TraceBall, st.integers(1, 5), sizes),
    st.builds(sx.NuclearBall, st.sampled_from(SHAPES), sizes),
)
domains = st.one_of(balls, st.builds(sx.Spectrahedron, st.integers(1, 5), sizes))


def atoms_in(rng, domain, count, dtype):
    """Random atoms upstairs."""
    return Atoms.of(dense.normal(rng, (domain.dimension, count), dtype), rng.dirichlet(np.ones(count)))


def bound(domain):
    return domain.radius if isinstance(domain, sx.NuclearBall) else domain.trace


def nuclear_norm(X):
    """The sum of the singular values: the trace, where X is positive semidefinite."""
    return np.linalg.svd(X, compute_uv=False).sum()


def lowered(domain, atoms):
    """The dense formula: scale times a block of X."""
    X = dense.matrix((atoms.vectors, atoms.weights, atoms.vectors))
    if isinstance(domain, sx.NuclearBall):
        m = domain.shape[0]
        return 2 * domain.radius * X[:m, m:]
    return domain.trace * X[: domain.d, : domain.d]


def raising(domain, X, dtype):
    """Factors of a dense X, ready for ``raised``."""
    if isinstance(domain, sx.NuclearBall):
        U, s, Vh = np.linalg.svd(X.astype(dtype), full_matrices=False)
        return sx.Rectangular(U, s, Vh.conj().T)
    values, vectors = np.linalg.eigh(X.astype(dtype))
    return sx.Symmetric(vectors, np.maximum(values, 0))


# ---------------------------------------------------------------------------------------------------- down and up


@property_test
@given(random, domains, st.integers(1, 7), dtypes)
def test_lowered_factors_are_feasible_and_the_block_of_X(rng, domain, count, dtype):
    atoms = atoms_in(rng, domain, count, dtype)
    factors = domain.lower(atoms)
    X, most = factors.dense(), bound(domain)
    np.testing.assert_allclose(X, lowered(domain, atoms), rtol=0, atol=1e-13 * most)
    U, s, V = factors.triple()
    assert s.min(initial=0.0) >= 0.0
    np.testing.assert_allclose(np.linalg.norm(U, axis=0), 1.0, rtol=1e-13)
    np.testing.assert_allclose(np.linalg.norm(V, axis=0), 1.0, rtol=1e-13)
    assert s.sum() <= most * (1 + 1e-12)
    assert nuclear_norm(X) <= most * (1 + 1e-12)
    if domain.hermitian:
        assert np.linalg.eigvalsh(X)[0] >= -1e-12 * most
    if isinstance(domain, sx.Spectrahedron):
        np.testing.assert_allclose(np.trace(X).real, most, rtol=1e-12)


@property_test
@given(random, domains, st.integers(1, 7), dtypes)
def test_going_up_and_down_again_changes_nothing(rng, domain, count, dtype):
    X = lowered(domain, atoms_in(rng, domain, count, dtype))
    atoms = domain.raised(raising(domain, X, dtype))
    assert atoms.dimension == domain.dimension
    assert abs(atoms.weights.sum() - 1.0) <= 1e-12 and atoms.weights.min() >= 0.0
    np.testing.assert_allclose(np.linalg.norm(atoms.vectors, axis=0), 1.0, rtol=1e-13)
    np.testing.assert_allclose(domain.lower(atoms).dense(), X, rtol=0, atol=1e-12 * bound(domain))


@property_test
@given(random, balls, dtypes, st.floats(0.0, 1.0))
def test_points_inside_are_raised_with_slack(rng, domain, dtype, share):
    U, s, V = dense.factors(rng, domain.shape, 2, dtype, domain.hermitian)
    s = share * bound(domain) * s / s.sum()
    factors = sx.Symmetric(U, s) if domain.hermitian else sx.Rectangular(U, s, V)
    atoms = domain.raised(factors)
    assert abs(atoms.weights.sum() - 1.0) <= 1e-12 and atoms.weights.min() >= 0.0
    np.testing.assert_allclose(lowered(domain, atoms), factors.dense(), rtol=0, atol=1e-12 * bound(domain))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("seed", [0, 1])
def test_factors_need_not_be_unit_positive_or_few(dtype, seed):
    rng = np.random.default_rng(seed)
    U, V = dense.normal(rng, (4, 3), dtype), dense.normal(rng, (3, 3), dtype)
    s = np.array([0.3, -0.2, 0.0])
    ball = sx.NuclearBall((4, 3), 10.0)
    atoms = ball.raised(sx.Rectangular(U, s, V))
    np.testing.assert_allclose(ball.lower(atoms).dense(), dense.matrix((U, s, V)), rtol=0, atol=1e-12)
    # the same atom twice, with opposite signs: Σs is beyond the radius, the nuclear norm is not
    twice = sx.Rectangular(U[:, [0, 0]], np.array([9.0, -8.5]), V[:, [0, 0]])
    wide = sx.NuclearBall((4, 3), 1.0 + np.linalg.svd(twice.dense(), compute_uv=False).sum())
    np.testing.assert_allclose(wide.lower(wide.raised(twice)).dense(), twice.dense(), rtol=0, atol=1e-11)


def test_hermitian_factors_fit_a_square_ball():
    U, s, _ = dense.factors(np.random.default_rng(0), (3, 3), 2, "complex128", hermitian=True)
    ball = sx.NuclearBall((3, 3), 4.0)
    factors = sx.Symmetric(U, s)
    np.testing.assert_allclose(ball.lower(ball.raised(factors)).dense(), factors.dense(), rtol=0, atol=1e-13)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "domain",
    [sx.Spectrahedron(1), sx.Spectrahedron(4, 3.0), sx.TraceBall(1, 2.0), sx.TraceBall(4, 2.0)]
    + [sx.NuclearBall(shape, 2.0) for shape in SHAPES],
    ids=str,
)
def test_the_start_is_feasible_and_of_the_right_field(domain, dtype):
    atoms = domain.start(dtype, np.random.default_rng(0))
    assert atoms.vectors.dtype == dtype and atoms.dimension == domain.dimension
    X = domain.lower(atoms)
    assert X.shape == domain.shape
    if isinstance(domain, sx.Spectrahedron):
        np.testing.assert_allclose(X.trace, domain.trace, rtol=1e-14)
    else:
        np.testing.assert_array_equal(X.dense(), np.zeros(domain.shape))


# ------------------------------------------------------------------------------------------- objectives upstairs


@property_test
@given(random, domains, st.integers(1, 5), dtypes)
def test_the_lifted_value_and_gradient_are_those_of_the_lowered_matrix(rng, domain, count, dtype):
    case = dense.distance(rng, domain.shape, dtype, hermitian=domain.hermitian)
    problem = sx.Problem(case.objective, domain)
    atoms = atoms_in(rng, domain, count, dtype)
    point = problem.point(atoms)
    X = domain.lower(atoms).dense()
    np.testing.assert_allclose(point.value, case.value(X), rtol=1e-11)
    G = case.gradient(X)
    d, up = domain.dimension, np.zeros((domain.dimension,) * 2, dtype)
    if domain.hermitian:
        up[: domain.d, : domain.d] = domain.trace * G
    else:
        m = domain.shape[0]
        up[:m, m:] = domain.radius * G
        up[m:, :m] = domain.radius * G.conj().T
    scale = np.abs(up).max()
    operator = problem.descent(point)
    assert operator.shape == (d, d)
    np.testing.assert_allclose(operator.dense(), -up, rtol=0, atol=1e-12 * scale)
    V = dense.normal(rng, (d, 3), dtype)
    np.testing.assert_allclose(operator.matmat(V), -up @ V, rtol=0, atol=1e-11 * scale)


@pytest.mark.parametrize("name", dense.HERMITIAN)
@pytest.mark.parametrize("kind", [sx.Spectrahedron, sx.TraceBall])
def test_a_gradient_that_is_not_hermitian_counts_by_its_hermitian_part(name, kind):
    rng = np.random.default_rng(7)
    dtype, make = dense.HERMITIAN[name]
    case, domain = make(rng), kind(3, 1.5)
    problem = sx.Problem(case.objective, domain)
    atoms = atoms_in(rng, domain, 4, dtype)
    G = dense.hermitian(case.gradient(lowered(domain, atoms)))
    up = problem.lifted.gradient(problem.point(atoms).slope)
    np.testing.assert_allclose(up.dense()[:3, :3], 1.5 * G, rtol=0, atol=1e-12 * np.abs(G).max())
    V = dense.normal(rng, (domain.dimension, 2), dtype)
    np.testing.assert_allclose(up.matmat(V)[:3], 1.5 * G @ V[:3], rtol=0, atol=1e-11 * np.abs(G).max())


# ------------------------------------------------------------------------------------------------------ projection


def best_on_simplex(values, total):
    """Brute force: try every set of positive coordinates."""
    best, least = None, np.inf
    for r in range(1, values.size + 1):
        for kept in map(list, itertools.combinations(range(values.size), r)):
            w = np.zeros_like(values)
            w[kept] = values[kept] - (values[kept].sum() - total) / r
            if w.min() >= 0 and np.linalg.norm(w - values) < least:
                best, least = w, np.linalg.norm(w - values)
    return best


@property_test
@given(random, st.integers(1, 6), st.sampled_from([0.1, 1.0, 30.0]))
def test_simplex_and_capped_are_the_nearest_points(rng, n, total):
    values = 3 * rng.standard_normal(n)
    nearest = best_on_simplex(values, total)
    np.testing.assert_allclose(simplex(values, total), nearest, rtol=0, atol=1e-13 * max(total, 1.0))
    cut = np.maximum(values, 0.0)
    np.testing.assert_allclose(capped(values, total), cut if cut.sum() <= total else nearest, rtol=0, atol=1e-12)


@pytest.mark.parametrize("scale", [1e-12, 1.0, 1e6, 1e12, 1e20, 1e200])
def test_the_simplex_takes_values_of_any_size(scale):
    values = scale * np.array([np.pi, -1.0, np.pi, 2.0])
    w = simplex(values, 0.7)
    np.testing.assert_allclose(w.sum(), 0.7, rtol=1e-12)
    if scale >= 1e6:
        np.testing.assert_allclose(w, [0.35, 0.0, 0.35, 0.0], rtol=0, atol=1e-12)


@pytest.mark.parametrize("scale", [1e6, 1e12, 1e18])
@pytest.mark.parametrize(
    "domain", [sx.Spectrahedron(4, 0.7), sx.TraceBall(4, 0.7), sx.NuclearBall((4, 4), 0.7)], ids=str
)
def test_a_matrix_far_away_is_projected_on_its_leading_vector(domain, scale):
    Q, _ = np.linalg.qr(np.random.default_rng(0).standard_normal((4, 4)))
    X = domain.project(scale * (Q * [np.pi, 2.0, 1.0, 0.5]) @ Q.T)
    np.testing.assert_allclose(X.dense(), 0.7 * np.outer(Q[:, 0], Q[:, 0]), rtol=0, atol=1e-12)
    assert len(domain.raised(X)) == 1


def support(domain, A):
    """max ⟨A, X⟩ over the domain."""
    if isinstance(domain, sx.NuclearBall):
        return domain.radius * np.linalg.svd(A, compute_uv=False)[0]
    top = np.linalg.eigvalsh(A)[-1]
    return domain.trace * (max(top, 0.0) if isinstance(domain, sx.TraceBall) else top)


@property_test
@given(random, domains, dtypes, st.sampled_from([0.01, 1.0, 20.0]))
def test_projection_satisfies_the_variational_inequality(rng, domain, dtype, spread):
    M = spread * bound(domain) * dense.normal(rng, domain.shape, dtype)
    M = dense.hermitian(M) if domain.hermitian else M
    factors = domain.project(M)
    P, most = factors.dense(), bound(domain)
    # P is the projection exactly when it is feasible and ⟨M − P, Y − P⟩ ≤ 0 for every feasible Y
    tolerance = 1e-12 * most * max(np.linalg.norm(M), most)
    assert support(domain, M - P) - dense.real_inner(M - P, P) <= tolerance
    assert nuclear_norm(P) <= most * (1 + 1e-12)
    if domain.hermitian:
        assert np.linalg.eigvalsh(P)[0] >= -1e-12 * most
    if isinstance(domain, sx.Spectrahedron):
        np.testing.assert_allclose(factors.trace, most, rtol=1e-12)
    np.testing.assert_allclose(domain.project(P).dense(), P, rtol=0, atol=1e-12 * most)


@property_test
@given(random, domains, dtypes)
def test_projection_brings_no_two_points_further_apart(rng, domain, dtype):
    M, N = (3 * bound(domain) * dense.normal(rng, domain.shape, dtype) for _ in range(2))
    if domain.hermitian:
        M, N = dense.hermitian(M), dense.hermitian(N)
    apart = np.linalg.norm(domain.project(M).dense() - domain.project(N).dense())
    assert apart <= np.linalg.norm(M - N) * (1 + 1e-12)


# --------------------------------------------------------------------------------------------------------- factors


@property_test
@given(random, st.integers(1, 6), st.integers(0, 9), dtypes)
def test_symmetric_factors_are_consistent(rng, d, count, dtype):
    U, s, _ = dense.factors(rng, (d, d), count, dtype, hermitian=True)
    X = sx.Symmetric(U, s)
    A = X.dense()
    np.testing.assert_allclose(A, dense.matrix((U, s, U)), rtol=0, atol=1e-14)
    rows, cols = rng.integers(0, d, 8), rng.integers(0, d, 8)
    np.testing.assert_allclose(X.entries(rows, cols), A[rows, cols], rtol=0, atol=1e-13)
    np.testing.assert_allclose(X.entries(np.arange(d)[:, None], np.arange(d)), A, rtol=0, atol=1e-13)
    values, vectors = X.eigh()
    np.testing.assert_allclose((vectors * values) @ vectors.conj().T, A, rtol=0, atol=1e-13)
    np.testing.assert_allclose(vectors.conj().T @ vectors, np.eye(values.size), rtol=0, atol=1e-13)
    assert (np.diff(values) <= 0).all() and values.size == min(d, count)
    assert X.shape == (d, d) and X.dtype == dtype
    np.testing.assert_allclose(X.trace, np.trace(A).real, rtol=0, atol=1e-13)


@property_test
@given(random, st.sampled_from(SHAPES), st.integers(0, 9), dtypes)
def test_rectangular_factors_are_consistent(rng, shape, count, dtype):
    Z = sx.Rectangular(*dense.factors(rng, shape, count, dtype))
    A = Z.dense()
    np.testing.assert_allclose(A, dense.matrix(Z.triple()), rtol=0, atol=1e-14)
    rows, cols = rng.integers(0, shape[0], 8), rng.integers(0, shape[1], 8)
    np.testing.assert_allclose(Z.entries(rows, cols), A[rows, cols], rtol=0, atol=1e-13)
    U, s, V = Z.svd()
    np.testing.assert_allclose((U * s) @ V.conj().T, A, rtol=0, atol=1e-13)
    for side in (U, V):
        np.testing.assert_allclose(side.conj().T @ side, np.eye(s.size), rtol=0, atol=1e-13)
    assert (np.diff(s) <= 0).all() and s.size == min(*shape, count)
    np.testing.assert_allclose(s, np.linalg.svd(A, compute_uv=False)[: s.size], rtol=0, atol=1e-13)
    assert Z.shape == shape and Z.dtype == dtype


@property_test
@given(random, st.integers(2, 8), st.integers(2, 20), dtypes)
def test_the_rank_is_found_among_many_atoms(rng, d, count, dtype):
    span = np.linalg.qr(dense.normal(rng, (d, 2), dtype))[0]
    mix = dense.normal(rng, (2, count), dtype)
    vectors = span @ (mix / np.linalg.norm(mix, axis=0))
    weights = rng.uniform(0.5, 1.0, count)
    assert sx.Symmetric(vectors, weights).eigh()[0].size == 2
    assert sx.Rectangular(vectors, weights, vectors).svd()[1].size == 2


def test_many_entries_come_in_pieces():
    rng = np.random.default_rng(0)
    Z = sx.Rectangular(*dense.factors(rng, (50, 40), 30))
    rows, cols = rng.integers(0, 50, (2, 70_001)), rng.integers(0, 40, (2, 70_001))
    np.testing.assert_allclose(Z.entries(rows, cols), Z.dense()[rows, cols], rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("rows", "cols", "error", "words"),
    [
        ([0, 4], [0, 0], ValueError, "rows run from 0 to 4, outside 0 … 3"),
        ([0], [-1], ValueError, "cols run from -1 to -1, outside 0 … 2"),
        ([0.0], [1], TypeError, "rows must be integers, got float64"),
    ],
)
def test_entries_outside_are_refused(rows, cols, error, words):
    Z = sx.Rectangular(*dense.factors(np.random.default_rng(0), (4, 3), 2))
    with pytest.raises(error, match=words):
        Z.entries(rows, cols)


@pytest.mark.parametrize("share", [0.0, 1e-9, 0.5, 1.0])
def test_no_atom_stands_for_the_slack_of_the_ball(share):
    """Inside the ball the halves of the atoms are unequal instead: as many atoms as factors."""
    rng = np.random.default_rng(0)
    U, V = np.linalg.qr(rng.standard_normal((6, 3)))[0], np.linalg.qr(rng.standard_normal((5, 3)))[0]
    s = share * 2.0 * np.array([0.5, 0.3, 0.2])
    ball = sx.NuclearBall((6, 5), 2.0)
    atoms = ball.raised(sx.Rectangular(U, s, V))
    assert len(atoms) == (3 if share else 1)
    np.testing.assert_allclose(np.linalg.norm(atoms.vectors, axis=0), 1.0, rtol=1e-14)
    np.testing.assert_allclose(ball.lower(atoms).dense(), (U * s) @ V.T, rtol=0, atol=1e-14 * share)


@pytest.mark.parametrize(
    ("domain", "size", "lam"),
    [
        (sx.Spectrahedron(3, 2.0), 2.0, 0.0),
        (sx.TraceBall(3, 1.5), 1.5, 0.0),
        (sx.NuclearBall((3, 2), 4.0), 4.0, 0.0),
        (NuclearPenalty((3, 2), 0.5, 7.0), 7.0, 0.5),
        (TracePenalty(3, 0.25, 9.0), 9.0, 0.25),
    ],
)
def test_every_domain_has_all_that_a_domain_has(domain, size, lam):
    assert isinstance(domain, Domain) and (domain.size, domain.lam) == (size, lam)
    lifted = domain.lift(sx.Distance(np.zeros(domain.shape)))
    assert lifted.penalty == (lam > 0) and lifted.dimension == domain.dimension
    block = lifted.corner
    assert (block.left.stop - block.left.start, block.right.stop - block.right.start) == domain.shape
