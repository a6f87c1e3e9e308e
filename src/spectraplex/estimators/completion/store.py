"""A model as a folder: arrays in npz, everything else in model.json with a checksum of each; never half of one."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...places.numpy import Array
from ..input.observations import OWNER
from . import store_shards
from .store_parts import COLUMNS, FORMAT, VERSION, Altered, checksum, listed, read_arrays, write_parts

_FILES = {  # which of the model's arrays are in which file; the rest is in model.json
    "labels.npz": ("row_labels", "column_labels"),
    "observations.npz": ("rows", "cols", "values", "weights"),
    "factors.npz": None,
}
KINDS = (OWNER, "OneClassCompletion")  # the estimators whose models are such folders
_ROWS = r"columns\.npz|rows-\d{5,}\.npz"
_ENTRIES: dict[str, Any] = {
    **dict.fromkeys(("status", "created"), str),
    **dict.fromkeys(("data", "settings", "versions", "certificate", "path", "trace", "model", "seconds"), dict),
    "test": dict | None,
}
_DATA: dict[str, Any] = {"file": str, "names": list, "shape": list, "observations": int, "reading": dict}


@dataclass(frozen=True, eq=False)
class Stored:
    """A model and what is written beside it."""

    model: Any
    document: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        return dict(self.document["data"])

    @property
    def names(self) -> tuple[str, str]:
        row, column, _ = self.data["names"]
        return row, column


def write(folder: Path, model: Any, facts: dict[str, Any]) -> None:
    """Everything into an empty folder; ``facts`` (status, data, seconds, …) go into model.json as they are."""
    if "shards_" in vars(model):
        store_shards.write(folder, model, facts)
        return
    arrays, document = model.to_arrays()
    write_parts(folder, model, _FILES, arrays, document, facts, {})


def read(kind: Any, folder: Path, owner: str = OWNER) -> Stored:
    """The model of a folder, of a kind of estimator with this name; a missing or altered file is named."""
    document = _document(folder)
    _of_kind(folder, document["model"].get("estimator"), owner)
    if COLUMNS in document["files"]:
        return Stored(_sound(folder, document, owner, lambda: store_shards.read(kind, folder, document)), document)
    arrays: dict[str, Array] = {}
    for file, mark in document["files"].items():
        arrays |= read_arrays(folder, file, mark)
    return Stored(_sound(folder, document, owner, lambda: kind.from_arrays(*listed(document, arrays))), document)


def _of_kind(folder: Path, found: Any, owner: str) -> None:
    """Refuse the model of another estimator, saying which one and what reads it."""
    if found != owner and found in KINDS:
        raise ValueError(
            f"{folder} holds a {found}, not a {owner}; in Python, spectraplex.estimators.{found}.load reads it"
            + (", and so do the commands of the shell." if found == OWNER else ".")
        )


def _sound(folder: Path, document: dict[str, Any], owner: str, made: Callable[[], Any]) -> Any:
    try:
        model = made()
        names, shape = document["data"]["names"], document["data"]["shape"]
        if [type(each) for each in (*names, *shape)] != [str, str, str, int, int]:
            raise TypeError("names and shape of the data")
    except Altered:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        words = str(error).removeprefix(f"{owner}: ").rstrip(".")
        raise ValueError(f"{folder}: model.json is damaged ({words}).") from error
    return model


def _document(folder: Path) -> dict[str, Any]:
    path = folder / "model.json"
    if not folder.exists():
        raise ValueError(
            f"{folder} does not exist; name a model folder, as `spectraplex complete` or `model.save` writes it."
        )
    if not path.is_file():
        raise ValueError(f"{folder} is not a model folder: model.json is missing.")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{folder}: model.json is damaged ({error}).") from None
    if not isinstance(document, dict) or FORMAT not in document:
        raise ValueError(f"{folder} is not a model folder: its model.json is about something else.")
    if document[FORMAT] != VERSION:
        raise ValueError(f"{folder}: the model has format {document[FORMAT]!r}; this version reads {VERSION}.")
    if document.get("checksum") != checksum(document) or not isinstance(document.get("files"), dict):
        raise ValueError(f"{folder}: model.json was altered since the model was written (its checksum differs).")
    wrong = _misses(document, _ENTRIES) or _misses(document["data"], _DATA)
    if wrong:
        raise ValueError(f"{folder}: model.json is damaged (missing or unknown entry: {wrong!r}).")
    sharded = COLUMNS in document["files"] and all(re.fullmatch(_ROWS, name) for name in document["files"])
    if set(document["files"]) != set(_FILES) and not sharded:
        raise ValueError(f"{folder}: model.json does not name the files of a model.")
    return document


def _misses(document: dict[str, Any], wanted: dict[str, Any]) -> str | None:
    """The first entry that is not there, or is not what it should be."""
    return next((name for name, kind in wanted.items() if not isinstance(document.get(name), kind)), None)


def status_of(folder: Path) -> str | None:
    """ "finished" or "interrupted"; None where there is no model."""
    try:
        return str(_document(folder)["status"])
    except (ValueError, KeyError, OSError):
        return None
