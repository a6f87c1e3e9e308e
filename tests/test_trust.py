"""What a certificate must survive: forged documents, damaged folders, bounds that are mere claims, data of any size."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
import scipy.sparse as sp

import spectraplex as sx
from problems import PROBLEMS
from spectraplex.certificates.certificate import Evidence


@pytest.fixture
def known():
    return PROBLEMS["ball, active"](np.random.default_rng(0))


@pytest.fixture
def result(known):
    return sx.solve(known.problem, "cg", sx.Stop(max_steps=15))


def document(result, **changed):
    return json.dumps(json.loads(result.certificate.to_json()) | changed)


@pytest.mark.parametrize(
    ("changed", "words"),
    [
        ({"value": "0x1p99999"}, "no certificate"),
        ({"spectraplex certificate": 1}, "has format 1, and this version reads 3; certify X anew"),
        ({"spectraplex certificate": 2}, "has format 2, and this version reads 3; certify X anew"),
        ({"spectraplex certificate": "3"}, "has format '3'"),
        ({"kind": 7}, "words are not text"),
        ({"seal": ""}, "words are not text"),
        ({"rounding": (-1.0).hex()}, "contradicts itself"),
    ],
)
def test_documents_that_are_none(known, result, changed, words):
    with pytest.raises(ValueError, match=words):
        sx.verify(document(result, **changed), known.problem, result)


@pytest.mark.parametrize("name", ["failure", "version", "data", "factors", "dual", "rounding"])
def test_a_changed_field_is_noticed_with_the_old_seal_and_with_a_new_one(known, result, name):
    certificate = result.certificate
    old = getattr(certificate, name)
    forged = replace(certificate, **{name: 0.5 if name == "failure" else 4 * old if name == "rounding" else old + "0"})
    assert not sx.verify(forged, known.problem, result)
    if name not in ("failure", "version"):  # those are no part of what the data can prove: the seal alone tells
        said = str(sx.verify(replace(forged, seal=""), known.problem, result))
        assert f"{name}:" in said and "changed" not in said


def test_a_smaller_failure_has_to_be_earned():
    """A forger who seals again and claims 1e-300: our own bound must then reach the claim with that probability."""
    rng = np.random.default_rng(0)
    A = rng.standard_normal((220, 230)) / 15
    problem = sx.Problem(sx.Distance(A), sx.NuclearBall((220, 230), 3.0))
    X = sx.solve(problem, stop=sx.Stop(relative_gap=1e-2)).X
    honest = sx.certify(problem, X, products=12)
    assert honest.kind == "probable" and sx.verify(honest, problem, X)
    sure = replace(honest, failure=1e-300, seal="")
    assert sx.verify(sure, problem, X)  # true, and shown with more products than the claim took
    assert not sx.verify(replace(sure, lower_bound=0.5 * (honest.value + honest.lower_bound)), problem, X)


def test_verify_speaks_for_itself(known, result):
    with pytest.raises(TypeError, match=r"^verify: X "):
        sx.verify(result.certificate, known.problem, None)
    with pytest.raises(TypeError, match=r"^Certificate: value must be a number, got None\.$"):
        replace(result.certificate, value=None)


def test_rounding_covers_what_lies_outside_by_rounding():
    """½(z − 8)² on a ball of just less than 8: a few last bits too many are worth more than the sum's own."""
    radius = 7.999999994888654
    problem = sx.Problem(sx.Completion([0], [0], [8.0], (1, 1)), sx.NuclearBall((1, 1), radius))
    for bits in range(17):
        s = radius * (1 + bits * 2.0**-52)
        found = sx.certify(problem, ([[1.0]], [s], [[1.0]]))
        assert Fraction(found.value) + Fraction(found.rounding) >= (8 - Fraction(radius)) ** 2 / 2


def test_what_is_no_problem_gets_a_sentence(result):
    for call in (lambda: sx.verify(result.certificate, None, result), lambda: sx.certify(None, result)):
        with pytest.raises(TypeError, match="must be a Problem or Penalized, got NoneType"):
            call()


def test_a_resumed_run_does_not_believe_its_folder(known, result, tmp_path):
    result.save(tmp_path)
    page = tmp_path / "result.json"
    honest = sx.solve(known.problem, "cg", sx.Stop(max_steps=0), start=sx.load(tmp_path), certify=False)
    assert honest.lower_bound == pytest.approx(result.lower_bound, abs=1e-6)
    text = json.loads(page.read_text(encoding="utf-8"))
    for claimed in (known.optimum + 1.0, 1e9):
        text["state"]["lower_bound"] = claimed
        page.write_text(json.dumps(text), encoding="utf-8")
        again = sx.solve(known.problem, "cg", sx.Stop(max_steps=0), start=sx.load(tmp_path), certify=False)
        assert again.lower_bound == -np.inf and again.certificate.kind == "none"
        on = sx.solve(known.problem, "cg", sx.Stop(max_steps=5), start=sx.load(tmp_path))
        assert on.lower_bound <= known.optimum


@pytest.mark.parametrize("name", ["index", "columns", "weights", "image"])
def test_a_damaged_state_is_refused_or_mended(known, result, name, tmp_path):
    result.save(tmp_path)
    with np.load(tmp_path / "result.npz") as file:
        arrays = {each: file[each] for each in file.files}
    for change in (lambda a: a + 1000, lambda a: a * np.nan if a.dtype.kind == "f" else -a - 1, lambda a: a[:0]):
        np.savez(tmp_path / "result.npz", **(arrays | {f"state.{name}": change(arrays[f"state.{name}"])}))
        loaded = sx.load(tmp_path)
        if name == "image":  # measured afresh
            again = sx.solve(known.problem, "cg", sx.Stop(max_steps=1), start=loaded)
            assert again.lower_bound <= known.optimum <= again.value + again.certificate.rounding
        else:
            with pytest.raises(ValueError, match="damaged result"):
                sx.solve(known.problem, "cg", sx.Stop(max_steps=1), start=loaded)


def test_a_sparse_table_that_is_feasible_is_worth_nothing_and_not_less():
    A = np.diag([1.0, 2.0, 3.0, 4.0]) / 3
    problem = sx.Problem(sx.Distance(sp.csr_array(A)), sx.NuclearBall((4, 4), 20.0))
    found = sx.certify(problem, A)
    assert 0.0 == found.lower_bound <= found.value <= 1e-12 and sx.verify(found, problem, A)
    for method in ("cg", "pairwise", "hybrid"):
        result = sx.solve(problem, method, sx.Stop(max_steps=40))
        assert result.status is not sx.Status.INCONSISTENT and result.value >= 0.0 == result.lower_bound


def test_a_ball_that_is_far_too_large_hides_no_optimum():
    f = sx.Completion([0, 1], [0, 1], [1.0, 2.0], (2, 2))
    for method in ("hybrid", "cg", "pairwise", "in-face", "apgd"):
        result = sx.solve(sx.Problem(f, sx.NuclearBall((2, 2), 1e8)), method)
        assert result.value < 1e-10, method


def test_the_value_of_a_penalised_answer_is_not_below_the_optimum():
    """ℓ + λ‖X‖_* of the very X that is returned, in rational numbers: no smaller charge of the atoms it was kept as."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        a, lam = rng.uniform(0.1, 5.0, 3), float(rng.uniform(0.05, 2.0))
        problem = sx.Penalized(sx.Distance(np.diag(a)), lam)
        result = sx.solve(problem, ["cg", "pairwise", "hybrid"][seed % 3], sx.Stop(max_steps=6))
        best = sum(
            Fraction(lam) * Fraction(each) - Fraction(lam) ** 2 / 2 if each > lam else Fraction(each) ** 2 / 2
            for each in map(float, a)
        )
        assert Fraction(result.lower_bound) <= best <= Fraction(result.value) + Fraction(result.certificate.rounding)


def test_printed_shares_stay_short():
    for value, low in ((4.7e-313, -1.07e-12), (2e-201, -5.5e-15), (5e-324, -1e300), (0.0, -1.0), (1e-300, -1.0)):
        assert len(str(sx.Certificate("proven", 0.0, value, low, 0.0))) < 160


@pytest.mark.parametrize("m", [2, 50, 1000])
def test_columns_that_are_not_quite_unit_gain_nothing(m):
    """½(X₁₁ − b)² with b out of reach: a column too long by some m·EPS must not look better than the optimum."""
    e, low, lam = np.zeros((m, 1)), 1.001, 0.25
    e[0] = 1 + 0.99 * 2.0**-52 * (m + 16)
    f = sx.Completion([0], [0], [low], (m, m))
    best = (Fraction(low) - 1) ** 2 / 2
    cases = [
        (sx.Problem(f, sx.Spectrahedron(m)), (e, np.ones(1)), best),
        (sx.Problem(f, sx.TraceBall(m, 1.0)), (e, np.ones(1)), best),
        (sx.Problem(f, sx.NuclearBall((m, m), 1.0)), (e, np.ones(1), e), best),
        (
            sx.Penalized(f, lam),
            (e, np.array([low - lam]), e),
            Fraction(lam) * Fraction(low) - Fraction(lam) ** 2 / 2,
        ),
    ]
    for problem, X, optimum in cases:
        found = sx.certify(problem, X, products=12)
        assert Fraction(found.lower_bound) <= optimum <= Fraction(found.value) + Fraction(found.rounding)
        assert sx.verify(found, problem, X)


@pytest.mark.parametrize(("a", "lam"), [(3.7213122053209635, 1e-17), (1.1, 1e-20)])
def test_a_run_that_only_moves_within_rounding_ends(a, lam):
    """The optimal slope, −λ, is far below the last place of X: no X shows it, and steps go on in last places."""
    problem = sx.Penalized(sx.Distance([[a]]), lam)
    result = sx.solve(problem, stop=sx.Stop(relative_gap=1e-3, max_steps=1000))
    assert result.status in (sx.Status.STALLED, sx.Status.FLOOR, sx.Status.GAP)
    assert sx.verify(result.certificate, problem, result)


def dips(X):
    """Half the square of X₁₁, convex on all matrices of trace one; beyond them a constant that is no bound."""
    slope = np.zeros_like(X)
    if X[0, 0] > 1.5:
        return 0.3, slope
    slope[0, 0] = X[0, 0]
    return 0.5 * float(X[0, 0]) ** 2, slope


@pytest.mark.parametrize(
    "evidence",
    [
        Evidence("image", {"z": np.diag([2.0, 0.0, 0.0])}),
        Evidence("factors", {"U": np.eye(3)[:, :1], "s": np.array([2.0])}),
        Evidence("factors", {"U": np.eye(3)[:, :1], "s": np.array([np.nan])}),
        Evidence("factors", {"U": np.eye(2)[:, :1], "s": np.ones(1)}),
        Evidence("factors", {"U": np.eye(3)[:, :1], "s": np.ones(1), "V": np.eye(3)[:, :1]}),
    ],
)
def test_a_function_proves_nothing_where_no_feasible_matrix_is(evidence):
    """The optimum is 0; a place outside the domain would show 0.3, and the value at X is 0.4."""
    problem, X = sx.Problem(sx.Smooth(dips, (3, 3)), sx.Spectrahedron(3)), (np.eye(3)[:, :2], np.array([0.9, 0.1]))
    honest = sx.certify(problem, X)
    assert honest.lower_bound <= 0.0 and sx.verify(honest, problem, X)
    forged = replace(honest, kind="proven", failure=0.0, lower_bound=0.29, dual=evidence.mark, evidence=evidence)
    assert "dual:" in str(sx.verify(replace(forged, seal=""), problem, X))


def softened(seed, domain):
    B = np.random.default_rng(seed).standard_normal(domain.shape)
    B = B + B.T
    return sx.Problem(sx.Smooth(lambda X: (float(np.sum(np.log(np.cosh(X - B)))), np.tanh(X - B)), B.shape), domain)


@pytest.mark.parametrize(
    "domain", [sx.Spectrahedron(8, 2.0), sx.TraceBall(8, 2.0), sx.NuclearBall((8, 8), 3.0)], ids=str
)
def test_evidence_of_an_own_function_is_another_feasible_matrix(domain, tmp_path):
    kinds = set()
    for seed in range(4):
        problem = softened(seed, domain)
        for steps in range(2, 30, 3):
            result = sx.solve(problem, "cg", sx.Stop(relative_gap=1e-9, max_steps=steps), certify=steps % 2 == 0)
            assert sx.verify(result.certificate, problem, result)
            certificate = sx.Certificate.load(result.certificate.save(tmp_path / "c.json"))
            assert sx.verify(certificate, problem, result.X)
            kinds |= {certificate.evidence.kind} if certificate.evidence else set()
            again = sx.solve(problem, "cg", sx.Stop(max_steps=0), start=result, certify=False)
            assert again.lower_bound <= result.lower_bound + 1e-12 * abs(result.value)
    assert kinds <= {"factors"}


class Boxed:
    """An image or a slope that says nothing of itself."""

    def __init__(self, array):
        self.array = array


class Opaque(sx.Smooth):
    """A user's own objective whose images and slopes are no arrays."""

    def measure(self, U, s, V):
        return Boxed(super().measure(U, s, V))

    def combine(self, a, z, b, w):
        return Boxed(super().combine(a, z.array, b, w.array))

    def evaluate(self, z):
        value, slope = super().evaluate(z.array)
        return value, Boxed(slope)

    def along(self, z, dz):
        return sx.Smooth(self.value_and_gradient, self.shape).along(z.array, dz.array)

    def pair(self, slope, z):
        return super().pair(slope.array, z.array)

    def gradient(self, slope):
        return super().gradient(slope.array)


@pytest.mark.parametrize("end", ["interrupted", "not certified", "certified"])
def test_a_bound_that_cannot_be_shown_is_not_claimed(end):
    """The best bound of these runs often came from an earlier slope than that of X."""
    for seed in range(4):
        problem = softened(seed, sx.Spectrahedron(8, 2.0))
        problem = sx.Problem(Opaque(problem.objective.value_and_gradient, (8, 8)), problem.domain)
        for method, last, gap in itertools.product(("cg", "pairwise"), (5, 9, 14, 20, 33), (1e-3, 1e-4)):

            def interrupt(record, point, last=last):
                if end == "interrupted" and record.step >= last:
                    raise KeyboardInterrupt

            stop = sx.Stop(relative_gap=gap, max_steps=100 if end == "interrupted" else last)
            result = sx.solve(problem, method, stop, [interrupt], certify=end == "certified")
            assert sx.verify(result.certificate, problem, result), (seed, last, result.status)
            assert result.certificate.kind != "none" or end != "certified"


def test_the_rounding_of_an_own_function_holds_in_another_order_of_summation(monkeypatch):
    """At an interior optimum of zero the value is all rounding: it must be stated to the size that it has elsewhere."""
    for seed in range(20):
        rng = np.random.default_rng(seed)
        d = int(rng.integers(5, 12))
        G, B = rng.standard_normal((d, d)), rng.standard_normal((d, d))
        T, B = G @ G.T / (1.7 * np.sum(G * G)), B + B.T
        target = float(np.sum(B * T))

        def square(X, B=B, target=target):
            off = float(np.sum(B * X)) - target
            return 0.5 * off * off, off * B

        problem = sx.Problem(sx.Smooth(square, (d, d)), sx.TraceBall(d, 1.0))
        result = sx.solve(problem, stop=sx.Stop(gap=1e-300, max_steps=30))
        with monkeypatch.context() as other:
            other.setattr(
                sx.Smooth, "measure", lambda self, U, s, V: sum(w * np.outer(u, u) for u, w in zip(U.T, s, strict=True))
            )
            assert sx.verify(result.certificate, problem, result)
