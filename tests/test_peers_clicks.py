"""The comparison of rankings with other tools: how clicks are cut, choosing, the table and its page."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import numpy as np
import pytest
from scipy.sparse import csr_matrix

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT))

from benchmarks.peers import __main__ as command  # noqa: E402
from benchmarks.peers.clicks import child, page, tables, tools  # noqa: E402


def test_a_fifth_of_every_row_is_kept_aside():
    rng = np.random.default_rng(0)
    table = csr_matrix((rng.random((40, 30)) < 0.4).astype(float))
    left, kept = tables.cut(table, 3)
    counts = np.diff(table.indptr)
    assert np.array_equal(np.diff(kept.indptr), np.floor(0.2 * counts))
    assert (left + kept != table).nnz == 0 and left.multiply(kept).nnz == 0
    again = tables.cut(table, 3)[1]
    assert (again != kept).nnz == 0 and (tables.cut(table, 4)[1] != kept).nnz > 0


def test_ease_is_the_best_table_without_a_diagonal():
    """Every column of B minimises ‖Xb − x‖² + λ‖b‖² with a zero at its own place."""
    rng = np.random.default_rng(1)
    X = csr_matrix((rng.random((30, 8)) < 0.3).astype(float))
    scores = tools.ease(X, {"ridge": 2.0}, 1)(np.arange(30))
    for column in range(8):
        others = [place for place in range(8) if place != column]
        A, b = X.toarray()[:, others], X.toarray()[:, column]
        best = np.linalg.solve(A.T @ A + 2.0 * np.eye(7), A.T @ b)
        assert np.allclose(scores[:, column], A @ best)


class Known:
    """Scores that are the test clicks themselves, or their opposite; remembers what it was fitted to."""

    def __init__(self):
        self.fitted = []

    def fit(self, train, setting, threads):
        self.fitted.append((train.nnz, setting["sign"]))
        whole = sum(tables.load("quick", 0))
        return lambda rows: setting["sign"] * np.asarray(whole[rows].todense(), float)


def test_a_grid_is_chosen_from_on_training_clicks_alone():
    known = Known()
    tool = tools.Tool("known", "known", known.fit, {"": ()})
    settings = [{"sign": -1.0}, {"sign": 1.0}]
    (found,) = child.run({"set": "quick", "split": 0, "settings": settings, "threads": 2}, tool)
    train, _ = tables.load("quick", 0)
    part = tables.cut(train, 1)[0].nnz
    assert found["chosen"] == {"sign": 1.0} and found["ndcg"] == 1.0 > found["validation_ndcg"] > 0.5
    assert known.fitted == [(train.nnz, -1.0), (part, -1.0), (part, 1.0), (train.nnz, 1.0)]


def document():
    def run(tool, ndcg, recall):
        chosen = {"ridge": 300} if tool.name == "ease" else {}
        numbers = {"ndcg": ndcg, "recall": recall, "map": 0.1, "coverage": 0.25, "rows": 5, "seconds": 1.5}
        held = {"set": "100k", "split": 0, "tool": tool.name, "title": tool.title, "settings": [chosen]}
        return held | numbers | {"status": "done", "chosen": chosen, "tuning_seconds": None}

    figures = {"popular": (0.1, 0.2), "als": (0.3, 0.4), "ease": (0.35, 0.2), "ours": (0.3, 0.39), "bpr": (0.2, 0.2)}
    machine = {"cpu": "c", "cores": 2, "memory_gb": 1, "system": "s", "python": "p", "threads": 2, "versions": {}}
    held = {"title": "clicks", "shape": [3, 4], "splits": [0], "train": 5, "test": 2}
    runs = [run(tool, *figures[tool.name]) for tool in tools.TOOLS]
    return {"format": 1, "kind": "clicks", "machine": machine, "sets": {"100k": held}, "runs": runs}


def test_targets_say_who_is_better():
    met = {label: (said, yes) for label, said, yes in page.targets(document())}
    assert met["clicks: NDCG@10 beside implicit ALS, tuned"] == ("0.3000 against 0.3000", True)
    assert met["clicks: recall@10 beside implicit ALS, tuned"] == ("0.3900 against 0.4000", False)
    assert met["clicks: NDCG@10 beside EASE, tuned"] == ("0.3000 against 0.3500: EASE is better", None)


def test_the_page_comes_from_the_document(tmp_path, capsys):
    (tmp_path / "clicks.json").write_text(json.dumps(document()), encoding="utf-8")
    assert command.main(["page", str(tmp_path / "clicks.json"), "--out", str(tmp_path)]) == 0
    text = (tmp_path / "peers-clicks.md").read_text(encoding="utf-8")
    assert "| OneClassCompletion, nothing set | 0.3000 | 0.3900 |" in text and "**MISSED**" in text
    assert "- EASE, tuned: ridge 300" in text
    capsys.readouterr()
    assert command.main(["targets", str(tmp_path / "clicks.json")]) == 0
    assert "MISSED" in capsys.readouterr().out


def test_the_smoke_test_runs(tmp_path, capsys):
    out = ["--quick", "--peers", "popular", "ease", "--out", str(tmp_path)]
    assert command.main(["clicks", *out]) == 0
    first = json.loads((tmp_path / "clicks.json").read_text(encoding="utf-8"))
    assert [each["status"] for each in first["runs"]] == ["done", "done"]
    assert command.main(["clicks", *out]) == 0  # kept, and reused
    assert json.loads((tmp_path / "clicks.json").read_text(encoding="utf-8"))["runs"] == first["runs"]
    assert "most popular" in capsys.readouterr().out
    with pytest.raises(SystemExit):
        command.main(["clicks", "--sets", "nothing"])
