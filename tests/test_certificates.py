"""Certificates that hold: lower_bound ≤ f* ≤ value, always; with the negative control that a Ritz value breaks it."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest

import spectraplex as sx
from problems import PROBLEMS, normal, orthonormal, random_known
from spectraplex.certificates import lower as room
from spectraplex.certificates.certificate import Evidence
from spectraplex.certificates.dual import Candidate, dual_value
from spectraplex.certificates.judged import look
from spectraplex.certificates.lower import lower_bound
from spectraplex.eigen.bounds import upper_bound
from spectraplex.matrices.lifted import Lifted
from spectraplex.matrices.operators import Dense

# ------------------------------------------------------------------------------------------- brackets, and the control


def near(seed: int) -> tuple:
    """A problem with a known optimum, and a point very near it: where a bound that is too high shows at once."""
    known = random_known(seed)
    result = sx.solve(known.problem, "apgd", sx.Stop(max_steps=120), seed=seed, certify=False)
    return known, known.problem.point(known.problem.domain.raised(result.X))


def bracket(seed: int, kind: str | None, products: float = 1000.0) -> tuple[float, float, float]:
    known, point = near(seed)
    candidate = Candidate.of(point)
    descent = known.problem.lifted.gradient(candidate.slope, -1.0)
    rng = np.random.default_rng([seed, 2])
    top = upper_bound(descent, kind=kind, failure=1e-9, products=products, rng=rng).value
    return dual_value(known.problem, candidate, top)[0], known.optimum, point.value


def check(seed: int) -> None:
    for kind, products in (("proven", 1000.0), ("probable", 1000.0), ("probable", 3.0)):
        low, optimum, high = bracket(seed, kind, products)
        scale = max(1.0, abs(optimum))
        assert low <= optimum + 1e-12 * scale, (seed, kind, products)
        assert optimum <= high + 1e-11 * scale, (seed, kind, products)


@pytest.mark.parametrize("block", [*range(6), *(pytest.param(block, marks=pytest.mark.slow) for block in range(6, 10))])
def test_brackets_near_the_optimum(block):
    for seed in range(10 * block, 10 * (block + 1)):
        check(seed)


@pytest.mark.long
@pytest.mark.parametrize("block", range(30))
def test_brackets_near_the_optimum_long(block):
    for seed in range(10_000 + 100 * block, 10_100 + 100 * block):
        check(seed)


@pytest.mark.slow
def test_negative_control_a_ritz_value_gives_false_brackets():
    """The same problems with the usual estimate in place of the bound: if none were false, they would be too easy."""
    false = 0
    for seed in range(100):
        low, optimum, _ = bracket(seed, "estimate", products=3.0)
        false += low > optimum + 1e-9 * max(1.0, abs(optimum))
    assert false >= 20


def test_negative_control_inside_solve(monkeypatch):
    """The whole run, its bound swapped for a Ritz value of two products: it lies above the value, and that is seen."""
    known = PROBLEMS["ball, active"](np.random.default_rng(0))

    def usual(operator, **asked):
        return upper_bound(operator, **(asked | {"kind": "estimate", "products": 2.0}))

    honest = sx.solve(known.problem, "apgd", sx.Stop(max_steps=200))
    monkeypatch.setattr(room, "upper_bound", usual)
    lies = sx.solve(known.problem, "apgd", sx.Stop(max_steps=200))
    assert honest.lower_bound <= known.optimum
    assert lies.status is sx.Status.INCONSISTENT and lies.certificate.kind == "none"


@pytest.mark.parametrize("loss", ["squared", "huber", "logistic"])
def test_any_slope_and_any_scale_give_a_bound_and_the_best_scale_is_found(loss):
    """Weak duality for random slopes (not of any point), against the maximum over c found by brute force."""
    for seed in range(6):
        rng = np.random.default_rng(seed)
        known = PROBLEMS[f"ball, {'Huber' if loss == 'huber' else loss}"](rng)
        point = known.problem.point(known.problem.domain.start("float64", rng))
        slope = point.slope * rng.uniform(0.2, 1.0, point.slope.size)
        candidate = Candidate(point.value, slope, None)
        top = np.linalg.eigvalsh(known.problem.lifted.gradient(slope, -1.0).dense())[-1]
        found, _ = dual_value(known.problem, candidate, top)
        conjugate = known.problem.objective.conjugate(slope)
        grid = np.linspace(0, min(conjugate.limit, 4.0), 4001)
        brute = max(-conjugate.at(c) - c * top for c in grid)
        assert found <= known.optimum + 1e-10
        assert found == pytest.approx(max(brute, 0.0), rel=1e-4, abs=1e-6)


@pytest.mark.parametrize("loss", ["squared", "huber", "logistic"])
@pytest.mark.parametrize("weighted", [False, True])
def test_conjugates_are_the_suprema_they_claim_to_be(loss, weighted):
    """ℓ*(y) = sup_z ⟨y, z⟩ − ℓ(z), one number at a time, on a fine grid."""
    rng = np.random.default_rng(1)
    z = np.linspace(-60, 60, 240_001)
    for _ in range(5):
        value = float(rng.choice([-1.0, 1.0])) if loss == "logistic" else float(rng.standard_normal())
        weights = [float(rng.uniform(0.5, 2))] if weighted else None
        f = sx.Completion([0], [0], [value], (1, 1), loss, delta=0.7, weights=weights)
        slope = f.evaluate(np.array([float(rng.uniform(-2, 2))]))[1]
        fine = f.loss.evaluate
        conjugate = f.conjugate(slope)
        for c in (0.3, 0.9):
            best = max(c * slope[0] * t - fine(np.array([t]), f.values, f.weights)[0] for t in z[::40])
            assert conjugate.at(c) == pytest.approx(best, abs=2e-4)
        assert conjugate.limit >= 1.0


def test_scaling_never_hurts():
    for name in ("ball, active", "ball, squared", "ball, Huber", "ball, logistic", "sensing", "rank 3 of 12"):
        known = PROBLEMS[name](np.random.default_rng(3))
        for steps in (1, 5, 30):
            found = sx.Collect(points=True)
            sx.solve(known.problem, "cg", sx.Stop(max_steps=steps), observers=[found])
            point = found.points[-1]
            top = np.linalg.eigvalsh(known.problem.descent(point).dense())[-1]
            plain = point.value - known.problem.lifted.pair(point.slope, point.image) - top
            scaled, _ = dual_value(known.problem, Candidate.of(point), top)
            assert scaled >= plain - 1e-9 * max(1.0, abs(plain))


# ----------------------------------------------------------------------------------------------------- the bounds


def spectrum(rng, values, complex_=False):
    Q = orthonormal(rng, values.size, values.size, complex_)
    A = (Q * values) @ Q.conj().T
    return (A + A.conj().T) / 2


@pytest.mark.parametrize("scale", [1e-150, 1e-30, 1.0, 1e30, 1e150])
@pytest.mark.parametrize("kind", ["proven", "probable"])
@pytest.mark.parametrize("complex_", [False, True])
def test_bounds_at_every_scale(scale, kind, complex_):
    for seed, d in enumerate((1, 2, 3, 20, 60)):
        rng = np.random.default_rng(seed)
        values = np.sort(rng.standard_normal(d))
        A = scale * spectrum(rng, values, complex_)
        top = np.linalg.eigvalsh(A / scale)[-1] * scale
        bound = upper_bound(Dense(A, hermitian=True), kind=kind, rng=rng)
        assert bound.value >= top - 1e-14 * abs(top)
        assert bound.value - top <= 1e-9 * d * scale
        R = scale * normal(rng, (d, d + 3), complex_)
        sigma = np.linalg.svd(R / scale, compute_uv=False)[0] * scale
        lifted = Lifted(Dense(R), slice(0, d), slice(d, 2 * d + 3), 2 * d + 3, 2.0)
        bound = upper_bound(lifted, kind=kind, rng=rng)
        assert sigma * (1 - 1e-14) <= bound.value <= sigma * (1 + 1e-7)


def test_bounds_of_hostile_spectra():
    """Clustered, tied, graded, all negative, zero, with the leading eigenvector anywhere."""
    d = 40
    spectra = [
        np.append(np.zeros(d - 1), 1e-3),
        np.append(np.linspace(-1, 1, d - 1), 1.0 + 1e-9),
        np.append(np.full(d - 1, -1.0), -1.0 + 1e-12),
        -(3.0 ** -np.arange(d)),
        3.0 ** -np.arange(d),
        np.zeros(d),
        np.full(d, -7.0),
        np.append(np.full(d - 5, 0.0), np.full(5, 2.0)),
    ]
    for seed, values in enumerate(spectra):
        rng = np.random.default_rng(seed)
        A = spectrum(rng, np.sort(values))
        for kind in ("proven", "probable"):
            for products in (3.0, 10.0, 1000.0):
                bound = upper_bound(Dense(A, hermitian=True), kind=kind, products=products, rng=rng)
                assert bound.value >= values.max() - 1e-15 * d


@pytest.mark.slow
@pytest.mark.parametrize("complex_", [False, True])
def test_the_probable_bound_fails_less_often_than_it_says(complex_):
    """Thousands of random starts at δ = 0.01; the control at the same steps, a Ritz value, fails always."""
    rng = np.random.default_rng(0)
    d, trials, delta = 25, 3000, 1e-2
    failures = control = 0
    A = spectrum(rng, np.append(np.sort(rng.standard_normal(d - 1)), 4.0), complex_)
    for trial in range(trials):
        bound = upper_bound(
            Dense(A, hermitian=True),
            kind="probable",
            failure=delta,
            products=3 + trial % 5,
            rng=np.random.default_rng(trial),
        )
        failures += bound.value < 4.0 - 1e-12
        control += bound.estimate < 4.0 - 1e-12
    assert failures < delta * trials
    assert control > 0.99 * trials


def test_it_spends_products_only_until_the_bound_is_tight_enough():
    rng = np.random.default_rng(0)
    A = Dense(spectrum(rng, np.sort(rng.standard_normal(500))), hermitian=True)
    loose, tight = (upper_bound(A, rng=np.random.default_rng(1), accuracy=a, kind="probable") for a in (1.0, 1e-6))
    assert loose.products < tight.products
    assert loose.value - loose.estimate <= 1.0 and tight.value - tight.estimate <= 1e-6


@pytest.mark.parametrize("d", [300, pytest.param(2000, marks=pytest.mark.long)])
def test_proven_in_larger_dimensions(d):
    rng = np.random.default_rng(d)
    B = rng.standard_normal((d, 3))
    A = B @ B.T  # its leading eigenvalue is that of a 3 × 3 matrix
    top = np.linalg.eigvalsh(B.T @ B)[-1]
    bound = upper_bound(Dense(A, hermitian=True), kind="proven")
    assert top <= bound.value <= top * (1 + 1e-7)


# ------------------------------------------------------------------------------------------- certify and verify


@pytest.mark.parametrize(
    "name", ["rank 3 of 12", "trace ball, inside", "ball, active", "ball, complex", "ball, Huber", "sensing"]
)
def test_certify_takes_any_form_of_a_candidate(name, tmp_path):
    known = PROBLEMS[name](np.random.default_rng(0))
    result = sx.solve(known.problem, "apgd", sx.Stop(max_steps=400))
    result.save(tmp_path)
    parts = result.X.triple()
    forms = [result.X, result, tmp_path, result.X.dense(), parts[:2] if isinstance(result.X, sx.Symmetric) else parts]
    for form in forms:
        found = sx.certify(known.problem, form)
        assert found.lower_bound <= known.optimum + 1e-12 <= found.value + 2e-11
        assert found.gap <= 1e-3 * max(1.0, abs(known.optimum))
        assert found.feasibility <= 1e-12
        assert sx.verify(found, known.problem, form), str(sx.verify(found, known.problem, form))


def test_a_candidate_slightly_outside_is_scaled_in_and_told():
    for name in ("rank 3 of 12", "ball, active", "trace ball, active"):
        known = PROBLEMS[name](np.random.default_rng(1))
        X = sx.solve(known.problem, "apgd", sx.Stop(max_steps=300)).X.dense() * (1 + 1e-8)
        found = sx.certify(known.problem, X)
        assert 0 < found.feasibility < 1e-6
        assert "scaled in" in str(found)
        assert found.lower_bound <= known.optimum <= found.value + 1e-12


def test_bad_candidates_get_a_sentence_and_no_certificate():
    known = PROBLEMS["rank 3 of 12"](np.random.default_rng(0))
    eye = np.eye(12)
    cases = [
        (eye, "outside"),
        (-eye / 12, "outside"),
        (np.full((12, 12), np.nan), "NaN"),
        (np.ones((3, 3)), "shape"),
        (np.triu(np.ones((12, 12))), "not Hermitian"),
        ((np.ones((5, 1)), np.ones(1)), "shapes"),
        ((eye, np.full(12, np.inf)), "NaN or infinity"),
        ("nowhere", "no saved result"),
    ]
    for X, words in cases:
        with pytest.raises((ValueError, TypeError), match=words):
            sx.certify(known.problem, X)
    with pytest.raises(TypeError, match="complex"):
        sx.certify(known.problem, (1j * eye, np.full(12, 1 / 12)))


@pytest.mark.parametrize("name", ["ball, active", "ball, Huber", "complex rank 3 of 9", "own function"])
@pytest.mark.parametrize("method", ["cg", "ror-adaptive", "apgd"])
def test_the_certificate_of_a_run_is_verified_from_the_result(name, method, tmp_path):
    known = PROBLEMS[name](np.random.default_rng(2))
    result = sx.solve(known.problem, method, sx.Stop(max_steps=60))
    text = result.certificate.to_json()
    assert sx.Certificate.from_json(text) == result.certificate
    assert len(text) < 2000
    assert sx.verify(text, known.problem, result)
    result.save(tmp_path)
    assert sx.verify(text, known.problem, tmp_path)


def flip(array: np.ndarray, place: int, bit: int = 0) -> np.ndarray:
    changed = array.copy()
    changed.view(np.uint64).reshape(-1)[place] ^= np.uint64(1) << np.uint64(bit)
    return changed


def test_one_flipped_bit_fails_and_is_named():
    rng = np.random.default_rng(0)
    rows, cols = (index.ravel() for index in np.indices((6, 5)))
    values = rng.standard_normal(30)
    domain = sx.NuclearBall((6, 5), 2.0)
    problem = sx.Problem(sx.Completion(rows, cols, values, (6, 5)), domain)
    X = sx.solve(problem, "apgd", sx.Stop(max_steps=200)).X
    found = sx.certify(problem, X)
    assert sx.verify(found, problem, X)
    other = sx.Problem(sx.Completion(rows, cols, flip(values, 7), (6, 5)), domain)
    assert "data:" in str(sx.verify(found, other, X)) and not sx.verify(found, other, X)
    wider = sx.Problem(problem.objective, sx.NuclearBall((6, 5), np.nextafter(2.0, 3.0)))
    assert "data:" in str(sx.verify(found, wider, X))
    turned = sx.Rectangular(flip(X.U, 3), X.s, X.V)
    assert "factors:" in str(sx.verify(found, problem, turned))
    document = json.loads(found.to_json())
    document["lower_bound"] = float(found.lower_bound + 0.5 * found.gap + 1e-4).hex()
    with pytest.raises(ValueError, match="contradicts itself"):
        sx.Certificate.from_json(json.dumps(document))
    document["gap"] = max(found.value - float.fromhex(document["lower_bound"]), 0.0).hex()
    forged = sx.verify(json.dumps(document), problem, X)
    assert not forged and "lower bound:" in str(forged)
    document = json.loads(found.to_json())
    document["value"] = float(found.value * (1 - 1e-6)).hex()
    document["gap"] = max(float.fromhex(document["value"]) - found.lower_bound, 0.0).hex()
    assert "value:" in str(sx.verify(json.dumps(document), problem, X))
    with pytest.raises(ValueError, match="no certificate"):
        sx.Certificate.from_json("{}")


def test_a_missing_dual_slope_is_said(tmp_path):
    known = PROBLEMS["ball, squared"](np.random.default_rng(0))
    for seed in range(20):
        result = sx.solve(known.problem, "cg", sx.Stop(max_steps=40), seed=seed)
        if result.certificate.dual != "slope":
            break
    assert result.certificate.dual != "slope"
    # the certificate carries its evidence; its document alone does not, and says so
    assert sx.verify(result.certificate, known.problem, result.X)
    text = result.certificate.to_json()
    assert sx.verify(text, known.problem, result)
    assert "dual:" in str(sx.verify(text, known.problem, result.X))
    result.certificate.save(tmp_path / "certificate.json")
    assert sx.verify(sx.Certificate.load(tmp_path / "certificate.json"), known.problem, result.X)
    (tmp_path / "certificate.npz").write_bytes(b"nothing")
    with pytest.raises(ValueError, match=r"evidence certificate\.npz beside the certificate is damaged"):
        sx.Certificate.load(tmp_path / "certificate.json")
    (tmp_path / "certificate.npz").unlink()
    alone = sx.Certificate.load(tmp_path / "certificate.json")
    assert "dual:" in str(sx.verify(alone, known.problem, result.X))


def test_the_failure_budget_is_split_over_the_run(monkeypatch):
    asked = []

    def watched(operator, **options):
        asked.append(options["failure"])
        return upper_bound(operator, **(options | {"kind": "probable"}))

    monkeypatch.setattr(room, "upper_bound", watched)
    known = PROBLEMS["ball, active"](np.random.default_rng(0))
    result = sx.solve(known.problem, "apgd", sx.Stop(gap=1e-9, max_steps=400), failure=1e-6)
    assert len(asked) > 1 and sum(asked) <= 1e-6
    assert result.certificate.failure == 1e-6 and result.certificate.kind == "probable"


def test_bounds_are_sharpened_until_the_gap_wanted_or_a_share():
    known = PROBLEMS["ball, active"](np.random.default_rng(0))
    collect = sx.Collect(points=True)
    sx.solve(known.problem, "pairwise", sx.Stop(max_steps=30), observers=[collect])
    point = collect.points[-1]
    found = lower_bound(known.problem, [Candidate.of(point)], point.value, failure=1e-9, rng=np.random.default_rng(0))
    assert found.value <= known.optimum
    exact = np.linalg.eigvalsh(known.problem.descent(point).dense())[-1]
    best, _ = dual_value(known.problem, Candidate.of(point), exact)
    assert point.value - found.value <= 1.2 * (point.value - best) + 1e-9


@pytest.mark.parametrize("more", [1.03, 1.06, 1.2, 3.0])
def test_a_gap_that_is_hardly_there_is_shown(more):
    """X is a few hundredths better than what is wanted: the bound is made as tight as it takes to say so."""
    rng = np.random.default_rng(3)
    rows, cols = np.nonzero(rng.random((260, 240)) < 0.3)
    values = (rng.standard_normal((260, 5)) @ rng.standard_normal((5, 240)))[rows, cols]
    problem = sx.Problem(sx.Completion(rows, cols, values, (260, 240)), sx.NuclearBall((260, 240), 700.0))
    collect = sx.Collect(points=True)
    sx.solve(problem, "pairwise", sx.Stop(max_steps=25), observers=[collect])
    point = collect.points[-1]
    exact = float(np.linalg.eigvalsh(problem.descent(point).dense())[-1])
    gap = point.value - dual_value(problem, Candidate.of(point), exact)[0]
    for seed in range(3):
        rng = np.random.default_rng(seed)
        found = lower_bound(
            problem, [Candidate.of(point)], point.value, failure=1e-9, rng=rng, products=2000.0, wanted=more * gap
        )
        assert found.kind == "probable" and gap < point.value - found.value <= more * gap


def test_what_is_hardly_there_is_not_shown_at_any_price():
    """A bound is made no tighter than a hundredth of the gap: it would take half as many products again."""
    rng = np.random.default_rng(3)
    rows, cols = np.nonzero(rng.random((260, 240)) < 0.3)
    values, domain = rng.standard_normal(rows.size), sx.NuclearBall((260, 240), 700.0)
    problem = sx.Problem(sx.Completion(rows, cols, values, (260, 240)), domain)
    candidate = look(problem, sx.solve(problem, "cg", sx.Stop(max_steps=25), certify=False)).candidate
    exact = float(np.linalg.eigvalsh(problem.lifted.pull(candidate.slope).dense())[-1])
    gap = candidate.value - dual_value(problem, candidate, exact)[0]
    spent = []
    for wanted in (1.0101 * gap, 1.03 * gap):
        rng = np.random.default_rng(0)
        found = lower_bound(
            problem, [candidate], candidate.value, failure=1e-9, rng=rng, products=2000.0, wanted=wanted
        )
        spent.append(found.products)
    assert spent[0] <= 1.2 * spent[1]


# ------------------------------------------------------------------------------------------- attempts to cheat


def test_a_forged_dual_is_refused():
    """Evidence that comes with a certificate must be one: of the right type and shape, for losses with a conjugate."""
    own = PROBLEMS["own function"](np.random.default_rng(0))
    result = sx.solve(own.problem, "cg", sx.Stop(max_steps=5))
    assert not sx.verify(
        _forged(result, np.zeros(own.problem.objective.shape), result.value - 1e-6), own.problem, result
    )
    problem = sx.Problem(sx.Completion([0, 1, 2], [0, 1, 2], [5.0, 3.0, 4.0], (3, 3)), sx.NuclearBall((3, 3), 5.0))
    result = sx.solve(problem, "cg", sx.Stop(max_steps=5))
    for fake in (np.array([-123, -110, -90], np.int8), np.full(3, np.nan), np.ones(2)):
        assert not sx.verify(_forged(result, fake, 1e5), problem, result)


def _forged(result, slope, bound):
    evidence = Evidence("slope", {"y": slope})
    return replace(result.certificate, dual=evidence.mark, evidence=evidence, lower_bound=bound)


def test_impossible_documents_are_refused():
    known = PROBLEMS["ball, active"](np.random.default_rng(0))
    X = sx.solve(known.problem, "apgd", sx.Stop(max_steps=100)).X
    found = sx.certify(known.problem, X)
    for change in ({"value": np.inf, "lower_bound": 1e9}, {"kind": "probable"}, {"failure": 0.5}, {"kind": "sure"}):
        assert not sx.verify(replace(found, **change), known.problem, X)
    with pytest.raises(TypeError, match="Certificate or its JSON"):
        sx.verify(5, known.problem, X)


def test_a_probable_claim_cannot_be_made_proven():
    rng = np.random.default_rng(0)
    A = rng.standard_normal((220, 230)) / 15
    problem = sx.Problem(sx.Distance(A), sx.NuclearBall((220, 230), 3.0))
    X = sx.solve(problem, stop=sx.Stop(relative_gap=1e-3)).X
    found = sx.certify(problem, X)
    assert found.kind == "probable" and sx.verify(found, problem, X)
    exact = upper_bound(problem.descent(problem.point(problem.domain.raised(X))), kind="proven")
    candidate = Candidate.of(problem.point(problem.domain.raised(X)))
    shown, _ = dual_value(problem, candidate, exact.value)
    above = replace(found, kind="proven", failure=0.0, lower_bound=shown + 1e-6 * abs(shown))
    assert "lower bound:" in str(sx.verify(above, problem, X))


def test_what_is_hidden_by_rounding_is_inside_the_bound():
    """An eigenvalue a hair above a tie: the Krylov space closes up at once, and the bound must still hold."""
    rng = np.random.default_rng(0)
    for d, e in ((500, 1e-12), (3000, 1e-12), (3000, 1e-10)):
        for _ in range(60):
            u = rng.standard_normal((d, 1))
            u /= np.linalg.norm(u)

            class Nearly:
                shape, dtype = (d, d), "float64"

                def matmat(self, V, u=u, e=e):
                    return V + e * u @ (u.T @ V)

            bound = upper_bound(Nearly(), kind="probable", rng=rng)
            assert 1.0 + e <= bound.value <= 1.0 + 1e-7


@pytest.mark.slow
def test_a_gradient_that_cancels_carries_its_rounding():
    """Measurements of size 1e9 that cancel in the gradient; judged by a feasible value in exact fractions."""
    from fractions import Fraction

    for seed in range(60):
        rng = np.random.default_rng(seed)
        M = rng.standard_normal((3, 3))
        M = (M + M.T) / 2
        A = np.stack([1e9 * M, -1e9 * M / 3, -1e9 * M / 3, -1e9 * M / 3 + np.eye(3), np.eye(3), M])
        targets = rng.standard_normal(6)
        problem = sx.Problem(sx.Sensing(A, targets), sx.Spectrahedron(3))
        X = sx.solve(problem, "apgd", sx.Stop(max_steps=200), certify=False).X
        found = sx.certify(problem, X)
        dense = [[Fraction(float(x)) for x in row] for row in X.dense()]
        trace = sum(dense[i][i] for i in range(3))
        exact = Fraction(0)
        for a, b in zip(A, targets, strict=True):
            seen = sum(Fraction(float(a[i, j])) * dense[i][j] / trace for i in range(3) for j in range(3))
            exact += (seen - Fraction(float(b))) ** 2 / 2
        assert found.lower_bound <= float(exact) * (1 + 1e-9)


def test_a_bound_above_a_value_is_called_a_contradiction():
    """Not convex: where the "lower bound" comes out above a value, the run says so instead of claiming no gap."""
    noticed = 0
    for seed in range(20):
        rng = np.random.default_rng(seed)
        B = rng.standard_normal((5, 5))
        B = (B + B.T) / 2

        def concave(X, B=B):
            return float(np.sum(B * X) - 2 * np.sum(X * X)), B - 4 * X

        problem = sx.Problem(sx.Smooth(concave, (5, 5)), sx.Spectrahedron(5))
        result = sx.solve(problem, "ror-adaptive", sx.Stop(max_steps=30, gap=1e-6), seed=seed)
        assert result.lower_bound <= result.value + 1e-9 * abs(result.value)
        if result.status is sx.Status.INCONSISTENT:
            noticed += 1
            assert result.certificate.kind == "none" and "check" in result.status.value
    assert noticed > 0


def test_a_wrong_conjugate_is_noticed():
    """A subclass that changes the loss and inherits the conjugate: the bound falls back to the one convexity gives."""

    class Tilted(sx.Distance):
        def evaluate(self, z):
            value, slope = super().evaluate(z)
            tilt = np.zeros(self.shape)
            tilt[0, 0] = 5.0
            return value - 5.0 * z[0, 0], slope - tilt

    A = np.diag([0.2, 0.1, 0.0])
    result = sx.solve(sx.Problem(Tilted(A), sx.Spectrahedron(3)), "pgd", sx.Stop(max_steps=60))
    best = 0.5 * np.sum((np.diag([1.0, 0, 0]) - A) ** 2) - 5.0
    assert result.lower_bound <= best + 1e-9 and result.value == pytest.approx(best, abs=1e-6)


def test_going_on_never_makes_a_bound_worth_more_than_it_was(monkeypatch):
    def probable(operator, **options):
        return upper_bound(operator, **(options | {"kind": "probable"}))

    monkeypatch.setattr(room, "upper_bound", probable)
    known = PROBLEMS["ball, active"](np.random.default_rng(0))
    weak = sx.solve(known.problem, "cg", sx.Stop(max_steps=5), failure=0.9)
    on = sx.solve(known.problem, "cg", sx.Stop(max_steps=0), start=weak, failure=1e-9, certify=False)
    assert on.certificate.kind == "probable" and on.certificate.failure == 0.9
    own = PROBLEMS["own function"](np.random.default_rng(0))
    first = sx.solve(own.problem, "cg", sx.Stop(max_steps=5))
    again = sx.solve(own.problem, "cg", sx.Stop(max_steps=1), start=first, certify=False)
    # a user's function cannot be recognised for certain: its bound was derived again, from the function as it is now
    assert again.certificate.kind == "probable" and again.lower_bound <= own.optimum


@pytest.mark.parametrize("seed", [3, 4, 5, 19, 20, 38])
@pytest.mark.parametrize("share", [0.9, 0.999, 1.1])
def test_near_a_perfect_fit_true_certificates_hold_and_raised_ones_do_not(seed, share):
    """Where terms of size f(0) cancel to a value near zero, rounding shows in value and bound."""
    rng = np.random.default_rng(seed)
    m, n = rng.integers(5, 30, 2)
    A = rng.standard_normal((m, 2)) @ rng.standard_normal((2, n)) + 10 * (seed % 2)
    cells = rng.permutation(m * n)[: m * n // 2]
    fit = sx.Completion(cells // n, cells % n, A.ravel()[cells], (m, n))
    problem = sx.Problem(fit, sx.NuclearBall((m, n), share * np.linalg.norm(A, "nuc")))
    zero = fit.evaluate(np.zeros(cells.size))[0]
    for gap in (1e-6, 1e-9):
        result = sx.solve(problem, stop=sx.Stop(gap=gap * zero, max_steps=100), seed=seed)
        # a bound from an earlier point's slope needs the result, which keeps that slope
        for X in (result, result.X.triple()) if result.certificate.dual == "slope" else (result,):
            said = sx.verify(result.certificate, problem, X)
            assert said, str(said)
        raised = replace(result.certificate, lower_bound=result.certificate.lower_bound + 1e-9 * zero)
        if raised.lower_bound <= raised.value:
            assert not sx.verify(raised, problem, result)
