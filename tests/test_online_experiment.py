"""online: its streams are what they say, its claims can be missed, its page is its own."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from spectraplex.experiments.__main__ import main
from spectraplex.experiments.claims import Claim, missed
from spectraplex.experiments.document import Document, Run, read
from spectraplex.experiments.online import run as numerics
from spectraplex.experiments.online import words

pytestmark = pytest.mark.slow  # its streams run for seconds


@pytest.fixture(scope="module")
def results(tmp_path_factory):
    out = tmp_path_factory.mktemp("online")
    assert main(["online", "--quick", "--out", str(out), "--workers", "1"]) == 0
    return out


def test_the_miniature_from_command_to_page(results, capsys, tmp_path):
    document = read(results / "online.json")
    assert {run.settings["learner"] for run in document.runs} == {"ocg", "rank-one"}
    for run in document.runs:
        low, high = words.regret(run)
        assert np.all(low <= high + 1e-9) and run.outcome["arrivals"][-1] == run.settings["arrivals"]
    assert main(["check", str(results)]) == 0
    assert "holds" in capsys.readouterr().out
    assert main(["page", str(results), "--out", str(tmp_path)]) == 0
    page = (tmp_path / "online.md").read_text(encoding="utf-8")
    assert "A miniature" in page and "GENERATED" in page and (tmp_path / "online.png").exists()
    assert not (tmp_path / "reproduction.md").exists()


def test_a_regret_above_the_bound_is_a_miss(results):
    document = read(results / "online.json")
    assert not missed(words.claims(document))
    run = document.find(learner="ocg")[0]
    bad = Run(run.key, run.settings, run.outcome | {"suffered": [1e9 for _ in run.outcome["suffered"]]})
    found = missed(words.claims(Document("online", False, {}, {}, (bad,))))
    assert [claim.statement for claim in found] == [
        "the regret of online conditional gradient is below the theory's bound at every point of the grid"
    ]


def test_the_page_says_first_what_does_not_hold(results, tmp_path, monkeypatch):
    monkeypatch.setattr(words, "claims", lambda document: [Claim("here", "it grows slowly", "it does not", False)])
    assert main(["page", str(results), "--out", str(tmp_path)]) == 0
    first = (tmp_path / "online.md").read_text(encoding="utf-8").split("## Online learning")[0]
    assert "0 of 1 claims hold, but:\n  - " in first and "it grows slowly; at here." in first


def test_an_exponent_is_that_of_a_power():
    t = [125.0, 250.0, 500.0, 1000.0]
    outcome = {"arrivals": t, "suffered": [3.0 * each**0.6 + 1.0 for each in t], "best": [1.0] * 4, "lower": [1.0] * 4}
    run = Run("", {}, outcome)
    assert words.exponent(run) == pytest.approx(0.6)
    assert words.exponent(replace(run, outcome=outcome | {"suffered": [0.0] * 4})) is None
    assert numerics.grid_of(1000) == [15, 31, 62, 125, 250, 500, 1000]


def test_the_table_drifts():
    settings = next(task.settings for task in numerics.tasks(quick=True) if task.settings["stream"] == "drift")
    still, moving = ([], [])
    for kept, arrivals in ((still, 2), (moving, 400)):
        _, stream = numerics.arrivals(settings | {"arrivals": arrivals})
        for entries, values in stream:
            kept.append(dict(zip(entries.pattern.rows * 20 + entries.pattern.indices, values, strict=True)))
    both = [(first, last) for first in (moving[0],) for last in moving[-40:]]
    far = [abs(first[cell] - last[cell]) for first, last in both for cell in first.keys() & last.keys()]
    near = [
        abs(first[cell] - last[cell])
        for a, first in enumerate(moving[:20])
        for last in moving[a + 1 : 20]
        for cell in first.keys() & last.keys()
    ]
    assert np.mean(np.square(far)) > np.mean(np.square(near)) + 0.002
    assert still[0] == moving[0]
