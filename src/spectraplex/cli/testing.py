"""complete --test: how good predictions are on values that were kept from the fit, beside simple baselines."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np

from ..estimators import MatrixCompletion
from ..estimators.completion import serving
from ..estimators.completion.folds import folds, latest
from ..estimators.input.labels import Labels, as_column, objects
from ..estimators.input.times import of_pairs
from ..numerals import percent
from ..places.numpy import Array
from ..tables import reading as tables
from ..tables.layout import Asked
from ..tables.table import codes_of
from .sharded import predicted_of
from .words import shown

_OWNER = "--test"


@dataclass(frozen=True, eq=False)
class Held:
    """Values kept from the fit, with labels as the fitted table has them."""

    file: Path
    rows: Array
    cols: Array
    values: Array
    mark: str
    how: str = ""

    @property
    def pairs(self) -> Array:
        return np.column_stack([self.rows, self.cols])


def read(file: Path, asked: Asked, table: tables.Table) -> Held:
    """A file like the one that is fitted; before the fit, so that what is wrong with it is told at once."""
    found = tables.read(file, replace(asked.over(table.reading), time=None), fitted=False)
    return known(file, found, table.row_labels, table.column_labels)


def known(file: Path, found: tables.Table, rows: Labels, columns: Labels) -> Held:
    """What was read, with labels as those of the fit."""
    first = _as_known(rows, found.row_labels, file, "row")[found.rows]
    second = _as_known(columns, found.column_labels, file, "column")[found.cols]
    return Held(file, first, second, found.values, found.mark)


def share_of(said: dict[str, Any]) -> float | None:
    """The share of the values that ``--test`` asks for; None where it names a file, or nothing is asked for."""
    given = str(said.get("test", ""))
    try:
        share = float(given)
    except ValueError:
        return None
    if Path(given).exists():
        return None
    if not 0.0 < share < 1.0:
        raise ValueError(f"--test is a file, or a share of the values between 0 and 1 such as 0.1, got {given}.")
    return share


def cut(file: Path, table: tables.Table, share: float) -> tuple[tables.Table, Held]:
    """What is fitted and what is kept from the fit: the latest pairs where times are known, else random ones."""
    seen = table.observations()
    which = folds(seen, share)[0] if table.when is None else latest(seen, share, table.when)
    how = f"{percent(share)} of the pairs, " + ("chosen at random" if table.when is None else "the latest")
    rows, cols = table.row_labels.values[table.rows[which]], table.column_labels.values[table.cols[which]]
    held = Held(file, rows.astype(object), cols.astype(object), table.values[which], table.mark, how)
    rest = replace(table, rows=table.rows[~which], cols=table.cols[~which], values=table.values[~which], when=None)
    if not len(rest):
        raise ValueError(f"{file}: with --test {share:g} nothing would be left to fit.")
    if table.when is not None:
        pair = np.unique(table.rows * table.shape[1] + table.cols, return_inverse=True)[1].reshape(-1)
        rest = replace(rest, when=of_pairs(rest.observations(), table.when[pair][~which]))
    return tables.without_empty(rest, True), held


def _as_known(known: Labels, labels: Labels, file: Path, side: str) -> Array:
    """The labels as the fitted table has them: there, "7" from a text file may be the number 7."""
    asked = labels.values.tolist()
    places, held = codes_of(known, asked), known.values.tolist()
    if known.kind == "numbers" and (places >= 0).any():  # words among them are strangers, as other numbers are
        free = int(max(held)) + 1
        asked = [free + k if isinstance(label, str) else label for k, label in enumerate(asked)]
    same = objects([held[place] if place >= 0 else label for place, label in zip(places, asked, strict=True)])
    try:
        known.codes(as_column(same, _OWNER, f"{side} labels"), _OWNER, f"{side} labels")
    except ValueError as error:
        raise ValueError(f"{file}: {str(error).removeprefix(f'{_OWNER}: ')}") from None
    return same


def judge(model: MatrixCompletion, held: Held) -> dict[str, Any]:
    """The model's error and those of the baselines, for people and for model.json."""
    from ..report.ranks import ranked
    from ..report.scores import judged

    found = judged(model, (held.pairs, held.values))
    measure, ranks = found.measures[0], ranked(model, found)
    return {
        "file": shown(held.file.name),
        "fingerprint": held.mark,
        "kept": held.how,
        "observations": found.count,
        "unseen": found.unseen,
        "fitted_too": found.fitted,
        "measure": measure,
        "error": found.ours,
        "baselines": {each.name: each.errors[0] for each in found.others},
        "others": dict(zip(found.measures[1:], found.lines[-1].errors[1:], strict=True)),
        "ranking": None if ranks is None else ranks.document(),
    }


def judge_far(model: MatrixCompletion, file: Path, found: tables.Table) -> dict[str, Any]:
    """The same of a model in shards; beside the constant alone, since biases of all rows are on the cluster."""
    from ..report.scores import measures

    first, second = found.row_labels.values[found.rows].tolist(), found.column_labels.values[found.cols].tolist()
    rows, cols, predicted = predicted_of(model, first, second)
    (name, error), *others = measures(model)
    constant = serving.linked(model, np.full(len(found), model.offset_))
    return {
        "file": shown(file.name),
        "fingerprint": found.mark,
        "observations": len(found),
        "unseen": int(((rows < 0) | (cols < 0)).sum()),
        "fitted_too": 0,
        "measure": name,
        "error": error(predicted, found.values, None),
        "baselines": {"Global mean": error(constant, found.values, None)},
        "others": {word: each(predicted, found.values, None) for word, each in others},
    }


def ranks_of(facts: dict[str, Any] | None) -> Any:
    """The figures of a ranking, as the report has them; None without."""
    from ..report.ranks import Ranked

    found = (facts or {}).get("ranking")
    return None if found is None else Ranked.of(found)


def ranking_words(facts: dict[str, Any], number: Any) -> str | None:
    """What counts as relevant, then a line each for the model and what stands beside it; None without a ranking."""
    found = facts.get("ranking")
    if not found:
        return None
    k = found["k"]
    lines = [f"{found['whose']} with a test value of at least {number(found['relevant'])} ({found['because']})"]
    for name, each in found["figures"].items():
        lines.append(
            f"{name + ':':<13} recall@{k} {each['recall']:.4f}, precision@{k} {each['precision']:.4f}, "
            f"NDCG@{k} {each['ndcg']:.4f}, MAP@{k} {each['map']:.4f}, coverage {each['coverage']:.3f}"
        )
    return ("\n" + 13 * " ").join(lines)


def words(facts: dict[str, Any], number: Any) -> str:
    """One line."""
    beside = ", ".join(f"{name.lower()} {number(error)}" for name, error in facts["baselines"].items())
    count = f"{facts['observations']:,} value{'s' if facts['observations'] != 1 else ''}"
    kept = f", {facts['kept']}" if facts.get("kept") else ""
    return f"{facts['measure']} {number(facts['error'])} on {count} of {facts['file']}{kept} ({beside})"
