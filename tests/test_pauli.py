"""Pauli settings and products of local POVMs beside the same measurements as a dense stack."""

from __future__ import annotations

from functools import reduce
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import spectraplex as sx
from spectraplex.measurements import povms
from spectraplex.measurements import product as product_room
from spectraplex.places.pauli import Factored, Whole

ROWS = {"X": [[1, 1], [1, -1]], "Y": [[1, -1j], [1, 1j]], "Z": [[2**0.5, 0], [0, 2**0.5]]}
SIGMA = {"I": [[1, 0], [0, 1]], "X": [[0, 1], [1, 0]], "Y": [[0, -1j], [1j, 0]], "Z": [[1, 0], [0, -1]]}


def kron(matrices):
    return reduce(np.kron, [np.asarray(each) for each in matrices])


def projectors(word):
    rows = kron([ROWS[letter] for letter in word]) / 2 ** (len(word) / 2)
    return np.einsum("oi,oj->oij", rows.conj(), rows)


def factors(rng, d, dtype, rank=3):
    U = rng.standard_normal((d, rank)) + (1j * rng.standard_normal((d, rank)) if dtype == "complex128" else 0.0)
    return U, rng.standard_normal(rank)


def agree(measurements, dense, rng):
    """Images, products with the adjoint and its matrix, within rounding of what is summed."""
    U, s = factors(rng, measurements.shape[0], measurements.dtype)
    V = U[:, ::-1] + 1.0
    size = float(np.abs(s) @ (np.linalg.norm(U, axis=0) * (1 + np.linalg.norm(V, axis=0))))
    assert np.abs(measurements.measure(U, s, U) - dense.measure(U, s, U)).max() < 1e-13 * size
    assert np.abs(measurements.measure(U, s, V) - dense.measure(U, s, V)).max() < 1e-13 * size
    y = rng.standard_normal(measurements.size)
    ours, theirs = measurements.adjoint(y), dense.adjoint(y)
    total = np.abs(y).sum()
    assert np.abs(ours.dense() - theirs.dense()).max() < 1e-13 * total
    assert np.abs(ours.matmat(V) - theirs.matmat(V)).max() < 1e-13 * total * np.linalg.norm(V)
    assert ours.hermitian and ours.noise() > 0.0
    assert np.linalg.norm(ours.dense() - theirs.dense(), 2) <= ours.noise() + theirs.noise() + 1e-300
    gram = np.linalg.eigvalsh(dense.gram())[-1]
    assert gram <= measurements.reach**2 * (1 + 1e-9)


words = st.integers(1, 4).flatmap(lambda n: st.lists(st.text("XYZ", min_size=n, max_size=n), min_size=1, max_size=6))
strings = st.integers(1, 4).flatmap(lambda n: st.lists(st.text("IXYZ", min_size=n, max_size=n), min_size=1, max_size=6))


@pytest.mark.parametrize("way", [Whole, Factored])
@settings(max_examples=25, deadline=None)
@given(words=words, seed=st.integers(0, 99))
def test_settings_are_the_dense_projectors(way, words, seed):
    ours = sx.Pauli(words)
    ours._engine = way(ours._digits, False, ours.dtype)
    agree(ours, sx.Matrices(np.concatenate([projectors(word) for word in words])), np.random.default_rng(seed))
    assert ours.dtype == ("complex128" if "Y" in "".join(words) else "float64")


@pytest.mark.parametrize("way", [Whole, Factored])
@settings(max_examples=25, deadline=None)
@given(words=words, seed=st.integers(0, 99))
def test_some_outcomes_of_some_settings(way, words, seed):
    rng = np.random.default_rng(seed)
    outcomes = rng.integers(0, 2 ** len(words[0]), len(words))
    bits = [format(o, f"0{len(words[0])}b") for o in outcomes]
    ours = sx.Pauli(words, bits)
    ours._engine = way(ours._digits, False, ours.dtype)
    dense = np.stack([projectors(word)[o] for word, o in zip(words, outcomes, strict=True)])
    agree(ours, sx.Matrices(dense), rng)
    assert np.array_equal(sx.Pauli(words, outcomes).outcomes, outcomes)


@pytest.mark.parametrize("way", [Whole, Factored])
@settings(max_examples=25, deadline=None)
@given(words=words, seed=st.integers(0, 99))
def test_noisy_readout_is_that_of_products(way, words, seed):
    rng = np.random.default_rng(seed)
    first = rng.uniform(0.6, 1.0, (len(words[0]), 2))
    read = [np.array([[a, 1 - b], [1 - a, b]]) for a, b in first]
    ours = sx.Pauli(words, readout=read)
    ours._engine = way(ours._digits, False, ours.dtype)
    both = kron(read)
    dense = [np.einsum("ot,tij->oij", both, projectors(word)) for word in words]
    agree(ours, sx.Matrices(np.concatenate(dense)), rng)
    parts = sx.Product([povms.pauli(each) for each in read], words)
    U, s = factors(rng, ours.shape[0], "complex128")
    assert (
        np.abs(parts.measure(U, s, U) - ours.measure(U, s, U)).max() < 1e-12 * np.linalg.norm(U) ** 2 * np.abs(s).max()
    )


@pytest.mark.parametrize("way", [Whole, Factored])
@settings(max_examples=25, deadline=None)
@given(words=strings, seed=st.integers(0, 99))
def test_expectation_values_of_strings(way, words, seed):
    ours = sx.Pauli(words, expectations=True)
    ours._engine = way(ours._digits, True, ours.dtype)
    dense = np.stack([kron([SIGMA[letter] for letter in word]) for word in words])
    agree(ours, sx.Matrices(dense), np.random.default_rng(seed))


def test_all_settings_of_five_qubits_both_ways():
    rng = np.random.default_rng(0)
    ours = sx.Pauli(["".join(word) for word in product("XYZ", repeat=5)])
    other = Factored(ours._digits, False, ours.dtype)
    U, s = factors(rng, 32, "complex128", 4)
    both = other.measure(U, s)[other.where].reshape(-1)
    size = float(np.abs(s) @ np.linalg.norm(U, axis=0) ** 2)
    assert np.abs(ours.measure(U, s, U) - both).max() < 1e-13 * size
    chances = ours.measure(U, s, U).reshape(243, 32).sum(axis=1)
    assert np.allclose(chances, (s * np.linalg.norm(U, axis=0) ** 2).sum(), atol=1e-12 * size)


@pytest.mark.slow
def test_more_qubits_than_matrices_are_made_for():
    """Twelve qubits go by rotations; a product state's chances are known."""
    n = 12
    ours = sx.Pauli(["X" * n, "Z" * n, "Y" * n])
    assert not ours.dense
    plus = np.full((2**n, 1), 2.0 ** (-n / 2), complex)
    z = ours.measure(plus, np.ones(1), plus).reshape(3, -1)
    assert abs(z[0, 0] - 1.0) < 1e-13 and np.abs(z[0, 1:]).max() < 1e-13
    assert np.abs(z[1:] - 2.0**-n).max() < 1e-15
    single = ours.measure(plus.astype(np.complex64), np.ones(1), plus.astype(np.complex64)).reshape(3, -1)
    assert np.abs(single - z).max() < 1e-5


LOCAL = {
    "sic": povms.sic(),
    "mub": povms.mub(2),
    "qutrit": povms.mub(3),
    "trivial": np.eye(2)[None],
    "noisy": {name: E for name, E in povms.pauli([[0.9, 0.2], [0.1, 0.8]]).items()},
    "mixed": {"A": povms.sic(), "Z": povms.basis(2)},
    "real": povms.basis([[0.6, 0.8], [0.8, -0.6]]),
}


@pytest.mark.parametrize("whole", [True, False])
@settings(max_examples=30, deadline=None)
@given(names=st.lists(st.sampled_from(sorted(LOCAL)), min_size=1, max_size=3), seed=st.integers(0, 99))
def test_products_are_the_dense_krons(whole, names, seed):
    rng = np.random.default_rng(seed)
    parts = [LOCAL[name] for name in names]
    choices = [list(part) if isinstance(part, dict) else [""] for part in parts]
    asked = [tuple(rng.choice(each) for each in choices) for _ in range(4)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(product_room, "_WHOLE", 600 if whole else 0)
        ours = sx.Product(parts, asked)
    dense = []
    for setting in asked:
        each = [part[one] if isinstance(part, dict) else part for part, one in zip(parts, setting, strict=True)]
        dense += [kron(elements) for elements in product(*each)]
    agree(ours, sx.Matrices(np.array(dense)), rng)
    pick = (
        rng.integers(0, ours.size // 4, 4)
        if len({len(LOCAL[name]) for name in names}) == 1 and names[0] == "sic"
        else None
    )
    if pick is not None:
        some = sx.Product(parts, asked, pick)
        sizes = [len(each) for each in parts]
        wanted = [kron([part[o] for part, o in zip(parts, np.unravel_index(p, sizes), strict=True)]) for p in pick]
        agree(some, sx.Matrices(np.array(wanted)), rng)


@pytest.mark.parametrize("povm", [povms.sic(), povms.mub(2), povms.mub(3), povms.mub(5), povms.basis(4)])
def test_povms_sum_to_one(povm):
    d = povm.shape[1]
    assert np.allclose(povm.sum(axis=0), np.eye(d)) and np.linalg.eigvalsh(povm).min() > -1e-12
    if povm.shape[0] > d:  # informationally complete
        assert np.linalg.matrix_rank(povm.reshape(povm.shape[0], -1)) == d * d


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: sx.Pauli("XZ"), "list of words"),
        (lambda: sx.Pauli([]), "no settings"),
        (lambda: sx.Pauli(["XZ", "X"]), r"settings\[1\].*1 letters"),
        (lambda: sx.Pauli(["XI"]), "expectations=True"),
        (lambda: sx.Pauli(["XA"]), "among X, Y, Z"),
        (lambda: sx.Pauli([3]), r"settings\[0\]"),
        (lambda: sx.Pauli(["XX"], [4]), r"outcomes\[0\] is 4"),
        (lambda: sx.Pauli(["XX"], ["012"]), "2 bits"),
        (lambda: sx.Pauli(["XX"], [0, 1]), "1 settings but 2 outcomes"),
        (lambda: sx.Pauli(["XX"], [0], expectations=True), "leave out one"),
        (lambda: sx.Pauli(["X" * 25]), "between 1 and 24"),
        (lambda: sx.Pauli(["XX"], readout=[np.eye(2)]), "for each of 2 qubits"),
        (lambda: sx.Pauli(["X"], expectations=True, readout=[np.eye(2)]), "about outcomes"),
        (lambda: sx.Product(povms.pauli()), "list with one measurement a part"),
        (lambda: sx.Product([povms.pauli()]), "give settings"),
        (lambda: sx.Product([povms.pauli()], ["A"]), "it has 'X', 'Y', 'Z'"),
        (lambda: sx.Product([povms.pauli()], ["XX"]), "2 names for 1 parts"),
        (lambda: sx.Product([np.eye(2)[None] / 2]), "identity"),
        (lambda: sx.Product([[np.diag([2.0, 0.5]), np.diag([-1.0, 0.5])]]), "never negative"),
        (lambda: sx.Product([povms.sic()], None, [9]), r"outcomes\[0\]"),
        (lambda: povms.pauli([[0.9, 0.2], [0.2, 0.8]]), "sum to one"),
        (lambda: povms.mub(4), "prime"),
    ],
)
def test_what_is_no_measurement_is_refused(make, words):
    with pytest.raises((TypeError, ValueError), match=words):
        make()
