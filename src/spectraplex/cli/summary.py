"""What a fit says at its end."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import typer

from ..estimators import MatrixCompletion
from .complete import Done
from .out import put_json, put_words
from .talk import number, say
from .testing import ranking_words, words


def summarised(done: Done, as_json: bool) -> None:
    """The result of a fit."""
    out = done.out
    facts = summary(done, out)
    if as_json:
        put_json(facts)
    else:
        lines = [
            f"model        {out}" + (" (interrupted)" if done.status == "interrupted" else ""),
            f"radius       {number(facts['radius'])}",
            f"rank         {facts['rank']}",
        ]
        if facts["fitted_rmse"] is not None:
            lines.append(f"fitted       root mean square error {number(facts['fitted_rmse'])} on what was observed")
        if facts["held_out_score"] is not None:
            lines.append(f"held out     {number(facts['held_out_score'])} on what was kept aside while choosing")
        if facts["test"] is not None:
            lines.append(f"test         {words(facts['test'], number)}")
            ranking = ranking_words(facts["test"], number)
            if ranking is not None:
                lines.append(f"ranking      {ranking}")
        lines.append(f"certificate  {facts['certificate']}")
        if facts["report"]:
            lines.append(f"report       {facts['report']}")
        put_words("\n".join(lines) + "\n")
    if done.status == "interrupted":
        more = f"`spectraplex resume {out}` goes on" if done.goes_on else "the model is what was found so far"
        say(f"Interrupted; {more}.")
        raise typer.Exit(130)


def summary(done: Done, out: Path) -> dict[str, Any]:
    """For machines."""
    model = done.model
    certificate = model.certificate_
    fitted = None  # of a model in shards nobody has looked at every observation again
    if "shards_" not in vars(model):
        fitted = float(np.sqrt(np.mean((_predicted(model) - model.observations_.values) ** 2)))
    scores = model.path_["score"]
    return {
        "model": str(out),
        "status": done.status,
        "rows": done.table.shape[0],
        "columns": done.table.shape[1],
        "observations": len(done.table),
        "radius": model.radius_,
        "rank": model.rank_,
        "steps": model.n_iter_,
        "value": certificate.value,
        "gap": certificate.gap if np.isfinite(certificate.gap) else None,
        "certificate": str(certificate),
        "fitted_rmse": fitted,
        "held_out_score": float(scores.min()) if scores.size else None,
        "test": done.test,
        "report": str(out / "report.html") if done.report else None,
        "seconds": done.seconds,
    }


def _predicted(model: MatrixCompletion) -> Any:
    from ..estimators.completion import serving

    seen = model.observations_
    return serving.linked(model, serving.linear(model, seen.rows, seen.cols))
