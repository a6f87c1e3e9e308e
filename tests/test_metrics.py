"""Figures of ranked lists and errors, against plain loops."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_matrix

from spectraplex import metrics
from spectraplex.estimators import MatrixCompletion, OneClassCompletion
from spectraplex.metrics.ranking import held_out, top


def by_hand(recommended, relevant, k):
    """One row at a time, as the definitions read."""
    recall, precision, ndcg, average = [], [], [], []
    for labels, wanted in zip(recommended, relevant, strict=True):
        wanted = set(wanted)
        if not wanted:
            continue
        hits = [label in wanted for label in labels[:k]]
        recall.append(sum(hits) / len(wanted))
        precision.append(sum(hits) / k)
        gain = sum(1.0 / math.log2(place + 2) for place, hit in enumerate(hits) if hit)
        ndcg.append(gain / sum(1.0 / math.log2(place + 2) for place in range(min(k, len(wanted)))))
        precise = [sum(hits[: place + 1]) / (place + 1) for place, hit in enumerate(hits) if hit]
        average.append(sum(precise) / min(k, len(wanted)))
    return [float(np.mean(each)) for each in (recall, precision, ndcg, average)]


LISTS = st.lists(
    st.tuples(st.permutations(range(8)), st.integers(0, 8), st.sets(st.integers(0, 9), max_size=6)),
    min_size=1,
    max_size=6,
).filter(lambda rows: any(wanted for _, _, wanted in rows))


@settings(max_examples=200, deadline=None)
@given(LISTS, st.integers(1, 10))
def test_figures_are_those_of_plain_loops(rows, k):
    recommended = [order[:count] for order, count, _ in rows]
    relevant = [sorted(wanted) for _, _, wanted in rows]
    found = metrics.ranking(recommended, relevant, k, columns=10)
    assert [found.recall, found.precision, found.ndcg, found.map] == pytest.approx(by_hand(recommended, relevant, k))
    assert found.rows == sum(bool(wanted) for wanted in relevant)
    shown = {label for labels in recommended for label in labels[:k]}
    assert found.coverage == len(shown) / 10 == metrics.coverage(recommended, 10, k)
    one = (metrics.recall_at_k, metrics.precision_at_k, metrics.ndcg_at_k, metrics.map_at_k)
    both = [each(recommended, relevant, k) for each in one]
    assert both == [found.recall, found.precision, found.ndcg, found.map]


@settings(max_examples=200, deadline=None)
@given(st.lists(st.lists(st.integers(0, 3), min_size=5, max_size=5), min_size=1, max_size=4), st.integers(1, 7))
def test_equal_scores_keep_the_order_of_the_columns(scores, k):
    block = np.array(scores, float)
    expected = [sorted(range(5), key=lambda place: (-line[place], place))[:k] for line in scores]
    assert top(block, k).tolist() == expected


@settings(max_examples=100, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 9))
def test_blocks_rank_like_one_row_at_a_time(seed, k):
    rng = np.random.default_rng(seed)
    scores = rng.integers(0, 5, (6, 7)).astype(float)
    kind = rng.integers(0, 3, (6, 7))  # seen, held, neither
    kind[0, 0], kind[1, 1] = 1, 0
    seen, held = csr_matrix(kind == 0), csr_matrix(kind == 1)
    found = held_out(lambda rows: scores[rows].copy(), seen, held, k)
    lists, sets = [], []
    for line in range(6):
        left = [place for place in range(7) if kind[line, place] != 0]
        lists.append(sorted(left, key=lambda place: (-scores[line, place], place)))
        sets.append(np.flatnonzero(kind[line] == 1).tolist())
    expected = by_hand(lists, sets, k)
    assert [found.recall, found.precision, found.ndcg, found.map] == pytest.approx(expected)


@settings(max_examples=50, deadline=None)
@given(st.lists(st.tuples(st.floats(-1e150, 1e150), st.floats(-1e150, 1e150)), min_size=1, max_size=9))
def test_errors_are_those_of_plain_loops(numbers):
    values, predicted = zip(*numbers, strict=True)
    errors = [abs(y - z) for y, z in numbers]
    assert metrics.mae(values, predicted) == pytest.approx(math.fsum(errors) / len(errors), rel=1e-12)
    assert metrics.rmse(values, predicted) == pytest.approx(math.hypot(*errors) / math.sqrt(len(errors)), rel=1e-12)


def naive(model, row, seen, k):
    left = [label for label in model.column_labels_.values.tolist() if label not in seen]
    scores = model.predict([(row, label) for label in left])
    return [left[place] for place in np.argsort(-scores, kind="stable")[:k]]


def test_a_model_is_ranked_beside_the_most_popular_and_biases():
    rng = np.random.default_rng(1)
    cells = rng.permutation(40 * 25)[:500]
    pairs = [(f"r{cell // 25:02d}", f"c{cell % 25:02d}") for cell in cells]
    values = rng.integers(1, 6, 500).astype(float)
    fit, aside = slice(0, 400), slice(400, 500)
    model = MatrixCompletion(radius=5.0, clip=False).fit(pairs[fit], values[fit])
    held = [*pairs[aside], pairs[0], ("r00", "stranger"), ("nobody", "c01")]
    scores = [*values[aside], 5.0, 5.0, 5.0]
    found = metrics.evaluate(model, held, scores, k=4, relevant=4.0, min_support=0)
    assert list(found) == ["model", "most popular", "biases alone"]
    seen = {row: {column for each, column in pairs[fit] if each == row} for row in {row for row, _ in held}}
    wanted = {}
    for (row, column), value in zip(held, scores, strict=True):
        if value >= 4.0 and column not in seen[row]:
            wanted.setdefault(row, set()).add(column)
    lists = [naive(model, row, seen[row], 4) for row in wanted]
    expected = by_hand(lists, list(wanted.values()), 4)
    mine = found["model"]
    assert [mine.recall, mine.precision, mine.ndcg, mine.map] == pytest.approx(expected)
    counts = {label: sum(column == label for _, column in pairs[fit]) for label in model.column_labels_.values.tolist()}
    order = sorted(counts, key=lambda label: (-counts[label], label))
    lists = [[label for label in order if label not in seen[row]][:4] for row in wanted]
    popular = found["most popular"]
    assert [popular.recall, popular.ndcg] == pytest.approx(by_hand(lists, list(wanted.values()), 4)[::2])


def test_clicks_have_no_biases():
    pairs = [("a", "x"), ("a", "y"), ("b", "x"), ("b", "y"), ("c", "x"), ("c", "z")]
    model = OneClassCompletion(radius=2.0).fit(pairs)
    assert list(metrics.evaluate(model, [("c", "y")], k=2)) == ["model", "most popular"]
    assert "recall@2 1.0000" in str(metrics.evaluate(model, np.array([["c", "y"]], object), k=2)["model"])


def clicks() -> OneClassCompletion:
    return OneClassCompletion(radius=2.0).fit([(1, 10), (1, 11), (2, 10), (2, 11), (3, 11), (3, 12)])


def test_the_columns_of_a_frame_go_by_the_names_of_the_fit():
    pd = pytest.importorskip("pandas")
    pairs = [(1, 10), (1, 11), (2, 10), (2, 11), (3, 11), (3, 12)]
    model = OneClassCompletion(radius=2.0).fit(pd.DataFrame(pairs, columns=["user", "item"]))
    held = pd.DataFrame({"item": [10], "user": [3]})
    assert metrics.evaluate(model, held, k=1)["model"].recall == 1.0
    assert metrics.evaluate(model, held[["user", "item"]], k=1)["model"].recall == 1.0
    with pytest.raises(ValueError, match="no column 'user'"):
        metrics.evaluate(model, held.rename(columns={"user": "who"}))


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda: metrics.rmse([], []), "mean of nothing"),
        (lambda: metrics.mae([1.0], [1.0, 2.0]), "1 values and 2 predictions"),
        (lambda: metrics.ranking([["a"]], [[]]), "no row has a relevant label"),
        (lambda: metrics.ranking([["a"]], [["a"], ["b"]]), "1 lists of recommended labels and 2"),
        (lambda: metrics.ranking([["a", "a"]], [["a"]]), "has a label twice"),
        (lambda: metrics.ranking(["ab"], [["a"]]), "give a list of labels"),
        (lambda: metrics.ranking([["a"]], [["a"]], 0), "k must be a whole number"),
        (lambda: metrics.coverage(["ab"], 3), "give a list of labels"),
        (lambda: metrics.coverage([["a", "b"]], 1), "2 columns are recommended, and columns=1"),
        (lambda: metrics.evaluate(OneClassCompletion(), [(1, 2)]), "is not fitted"),
        (lambda: metrics.evaluate(clicks(), 5), "a data frame, got int"),
        (lambda: metrics.evaluate(clicks(), [(3, "10")]), "column labels are text such as '10'"),
        (lambda: metrics.evaluate(clicks(), [("3", 10)]), "row labels are text such as '3'"),
        (lambda: metrics.evaluate(clicks(), [(3, 10)], ["x"], relevant=1.0), "evaluate: values must be numbers"),
    ],
)
def test_bad_input_is_told(call, words):
    with pytest.raises((TypeError, ValueError), match=words):
        call()
