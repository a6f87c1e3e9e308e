"""Atoms: every move is the dense formula, weights sum to one, and older values never change."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import dense
from spectraplex.matrices.atoms import Atoms
from spectraplex.places.here import NumPyBuffer

DTYPES = ("float64", "complex128")
dtypes = pytest.mark.parametrize("dtype", DTYPES)
seeds = pytest.mark.parametrize("seed", [0, 1])


def matrix(atoms):
    return dense.matrix((atoms.vectors, atoms.weights, atoms.vectors))


def outer(v):
    v = v / np.linalg.norm(v)
    return np.outer(v, v.conj())


def some(seed, dtype, d=5, count=4):
    rng = np.random.default_rng(seed)
    return Atoms.of(dense.normal(rng, (d, count), dtype), rng.uniform(0.5, 2.0, count)), rng


def check_laws(atoms):
    assert abs(atoms.weights.sum() - 1.0) <= 1e-12
    assert atoms.weights.min() > 0.0
    np.testing.assert_allclose(np.linalg.norm(atoms.vectors, axis=0), 1.0, rtol=1e-13)


def close(got, want):
    np.testing.assert_allclose(got, want, rtol=0, atol=1e-13)


@dtypes
@seeds
def test_atoms_are_made_unit_and_their_weights_sum_to_one(dtype, seed):
    rng = np.random.default_rng(seed)
    V, w = dense.normal(rng, (5, 3), dtype), rng.uniform(1.0, 9.0, 3)
    atoms = Atoms.of(V, w)
    check_laws(atoms)
    close(matrix(atoms), sum(a * outer(v) for a, v in zip(w / w.sum(), V.T, strict=True)))
    assert (len(atoms), atoms.dimension) == (3, 5)
    single = Atoms.of(V[:, 0])
    assert len(single) == 1 and single.weights[0] == 1.0
    close(matrix(single), outer(V[:, 0]))


@dtypes
@seeds
def test_blend_move_shift_and_away_are_the_dense_formulas(dtype, seed):
    atoms, rng = some(seed, dtype)
    X, v, i = matrix(atoms), dense.normal(rng, 5, dtype), 2
    x, a = outer(atoms.vector(i)), atoms.weights[i]
    for share in (0.0, 0.3, 1.0):
        towards = atoms.blend(v, share)
        close(matrix(towards), X + share * (outer(v) - X))
        moved = atoms.move(i, v, share * a)
        close(matrix(moved), X + share * a * (outer(v) - x))
        shifted = atoms.shift(i, 0, share * a)
        close(matrix(shifted), X + share * a * (outer(atoms.vector(0)) - x))
        assert len(shifted) == len(atoms) - (share == 1.0)
        away = atoms.away(i, share * a / (1 - a))
        close(matrix(away), X + share * a / (1 - a) * (X - x))
        for each in (towards, moved, shifted, away):
            check_laws(each)


@dtypes
def test_a_full_step_drops_what_it_empties(dtype):
    atoms, rng = some(0, dtype)
    v, a = dense.normal(rng, 5, dtype), atoms.weights[1]
    assert len(atoms.blend(v, 1.0)) == 1
    assert len(atoms.move(1, v, a)) == 4
    assert len(atoms.away(1, a / (1 - a))) == 3
    assert len(atoms.blend(v, 0.5)) == 5
    assert len(atoms.move(1, v, a / 2)) == 5
    np.testing.assert_array_equal(atoms.move(1, v, a).vectors[:, :3], atoms.vectors[:, [0, 2, 3]])


@dtypes
def test_a_step_of_no_size_adds_no_atom(dtype):
    atoms, rng = some(1, dtype)
    v = dense.normal(rng, 5, dtype)
    for same in (atoms.blend(v, 0.0), atoms.move(0, v, 0.0), atoms.away(0, 0.0)):
        assert len(same) == len(atoms)
        close(matrix(same), matrix(atoms))


@dtypes
@seeds
def test_factor_is_a_square_root(dtype, seed):
    atoms, _ = some(seed, dtype)
    Y = atoms.factor()
    close(Y @ Y.conj().T, matrix(atoms))
    np.testing.assert_allclose(np.linalg.norm(Y), 1.0, rtol=1e-14)


@dtypes
@seeds
@pytest.mark.parametrize("count", [3, 12], ids=["few", "more-than-dimensions"])
def test_compress_is_the_same_matrix_with_the_fewest_atoms(dtype, seed, count):
    rng = np.random.default_rng(seed)
    span = dense.normal(rng, (6, 2), dtype)
    atoms = Atoms.of(span @ dense.normal(rng, (2, count), dtype), rng.uniform(0.5, 1.0, count))
    small = atoms.compress()
    check_laws(small)
    assert len(small) == 2
    close(matrix(small), matrix(atoms))
    close(small.vectors.conj().T @ small.vectors, np.eye(2))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_samples_follow_the_weights(seed):
    atoms, rng = some(seed, "float64")
    draws = np.bincount([atoms.sample(rng) for _ in range(20_000)], minlength=4) / 20_000
    deviation = np.sqrt(atoms.weights * (1 - atoms.weights) / 20_000)
    assert (np.abs(draws - atoms.weights) < 5 * deviation).all()


def test_a_sample_is_an_atom_whatever_is_drawn():
    class Draws:
        def __init__(self, number):
            self.number = number

        def random(self):
            return self.number

    atoms = Atoms.of(np.eye(3), np.array([0.2, 0.3, 0.5]))
    drawn = (0.0, 0.1999, 0.2001, 0.4999, 0.5001, np.nextafter(1, 0))
    assert [atoms.sample(Draws(u)) for u in drawn] == [0, 0, 1, 1, 2, 2]


# -------------------------------------------------------------------------------------------------- a shared buffer


@settings(max_examples=40)
@given(
    st.builds(np.random.default_rng, st.integers(0, 2**32)),
    st.sampled_from(DTYPES),
    st.lists(st.tuples(st.sampled_from(["blend", "move", "away", "compress"]), st.floats(0, 1)), max_size=60),
)
def test_any_sequence_of_moves_keeps_the_laws_and_the_past(rng, dtype, moves):
    atoms = Atoms.of(dense.normal(rng, (4, 2), dtype))
    X = matrix(atoms)
    past = [(atoms, X, atoms.weights.copy())]
    for kind, share in moves:
        v, i = dense.normal(rng, 4, dtype), int(rng.integers(len(atoms)))
        a = float(atoms.weights[i])
        x = outer(atoms.vector(i))
        if kind == "blend":
            atoms, X = atoms.blend(v, 0.9 * share), X + 0.9 * share * (outer(v) - X)
        elif kind == "move":
            atoms, X = atoms.move(i, v, share * a), X + share * a * (outer(v) - x)
        elif kind == "away" and a < 0.9:
            size = share * a / (1 - a)
            atoms, X = atoms.away(i, size), X + size * (X - x)
        elif kind == "compress":
            atoms = atoms.compress()
        check_laws(atoms)
        np.testing.assert_allclose(matrix(atoms), X, rtol=0, atol=1e-11)
        X = matrix(atoms)  # compare one move at a time: away steps amplify rounding
        past.append((atoms, X, atoms.weights.copy()))
    for older, then, weights in past:
        np.testing.assert_array_equal(matrix(older), then)
        np.testing.assert_array_equal(older.weights, weights)


@dtypes
def test_two_continuations_of_one_point_do_not_disturb_each_other(dtype):
    atoms, rng = some(0, dtype)
    v, w = dense.normal(rng, 5, dtype), dense.normal(rng, 5, dtype)
    X = matrix(atoms)
    one, other = atoms.blend(v, 0.25), atoms.blend(w, 0.5)
    for _ in range(40):  # grows the shared buffer more than once
        one = one.blend(dense.normal(rng, 5, dtype), 0.01)
    close(matrix(atoms), X)
    close(matrix(other), 0.5 * X + 0.5 * outer(w))
    close(one.vectors[:, 4], v / np.linalg.norm(v))


def test_a_step_appends_one_column_and_copies_none():
    atoms, rng = some(0, "float64")
    after = atoms.blend(rng.standard_normal(5), 0.3)
    assert after.buffer is atoms.buffer
    assert atoms.buffer.used == 5
    np.testing.assert_array_equal(after.index, [0, 1, 2, 3, 4])


def test_columns_that_nobody_uses_are_left_behind():
    rng = np.random.default_rng(0)
    atoms = Atoms.of(rng.standard_normal((5, 3)))
    first, X = atoms, matrix(atoms)
    for _ in range(200):
        atoms = atoms.move(0, rng.standard_normal(5), float(atoms.weights[0]))  # the number of atoms stays three
        assert len(atoms) == 3
        assert atoms.buffer.used <= 1.2 * 3 + 8 + 1
    assert atoms.buffer is not first.buffer
    np.testing.assert_array_equal(matrix(first), X)


def test_vectors_are_copies():
    atoms, _ = some(0, "float64")
    X = matrix(atoms)
    atoms.vectors[:] = 0.0
    atoms.vector(1)[:] = 0.0
    atoms.factor()[:] = 0.0
    np.testing.assert_array_equal(matrix(atoms), X)


@dtypes
def test_the_single_precision_copy_keeps_up(dtype):
    rng = np.random.default_rng(0)
    buffer = NumPyBuffer(dense.normal(rng, (4, 2), dtype), room=1)
    for _ in range(9):
        buffer.append(dense.normal(rng, (4, 1), dtype))
        single = buffer.single
        assert single.dtype == (np.complex64 if dtype == "complex128" else np.float32)
        np.testing.assert_allclose(single[:, : buffer.used], buffer.block[:, : buffer.used], rtol=1e-6)
    assert buffer.used == 11
