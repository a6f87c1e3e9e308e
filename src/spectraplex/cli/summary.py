"""What a fit says at its end."""

from __future__ import annotations

from typing import Any

import typer

from .complete import summary
from .out import put_json, put_words
from .talk import number, say
from .testing import words


def summarised(done: Any, as_json: bool) -> None:
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
            f"fitted       root mean square error {number(facts['fitted_rmse'])} on what was observed",
        ]
        if facts["held_out_score"] is not None:
            lines.append(f"held out     {number(facts['held_out_score'])} on what was kept aside while choosing")
        if facts["test"] is not None:
            lines.append(f"test         {words(facts['test'], number)}")
        lines.append(f"certificate  {facts['certificate']}")
        if facts["report"]:
            lines.append(f"report       {facts['report']}")
        put_words("\n".join(lines) + "\n")
    if done.status == "interrupted":
        say(f"Interrupted; `spectraplex resume {out}` goes on.")
        raise typer.Exit(130)
