"""ROR-CG with two vectors of one search: a step gains what a step towards either does, no fixed strength beats it."""

from __future__ import annotations

import numpy as np
import pytest

import spectraplex as sx
from spectraplex.datasets import ratings_like
from spectraplex.matrices.atoms import Atoms
from spectraplex.methods.oracle import difference, find
from spectraplex.methods.scores import refreshed
from spectraplex.methods.small_shares import best_sizes


def completion(loss="squared", seed=0, radius=150.0):
    table = ratings_like(80, 60, 1500, rank=4, seed=seed)
    values = table.values if loss == "squared" else (table.values > 3.0).astype(float)
    return sx.Problem(
        sx.Completion(table.rows, table.cols, values, table.shape, loss), sx.NuclearBall((80, 60), radius)
    )


def distance():
    A = np.random.default_rng(3).standard_normal((12, 12))
    return sx.Problem(sx.Distance(A + A.T), sx.TraceBall(12, 3.0))


def penalized():
    table = ratings_like(60, 50, 900, rank=3, seed=1)
    return sx.Penalized(sx.Completion(table.rows, table.cols, table.values - 3.0, table.shape), 6.0)


PROBLEMS = {
    "completion": completion,
    "logistic": lambda: completion("logistic"),
    "trace": distance,
    "penalty": penalized,
}


def begun(name, select):
    """A problem, the method with an eye on what its oracle finds, its generator, and where it begins."""
    problem, seen = PROBLEMS[name](), []

    def oracle(*arguments, **named):
        seen.append(find(*arguments, **named))
        return seen[-1]

    method = sx.RankOneRegularized(select=select, step="line-search", beta="adaptive", oracle=oracle)
    rng = np.random.default_rng(0)
    start = problem.point(problem.domain.start(problem.dtype, rng), fresh=True)
    point, memory, _ = method.init(problem, start, rng)
    return problem, method, seen, rng, start, point, memory


def vectors(found, name):
    """Those whose steps lie in the hull that was searched: of a function that is no quadratic the plain one alone."""
    plain = found if found.plain is None else found.plain
    return [plain.vector] if name in ("logistic", "penalty") else [plain.vector, found.vector]


@pytest.mark.parametrize("name", PROBLEMS)
@pytest.mark.parametrize("select", ["worthy", "greedy", "random"])
def test_a_step_gains_at_least_what_the_step_towards_its_vectors_does(name, select):
    problem, method, seen, rng, start, point, memory = begun(name, select)
    rounding = 1e-12 * (1.0 + abs(start.value))
    for _ in range(40):
        new, memory, _ = method.step(problem, point, memory, rng)
        assert new.value <= point.value + rounding
        for u in vectors(seen[-1], name):
            dz = problem.lifted.combine(1.0, problem.image_of(u), -1.0, point.image)
            curve = problem.curve(point, dz)
            assert new.value <= curve.value(curve.minimize(1.0)) + rounding
        assert new.value == pytest.approx(problem.point(new.atoms).value, abs=1e-9 * (1.0 + abs(start.value)))
        point = new


@pytest.mark.parametrize("name", ["completion", "trace"])
@pytest.mark.parametrize("select", ["worthy", "random"])
def test_a_step_gains_at_least_what_its_vector_and_then_the_last_atom_do_by_line_searches(name, select):
    problem, method, seen, rng, start, point, memory = begun(name, select)
    for _ in range(40):
        new, memory, _ = method.step(problem, point, memory, rng)
        last = len(point.atoms) - 1
        z, weight = point.atoms.vector(last), float(point.atoms.weights[last])
        for v in vectors(seen[-1], name):
            dz = problem.lifted.combine(1.0, problem.image_of(v), -1.0, point.image)
            size = problem.curve(point, dz).minimize(1.0)
            there = problem.ahead(point, point.atoms.blend(v, size), dz, size)
            for more, less, limit in ((v, z, (1.0 - size) * weight), (z, v, size)):
                curve = problem.curve(there, difference(problem, more, less))
                assert new.value <= curve.value(curve.minimize(limit)) + 1e-12 * (1.0 + abs(start.value))
        point = new


def test_a_step_is_the_minimum_over_the_hull_of_its_vector_two_atoms_and_the_rest():
    """Of random problems: limits hold, and no other point of the hull is lower."""
    rng = np.random.default_rng(0)
    for trial in range(40):
        weights = np.concatenate([[0.0], rng.dirichlet(np.ones(3))])
        change = np.array([[1.0, 1.0, 1.0], [-1, 0, -weights[1]], [0, -1, -weights[2]], [0, 0, -weights[3]]])
        root = rng.standard_normal((3, 3)) * 10.0 ** rng.uniform(-4, 2, 3)
        bend, slope = root.T @ root, root.T @ rng.standard_normal(3) * 10.0 ** rng.uniform(-2, 2)
        value = lambda s: float(slope @ s + 0.5 * s @ bend @ s)  # noqa: E731, B023
        found = best_sizes(slope, bend, weights, change)
        assert (weights + change @ found).min() >= -1e-9, trial
        for _ in range(200):
            w = rng.dirichlet(rng.choice([0.05, 0.3, 1.0]) * np.ones(4))
            last = 1.0 - w[3] / weights[3]
            other = np.array([(1 - last) * weights[1] - w[1], (1 - last) * weights[2] - w[2], last])
            assert value(found) <= value(other) + 1e-9 * (1.0 + abs(value(other))), trial


def test_scores_that_are_made_fresh_are_exact_and_none_stays_stale():
    problem = completion()
    rng = np.random.default_rng(0)
    atoms = Atoms.of(rng.standard_normal((140, 70)))
    point = problem.point(atoms)
    descent, atoms = problem.descent(point), point.atoms
    exact = np.array([descent.scores(atoms.vector(i), 1)[0] for i in range(len(atoms))])
    scores, seen = np.zeros(len(atoms)), np.zeros(len(atoms))
    for t in range(1, 20):
        scores, seen = refreshed(descent, atoms, scores, seen, t)
        fresh = seen == t
        assert 8 <= np.count_nonzero(fresh) < len(atoms)
        np.testing.assert_allclose(scores[fresh], exact[fresh], rtol=1e-4, atol=1e-4 * np.abs(exact).max())
    assert seen.min() >= 19 - 16


def test_every_sixteenth_step_searches_as_conditional_gradient_does_and_the_others_bring_both_vectors():
    problem, method, seen, rng, _, point, memory = begun("completion", "worthy")
    both = []
    for _ in range(48):
        t, before = memory.t, len(seen)
        point, memory, _ = method.step(problem, point, memory, rng)
        assert len(seen) == before + 1  # one search a step
        both.append((t, seen[-1].plain is not None))
    assert [t for t, two in both if not two] == [1, 16, 32, 48]


@pytest.mark.parametrize("name", ["completion", "logistic", "trace"])
def test_scores_belong_to_the_atoms_that_are_left(name):
    """None are made anew for a mismatch: then all atoms would be scored in every step."""
    problem, method, _, rng, _, point, memory = begun(name, "worthy")
    for _ in range(50):
        point, memory, _ = method.step(problem, point, memory, rng)
        assert memory.scores.size == memory.seen.size == len(point.atoms)
        assert np.sum(point.atoms.weights) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("seed", [0, 3])
def test_the_curvature_of_a_loss_that_is_no_quadratic_is_that_along_the_line(seed):
    """Taken as a difference of bends that are differences themselves it was rounding, and steps stalled."""
    rng = np.random.default_rng(seed)
    a, X = rng.standard_normal((400, 12)), 50.0 * np.diag(np.r_[0.6, 0.4, np.zeros(10)])
    counts = rng.poisson(np.einsum("ki,ij,kj->k", a, X, a)).astype(float)
    problem = sx.Problem(sx.Fit(sx.RankOnes(a), counts, "poisson"), sx.TraceBall(12, 100.0))
    best = sx.solve(problem, stop=sx.Stop(gap=1e-6, max_steps=300)).lower_bound
    reached = sx.solve(problem, "ror-adaptive", sx.Stop(max_steps=300), certify=False).value
    assert reached - best <= 5e-3


def test_tables_with_uneven_weights_in_loose_balls_are_not_lost():
    """There vectors without the regulariser gain more, and some of those with it are needed all the same."""
    for seed, weight in ((0, "exponential"), (1, "lognormal")):
        rng = np.random.default_rng(seed)
        table = ratings_like(200, 150, 3000, rank=3, seed=seed)
        weights = rng.exponential(1.0, 3000) + 0.01 if weight == "exponential" else rng.lognormal(0.0, 1.0, 3000)
        objective = sx.Completion(table.rows, table.cols, table.values, table.shape, weights=weights)
        size = 2.0 * float(np.linalg.norm(table.values)) * np.sqrt(200 * 150 / 3000)
        problem, stop = sx.Problem(objective, sx.NuclearBall(table.shape, size)), sx.Stop(max_steps=150)
        ours, *theirs = (
            sx.solve(problem, method, stop, certify=False).value
            for method in ("ror-adaptive", "cg", "away", "pairwise")
        )
        assert ours <= 1.02 * min(theirs), (ours, theirs)


def test_a_run_goes_on_where_it_was_saved(tmp_path):
    problem = completion()
    whole = sx.solve(problem, "ror-adaptive", sx.Stop(max_steps=90), certify=False)
    half = sx.solve(problem, "ror-adaptive", sx.Stop(max_steps=60), certify=False)
    half.save(tmp_path / "run")
    rest = sx.solve(problem, "ror-adaptive", sx.Stop(max_steps=30), start=sx.load(tmp_path / "run"), certify=False)
    assert rest.value == pytest.approx(whole.value, rel=1e-9)


@pytest.mark.parametrize("radius", [60.0, 150.0])
@pytest.mark.parametrize("centred", [False, True])
def test_it_is_as_good_as_the_best_fixed_strength(radius, centred):
    table = ratings_like(80, 60, 1500, rank=4, seed=2)
    values = table.values - (table.values.mean() if centred else 0.0)
    objective = sx.Completion(table.rows, table.cols, values, table.shape)
    problem = sx.Problem(objective, sx.NuclearBall(table.shape, radius))
    rivals = ["cg", "away", "pairwise"]
    rivals += [sx.RankOneRegularized("worthy", "line-search", "adaptive", scale) for scale in (0.01, 0.2, 0.8)]
    stop = sx.Stop(max_steps=60)
    ours, *theirs = (sx.solve(problem, method, stop, certify=False).value for method in ("ror-adaptive", *rivals))
    assert ours <= 1.05 * min(theirs)


def test_the_best_fixed_strength_does_not_beat_it_where_the_optimum_is_nearly_zero():
    """The mean of a few tables: where one run ends hangs on the order of summation."""
    fixed, ratios = sx.RankOneRegularized("worthy", "line-search", "adaptive", 0.2), []
    for seed in range(5):
        table = ratings_like(80, 60, 1500, rank=4, seed=seed)
        objective = sx.Completion(table.rows, table.cols, table.values, table.shape)
        problem, stop = sx.Problem(objective, sx.NuclearBall(table.shape, 400.0)), sx.Stop(max_steps=50)
        ours, theirs = (sx.solve(problem, method, stop, certify=False).value for method in ("ror-adaptive", fixed))
        ratios.append(ours / theirs)
    assert np.exp(np.mean(np.log(ratios))) <= 1.15


def test_two_ways_that_are_one_but_for_rounding_are_no_error():
    bend = np.ones((2, 2)) + 16 * np.finfo(float).eps * (1 - np.eye(2))  # exactly singular with what is added to it
    sizes = best_sizes(np.array([-1.0, -1.0]), bend, np.ones(3), np.array([[1.0, 1.0], [-1.0, 0.0], [0.0, -1.0]]))
    assert np.isfinite(sizes).all() and abs(sizes.sum() - 1.0) < 1e-6
