"""Array helpers and sparse kernels against NumPy, the same bit by bit for any number of threads."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dense
import spectraplex as sx
from spectraplex.places import numpy as arrays
from spectraplex.places.here import HERE
from spectraplex.places.pattern import Pattern
from spectraplex.places.threads import workers
from spectraplex.state import restore_atoms

DTYPES = ("float64", "complex128")
SEEN = {
    "empty rows and columns": np.array([[0, 0, 0, 0], [1, 0, 1, 0], [0, 0, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0]]),
    "nothing": np.zeros((3, 4)),
    "one row": np.array([[1, 0, 1, 1, 0, 1, 1]]),
    "one column": np.array([[1], [0], [1], [1]]),
    "one entry": np.array([[1]]),
    "everything": np.ones((4, 9)),
}
dtypes = pytest.mark.parametrize("dtype", DTYPES)


def random_pattern(seen, rng, dtype):
    """A pattern with random entries, and the dense matrix they make."""
    rows, cols = np.nonzero(seen)
    data = dense.normal(rng, rows.size, dtype)
    A = np.zeros(seen.shape, dtype)
    A[rows, cols] = data
    return Pattern.from_sorted(rows, cols, seen.shape), data, A


def check_kernels(seen, rng, data_type, block_type):
    pattern, data, A = random_pattern(seen, rng, data_type)
    rows, cols = np.nonzero(seen)
    assert pattern.size == rows.size
    np.testing.assert_array_equal(pattern.rows, rows)
    flipped, conjugated = pattern.flip(data)
    for k in (0, 1, 2, 5):
        U, V = dense.normal(rng, (seen.shape[0], k), block_type), dense.normal(rng, (seen.shape[1], k), block_type)
        np.testing.assert_allclose(pattern.multiply(data, V), A @ V, rtol=0, atol=1e-13)
        np.testing.assert_allclose(flipped.multiply(conjugated, U), A.conj().T @ U, rtol=0, atol=1e-13)
        np.testing.assert_allclose(pattern.sample(U, V), (U @ V.conj().T)[rows, cols], rtol=0, atol=1e-13)
        want = np.einsum("ik,ij,jk->k", U.conj(), A, V).real
        for count in range(1, k + 1):
            np.testing.assert_allclose(pattern.scores(data, U, V, count), want[:count], rtol=0, atol=1e-13)
    v = dense.normal(rng, seen.shape[1], block_type)
    image = pattern.multiply(data, v)
    assert image.shape == (seen.shape[0],)
    np.testing.assert_allclose(image, A @ v, rtol=0, atol=1e-13)


@pytest.mark.parametrize("name", SEEN)
@pytest.mark.parametrize("data_type", DTYPES)
@pytest.mark.parametrize("block_type", DTYPES)
def test_pattern_kernels_are_dense_products(name, data_type, block_type):
    for seed in (0, 1):
        check_kernels(SEEN[name] == 1, np.random.default_rng(seed), data_type, block_type)


@settings(max_examples=50)
@given(
    st.builds(np.random.default_rng, st.integers(0, 2**32)),
    st.integers(1, 9),
    st.integers(1, 9),
    st.floats(0, 1),
    st.sampled_from(DTYPES),
)
def test_pattern_kernels_on_random_patterns(rng, m, n, share, dtype):
    check_kernels(rng.random((m, n)) < share, rng, dtype, dtype)


@dtypes
def test_blocks_need_not_be_contiguous(dtype):
    rng = np.random.default_rng(0)
    pattern, data, A = random_pattern(rng.random((6, 5)) < 0.6, rng, dtype)
    U, V = dense.normal(rng, (3, 6), dtype).T, dense.normal(rng, (5, 6), dtype)[:, ::2]
    np.testing.assert_allclose(pattern.multiply(data, V), A @ V, rtol=0, atol=1e-13)
    np.testing.assert_allclose(pattern.multiply(data, V[:, 0]), A @ V[:, 0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(pattern.sample(U, V), (U @ V.conj().T)[A != 0], rtol=0, atol=1e-13)
    np.testing.assert_allclose(
        pattern.sample(U[:, :1], V[:, :1]), (U[:, :1] @ V[:, :1].conj().T)[A != 0], rtol=0, atol=1e-13
    )


def test_nan_and_infinity_pass_through_the_kernels():
    pattern, data, _ = random_pattern(np.ones((2, 5), bool), np.random.default_rng(0), "float64")
    data[0], data[7] = np.nan, np.inf
    V = np.ones((5, 3))
    image = pattern.multiply(data, V)
    assert np.isnan(image[0]).all() and np.isposinf(image[1]).all()
    assert np.isnan(pattern.multiply(data, V[:, 0])[0])
    assert np.isnan(pattern.scores(data, np.ones((2, 2)), V, 2)).all()


# ----------------------------------------------------------------------------------------------------------- threads


@pytest.fixture
def restore_threads():
    before = sx.set_threads(1)
    yield
    sx.set_threads(before)


@pytest.fixture(scope="module", params=DTYPES)
def large(request):
    """Enough entries for threads to share even one column, with empty rows and one long row."""
    rng = np.random.default_rng(0)
    seen = rng.random((1200, 800)) < 0.5
    seen[100:150] = False
    seen[7] = True
    pattern, data, A = random_pattern(seen, rng, request.param)
    assert pattern.size > 400_000
    return pattern, data, A


def operands(data, k):
    rng, dtype = np.random.default_rng(k), data.dtype.name
    return dense.normal(rng, (1200, k), dtype), dense.normal(rng, (800, k), dtype), rng.uniform(0.5, 1.0, data.size)


def everything(pattern, data, k):
    """The results of all kernels for k columns."""
    U, V, w = operands(data, k)
    flipped, conjugated = pattern.flip(data)
    z, dz = pattern.sample(U, V), pattern.sample(2 * U, V)
    return (
        pattern.multiply(data, V),
        flipped.multiply(conjugated, U),
        z,
        pattern.scores(data, U, V, k),
        arrays.blend(0.3, z, -2.0, dz),
        np.array(arrays.line_squared(z, data, None, dz)),
        np.array(arrays.line_squared(z, data, w, dz)),
    )


def everything_dense(A, data, k):
    """The same by dense formulas; nothing stored is zero."""
    U, V, w = operands(data, k)
    z = (U @ V.conj().T)[A != 0]
    r, dz = z - data, 2 * z
    lines = [
        (0.5 * np.sum(v * np.abs(r) ** 2), np.sum(v * (r.conj() * dz).real), np.sum(v * np.abs(dz) ** 2))
        for v in (np.ones(data.size), w)
    ]
    scores = np.sum((U.conj() * (A @ V)).real, axis=0)
    return A @ V, A.conj().T @ U, z, scores, 0.3 * z - 2.0 * dz, lines[0], lines[1]


@pytest.mark.parametrize("k", [1, 3, 40])
def test_results_do_not_depend_on_the_number_of_threads(large, k, restore_threads, monkeypatch):
    pattern, data, A = large
    share, shared = workers.share, []
    monkeypatch.setattr(workers, "share", lambda job, chunks: (shared.append(chunks), share(job, chunks)))
    alone = everything(pattern, data, k)
    assert shared == []
    for got, want in zip(alone, everything_dense(A, data, k), strict=True):
        np.testing.assert_allclose(got, want, rtol=0, atol=1e-12 * np.abs(want).max())
    for threads in (2, 3):
        sx.set_threads(threads)
        for one, many in zip(alone, everything(pattern, data, k), strict=True):
            np.testing.assert_array_equal(one, many)
    assert len(shared) == 18 and min(shared) > 1  # all nine sweeps, twice


def test_several_python_threads_may_call_at_once(large, restore_threads):
    pattern, data, _ = large
    sx.set_threads(2)
    want = {k: everything(pattern, data, k) for k in (1, 3)}
    with ThreadPoolExecutor(4) as pool:
        jobs = [(k, pool.submit(everything, pattern, data, k)) for k in (1, 3, 1, 3, 1, 3, 1, 3)]
    for k, job in jobs:
        for one, other in zip(want[k], job.result(), strict=True):
            np.testing.assert_array_equal(one, other)


def test_an_error_in_a_shared_kernel_reaches_the_caller(large, restore_threads):
    pattern = large[0]

    def fails(low, high, *rest):
        raise ArithmeticError("inside a chunk")

    for threads in (1, 2):
        sx.set_threads(threads)
        with pytest.raises(ArithmeticError, match="inside a chunk"):
            pattern.sweep(fails, 10**9)


def test_set_threads_returns_the_number_before(restore_threads):
    assert sx.set_threads(3) == 1
    assert sx.set_threads(2) == 3


# ------------------------------------------------------------------------------------------------------ long vectors


@dtypes
@pytest.mark.parametrize("size", [1, 1000, 70_001])
def test_blend_and_line_squared_are_the_plain_formulas(dtype, size):
    for seed in (0, 1):
        rng = np.random.default_rng(seed)
        z, b, dz = (dense.normal(rng, size, dtype) for _ in range(3))
        w = rng.uniform(0.5, 2.0, size)
        np.testing.assert_allclose(arrays.blend(0.3, z, -1.2, dz), 0.3 * z - 1.2 * dz, rtol=1e-14, atol=1e-15)
        for weights, W in ((None, np.ones(size)), (w, w)):
            want = (
                0.5 * np.sum(W * np.abs(z - b) ** 2),
                np.sum(W * ((z - b).conj() * dz).real),
                np.sum(W * np.abs(dz) ** 2),
            )
            got = arrays.line_squared(z, b, weights, dz)
            np.testing.assert_allclose(got, want, rtol=1e-12, atol=1e-12 * size)


# ------------------------------------------------------------------------------------------------------ small helpers


@dtypes
@pytest.mark.parametrize("seed", [0, 1])
def test_inner_dagger_norms_and_columns(dtype, seed):
    rng = np.random.default_rng(seed)
    A, B = dense.normal(rng, (5, 3), dtype), dense.normal(rng, (5, 3), dtype)
    np.testing.assert_allclose(arrays.inner(A, B), np.trace(A.conj().T @ B).real, rtol=1e-13)
    np.testing.assert_array_equal(arrays.dagger(A), np.conjugate(A).T)
    for block in (A, A[:, :1]):
        np.testing.assert_allclose(arrays.norms(block), np.linalg.norm(block, axis=0), rtol=1e-14)
    assert arrays.columns(A[:, 0]).shape == (5, 1)
    assert arrays.columns(A.T).flags.c_contiguous


@pytest.mark.parametrize("kind", [np.float32, np.complex64])
@pytest.mark.parametrize("columns", [1, 3])
def test_norms_of_long_columns_in_single_precision_are_summed_in_double(kind, columns):
    """n squares of numbers of seven digits: n roundings of double; a sum in single precision is off by 1e-5."""
    rng = np.random.default_rng(0)
    block = (rng.standard_normal((200_000, columns)) + 1.0).astype(kind)
    wide = block.astype(np.complex128 if np.dtype(kind).kind == "c" else np.float64)
    found = HERE.norms(block)
    assert found.dtype == np.float64
    np.testing.assert_allclose(found, np.linalg.norm(wide, axis=0), rtol=200_000 * 2.0**-53)


def test_a_large_run_in_single_precision_is_taken_up_again():
    """Its unit columns are not taken for damaged ones, and X has trace one."""
    rng = np.random.default_rng(0)
    V = rng.standard_normal((200_000, 6))
    V = (V / np.linalg.norm(V, axis=0)).astype(np.float32)
    atoms = restore_atoms({"columns": V, "index": np.arange(6), "weights": np.full(6, 1 / 6)}, 200_000)
    assert atoms.vectors.dtype == np.float32
    norms = np.linalg.norm(atoms.vectors.astype(np.float64), axis=0)
    assert abs(atoms.weights @ norms**2 - 1.0) <= 200_000 * 2.0**-52


@dtypes
def test_a_random_unit_vector_is_uniform_on_the_sphere(dtype):
    rng = np.random.default_rng(0)
    vectors = np.stack([arrays.random_unit(3, dtype, rng) for _ in range(4000)], axis=1)
    assert vectors.dtype == dtype
    np.testing.assert_allclose(np.linalg.norm(vectors, axis=0), 1.0, rtol=1e-14)
    second_moment = vectors @ vectors.conj().T / 4000
    assert np.abs(second_moment - np.eye(3) / 3).max() < 0.03  # five standard deviations
    assert np.abs(vectors.mean(axis=1)).max() < 0.05


@dtypes
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("seed", [0, 1, 2])
def test_orthonormal_spans_the_block_and_avoids_the_basis(dtype, k, seed):
    rng = np.random.default_rng(seed)
    basis = np.linalg.qr(dense.normal(rng, (8, 3), dtype))[0]
    fresh = dense.normal(rng, (8, k), dtype)
    block = 1e5 * basis @ dense.normal(rng, (3, k), dtype) + fresh  # almost inside the basis
    q = arrays.orthonormal(block, basis)
    assert q.shape == (8, k)
    np.testing.assert_allclose(q.conj().T @ q, np.eye(k), rtol=0, atol=1e-14)
    np.testing.assert_allclose(basis.conj().T @ q, 0.0, rtol=0, atol=1e-14)
    rest = fresh - basis @ (basis.conj().T @ fresh)
    np.testing.assert_allclose(q @ (q.conj().T @ rest), rest, rtol=0, atol=1e-9)


@dtypes
def test_orthonormal_leaves_out_what_is_dependent(dtype):
    rng = np.random.default_rng(0)
    basis = np.linalg.qr(dense.normal(rng, (6, 2), dtype))[0]
    inside = basis @ dense.normal(rng, (2, 2), dtype)
    v = dense.normal(rng, (6, 1), dtype)
    assert arrays.orthonormal(inside, basis).shape == (6, 0)
    assert arrays.orthonormal(inside[:, :1], basis).shape == (6, 0)
    assert arrays.orthonormal(np.zeros((6, 2), dtype)).shape == (6, 0)
    assert arrays.orthonormal(np.concatenate([v, 2 * v], axis=1)).shape == (6, 1)
    assert arrays.orthonormal(np.concatenate([v, inside], axis=1), basis).shape == (6, 1)
    np.testing.assert_allclose(np.linalg.norm(arrays.orthonormal(1e-120 * v)), 1.0, rtol=1e-14)


@pytest.mark.parametrize("dtype", ["float64", "complex128"])
def test_orthonormal_keeps_what_comes_after_a_dependent_column(dtype):
    rng = np.random.default_rng(4)
    block = dense.normal(rng, (9, 3), dtype)
    q = arrays.orthonormal(block[:, [0, 0, 1, 1, 2]])
    assert q.shape == (9, 3)
    np.testing.assert_allclose(q.conj().T @ q, np.eye(3), atol=1e-13)
    np.testing.assert_allclose(q @ (q.conj().T @ block), block, atol=1e-12)


@pytest.mark.parametrize("noise", [1e-16, 1e-13, 1e-12, 1e-9])
@pytest.mark.parametrize("room", [0, 1])
def test_orthonormal_finds_no_more_than_there_is_room_for(noise, room):
    """Rounding of a direction that lies in the basis is not a new one."""
    rng = np.random.default_rng(5)
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    basis = Q[:, : 6 - room]
    for width in (1, 3):
        block = basis @ rng.standard_normal((6 - room, width)) + noise * rng.standard_normal((6, width))
        both = np.concatenate([basis, arrays.orthonormal(block, basis)], axis=1)
        assert both.shape[1] <= 6
        np.testing.assert_allclose(both.T @ both, np.eye(both.shape[1]), atol=1e-12)


def test_a_serial_context_keeps_this_thread_and_no_other_to_itself(large, restore_threads, monkeypatch):
    from spectraplex.places.threads import serial

    pattern, data, _ = large
    sx.set_threads(2)
    share, shared = workers.share, []
    monkeypatch.setattr(workers, "share", lambda job, chunks: (shared.append(chunks), share(job, chunks)))
    parallel = everything(pattern, data, 40)
    assert shared
    shared.clear()
    with serial():
        alone = everything(pattern, data, 40)
        assert shared == []
        with ThreadPoolExecutor(1) as pool:
            pool.submit(everything, pattern, data, 40).result()
        assert shared  # another thread is not bound by it
    for one, many in zip(alone, parallel, strict=True):
        np.testing.assert_array_equal(one, many)
    shared.clear()
    everything(pattern, data, 40)
    assert shared


@pytest.mark.parametrize("kind", [np.float32, np.complex64])
def test_factors_in_single_precision_are_summed_in_double(large, kind):
    pattern, data, A = large
    rng = np.random.default_rng(0)
    k = 37
    wide = "complex128" if kind is np.complex64 else "float64"
    U, V = (dense.normal(rng, (n, k), wide).astype(kind) for n in pattern.shape)
    rows, cols = pattern.rows.astype(int), pattern.indices.astype(int)
    wide_U, wide_V = U.astype(wide), V.astype(wide)
    s = rng.random(k)
    want = np.einsum("ek,k,ek->e", wide_U[rows], s, wide_V[cols].conj())
    for got, exact in (
        (pattern.sample(U, V, s), want),
        (pattern.multiply(data, V), A @ wide_V),
    ):
        assert got.dtype.itemsize >= 8 and got.dtype.name in ("float64", "complex128")
        assert np.abs(got - exact).max() <= 1e-13 * np.abs(exact).max() * k


@dtypes
@pytest.mark.parametrize("rows", [3000, 40_000])
def test_large_products_are_the_same_for_any_number_of_threads(dtype, rows):
    """A sum of n products has a relative rounding error of at most n·EPS beside the sum of their sizes."""
    rng = np.random.default_rng(0)
    A, B, small = (dense.normal(rng, shape, dtype) for shape in ((rows, 90), (rows, 16), (90, 16)))
    found, before = [], workers.count
    for count in (1, 2, 3):
        sx.set_threads(count)
        try:
            found.append((arrays.tall_times(A, small), arrays.tall_gram(A, B)))
        finally:
            sx.set_threads(before)
    for times, gram in found:
        assert np.array_equal(times, found[0][0]) and np.array_equal(gram, found[0][1])
    times, gram = found[0]
    size = np.abs(A) @ np.abs(small)
    assert (np.abs(times - A @ small) <= 4 * 90 * arrays.EPS * size).all()
    assert (np.abs(gram - A.conj().T @ B) <= 4 * rows * arrays.EPS * (np.abs(A).T @ np.abs(B))).all()
