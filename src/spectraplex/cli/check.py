"""certify and verify: how good a model is on data, without trusting what its folder says."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, cast

import numpy as np

from ..certificates.certificate import Certificate
from ..certificates.judge import certify as certified
from ..certificates.judge import verify as verified
from ..estimators import MatrixCompletion
from ..estimators.completion import serving
from ..estimators.completion.recipe import default_stop
from ..estimators.input.labels import Labels
from ..objectives.implicit import Implicit
from ..objectives.intercepts import Intercepts
from ..problem import Problem
from ..tables import reading as tables
from ..tables.layout import Asked
from ..tables.table import codes_of
from . import store
from .out import put_json, put_words
from .talk import say


def _of_one_machine(folder: Path) -> store.Stored:
    """The model of a folder, not one in shards."""
    stored = store.read(folder)
    if "shards_" in vars(stored.model):
        raise ValueError(
            f"{folder} holds a model in shards, too tall for one machine: verify it on the cluster that fits it "
            "(docs/cluster.md)."
        )
    return stored


def certify(folder: Path, file: Path, asked: Asked, gap: float | None, quiet: bool, as_json: bool) -> bool:
    """A fresh certificate for the model's factors on the data of a file; False where its gap is too large."""
    if gap is not None and not gap >= 0.0:
        raise ValueError(f"--gap must be a number ≥ 0, a share of the value, got {gap:g}.")
    stored = _of_one_machine(folder)
    model = stored.model
    problem = problem_of_file(stored, file, asked, quiet)
    certificate = certified(problem, (model.U_, model.s_, model.V_))
    limit = float(model.tolerance) if gap is None else gap
    objective = cast("Intercepts | Implicit", problem.objective)
    # as a fit ends: where everything is fitted, no gap is small beside the value
    allowed = default_stop(objective, limit, 1).wanted(certificate.value) if gap is None else 0.0
    holds = certificate.gap <= max(limit * abs(certificate.value), allowed, 1e-12)
    if as_json:
        put_json(json.loads(certificate.to_json()) | {"words": str(certificate), "limit": limit, "holds": holds})
    else:
        put_words(f"{certificate}\n")
    if not holds:
        say(f"No: the certified gap is more than {100 * limit:g} % of the value.")
    return holds


def verify(folder: Path, file: Path | None, asked: Asked, quiet: bool, as_json: bool) -> bool:
    """Check the certificate of a model: with the data of a file, or with those that the model keeps."""
    stored = _of_one_machine(folder)
    model = stored.model
    certificate = Certificate.from_json(json.dumps(stored.document["certificate"]))
    if file is None:
        seen = serving.of_fit(model)
        problem = serving.problem(model, seen.rows, seen.cols, seen.values, seen.weights)
        if not quiet:
            say("No data file was named: checked against the observations that the model keeps.")
    else:
        try:
            problem = problem_of_file(stored, file, asked, quiet)
        except Unknown as error:
            problem, wrong = None, [f"data: {error}"]
    if problem is not None:
        found = verified(certificate, problem, (model.U_, model.s_, model.V_))
        wrong = [*found.wrong, *belonging(model, problem)]
    words = "The certificate holds." if not wrong else "The certificate does not hold: " + " ".join(wrong)
    if as_json:
        put_json({"holds": not wrong, "wrong": wrong, "certificate": stored.document["certificate"]})
    else:
        put_words((words if wrong else f"{words} {certificate}") + "\n")
    return not wrong


def belonging(model: MatrixCompletion, problem: Problem) -> list[str]:
    """What predictions use beside the factors: intercepts must be those that the factors have at the optimum."""
    objective: Any = problem.objective
    found = objective.inner(objective.measure(model.U_, model.s_, model.V_))
    m, n = model.shape_  # rows and columns that were folded in lie behind those of the fit
    pairs = ((found.rows, model.row_intercepts_[:m]), (found.cols, model.column_intercepts_[:n]))
    size = max(1.0, float(np.abs(found.rows).max(initial=0.0)), float(np.abs(found.cols).max(initial=0.0)))
    if all(a.shape == b.shape and np.allclose(a, b, rtol=0.0, atol=1e-8 * size) for a, b in pairs):
        return []
    return ["intercepts: they are not those that belong to the factors."]


class Unknown(ValueError):
    """A label that the model does not know."""


def problem_of_file(stored: store.Stored, file: Path, asked: Asked, quiet: bool) -> Problem:
    """The model's convex problem with the data of a file, read as the model's own was."""
    table = tables.read(
        file, asked.over(stored.data["reading"]), tell=lambda guess: None if quiet else say(f"{guess}.")
    )
    model = stored.model
    rows = _places(model.row_labels_, table.row_labels, file, "row")[table.rows]
    cols = _places(model.column_labels_, table.column_labels, file, "column")[table.cols]
    return serving.problem(model, rows, cols, table.values, None)


def _places(known: Labels, labels: Labels, file: Path, side: str) -> Any:
    asked = labels.values.tolist()
    codes = codes_of(known, asked)
    if (codes < 0).any():
        label = asked[int(np.argmax(codes < 0))]
        raise Unknown(f"{file} has a {side} {label!r} that the model does not know: these are other data.")
    return codes
