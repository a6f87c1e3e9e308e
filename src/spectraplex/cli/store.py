"""A model as a folder: arrays in npz, everything else in model.json with a checksum of each; never half of one."""

from __future__ import annotations

import hashlib
import json
import os
import re
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from .._version import __version__
from ..estimators import MatrixCompletion
from ..estimators.completion.storage import plain, restored
from ..places.numpy import Array

FORMAT = "spectraplex model"
_VERSION = 1
_FILES = {  # which of the model's arrays are in which file; the rest is in model.json
    "labels.npz": ("row_labels", "column_labels"),
    "observations.npz": ("rows", "cols", "values", "weights"),
    "factors.npz": None,
}
COLUMNS = "columns.npz"  # of a model in shards (store_shards.py)
_ROWS = r"columns\.npz|rows-\d{5,}\.npz"
_ENTRIES: dict[str, Any] = {
    **dict.fromkeys(("status", "created"), str),
    **dict.fromkeys(("data", "settings", "versions", "certificate", "path", "trace", "model", "seconds"), dict),
    "test": dict | None,
}
_DATA: dict[str, Any] = {"file": str, "names": list, "shape": list, "observations": int, "reading": dict}
_LISTED = ("path.", "history.")  # short columns of numbers, better read in model.json


@dataclass(frozen=True, eq=False)
class Stored:
    """A model and what is written beside it."""

    model: MatrixCompletion
    document: dict[str, Any]

    @property
    def data(self) -> dict[str, Any]:
        return dict(self.document["data"])

    @property
    def names(self) -> tuple[str, str]:
        row, column, _ = self.data["names"]
        return row, column


def versions() -> dict[str, str]:
    import platform

    here = {"spectraplex": __version__, "python": platform.python_version()}
    return here | {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}


def write(folder: Path, model: MatrixCompletion, facts: dict[str, Any]) -> None:
    """Everything into an empty folder; ``facts`` (status, data, seconds, …) go into model.json as they are."""
    write_parts(folder, model, _FILES, *model.to_arrays(), facts, {})


def write_parts(
    folder: Path,
    model: MatrixCompletion,
    files: dict[str, Any],
    arrays: dict[str, Array],
    document: dict[str, Any],
    facts: dict[str, Any],
    marks: dict[str, str],
) -> None:
    """Arrays into files (None is for all that are left), then model.json with the marks of these and of others."""
    listed = {name: arrays.pop(name) for name in list(arrays) if name.startswith(_LISTED)}
    for file, names in files.items():
        held = {name: arrays.pop(name) for name in (list(arrays) if names is None else names) if name in arrays}
        marks = marks | {file: write_arrays(folder / file, held)}
    whole: dict[str, Any] = {
        FORMAT: _VERSION,
        **facts,
        "versions": versions(),
        "seed": model.random_state,
        "settings": {name: _readable(value) for name, value in model.get_params().items()},
        "certificate": json.loads(model.certificate_.to_json()) | {"words": str(model.certificate_)},
        "path": _columns(listed, "path."),
        "trace": _columns(listed, "history.") | {"kind": document.pop("kinds")},
        "model": document,
        "files": marks,
    }
    whole["checksum"] = _checksum(whole)
    with (folder / "model.json").open("w", encoding="utf-8") as out:
        json.dump(whole, out, indent=1, ensure_ascii=False)
        out.write("\n")
        out.flush()
        os.fsync(out.fileno())


def write_arrays(path: Path, held: dict[str, Array]) -> str:
    """One file, and its mark."""
    with path.open("wb") as out:
        np.savez(out, **held)  # type: ignore[arg-type]
        out.flush()
        os.fsync(out.fileno())
    return _mark(path)


def read(folder: Path) -> Stored:
    """The model of a folder; a missing or altered file is named."""
    document = _document(folder)
    if COLUMNS in document["files"]:
        from . import store_shards

        return Stored(_sound(folder, document, lambda: store_shards.read(folder, document)), document)
    arrays: dict[str, Array] = {}
    for file, mark in document["files"].items():
        arrays |= read_arrays(folder, file, mark)
    return Stored(_sound(folder, document, lambda: MatrixCompletion.from_arrays(*listed(document, arrays))), document)


def _sound(folder: Path, document: dict[str, Any], made: Callable[[], MatrixCompletion]) -> MatrixCompletion:
    try:
        model = made()
        names, shape = document["data"]["names"], document["data"]["shape"]
        if [type(each) for each in (*names, *shape)] != [str, str, str, int, int]:
            raise TypeError("names and shape of the data")
    except Altered:
        raise
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        words = str(error).removeprefix("MatrixCompletion: ").rstrip(".")
        raise ValueError(f"{folder}: model.json is damaged ({words}).") from error
    return model


class Altered(ValueError):
    """A file is missing, or not as it was written."""


def read_arrays(folder: Path, file: str, mark: str) -> dict[str, Array]:
    """The arrays of one file, if it is as it was written."""
    path = folder / file
    if not path.is_file():
        raise Altered(f"{folder}: {file} is missing; the model is not complete. Fit it again.")
    if _mark(path) != mark:
        raise Altered(f"{folder}: {file} was altered since the model was written (its checksum differs).")
    try:
        with path.open("rb") as raw, np.load(raw, allow_pickle=False) as held:
            return {name: held[name] for name in held.files}
    except (ValueError, EOFError, KeyError, zipfile.BadZipFile) as error:
        raise Altered(f"{folder}: {file} is damaged ({error}).") from error


def listed(document: dict[str, Any], arrays: dict[str, Array]) -> tuple[dict[str, Array], dict[str, Any]]:
    """Arrays and document as ``to_arrays`` gave them: with the short columns that stand in model.json."""
    trace = dict(document["trace"])
    inside = document["model"] | {"kinds": trace.pop("kind")}
    for prefix, columns in (("path.", document["path"]), ("history.", trace)):
        arrays = arrays | {
            prefix + name: np.array([restored(each) for each in column]) for name, column in columns.items()
        }
    return arrays, inside


def _document(folder: Path) -> dict[str, Any]:
    path = folder / "model.json"
    if not folder.exists():
        raise ValueError(f"{folder} does not exist; name a model folder that `spectraplex complete` has written.")
    if not path.is_file():
        raise ValueError(f"{folder} is not a model folder: model.json is missing.")
    try:
        document = json.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{folder}: model.json is damaged ({error}).") from None
    if not isinstance(document, dict) or FORMAT not in document:
        raise ValueError(f"{folder} is not a model folder: its model.json is about something else.")
    if document[FORMAT] != _VERSION:
        raise ValueError(f"{folder}: the model has format {document[FORMAT]!r}; this version reads {_VERSION}.")
    if document.get("checksum") != _checksum(document) or not isinstance(document.get("files"), dict):
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


def _checksum(document: dict[str, Any]) -> str:
    held = {name: value for name, value in document.items() if name != "checksum"}
    return hashlib.sha256(json.dumps(held, sort_keys=True).encode()).hexdigest()


def _mark(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def _columns(arrays: dict[str, Array], prefix: str) -> dict[str, Any]:
    return {
        name.removeprefix(prefix): [plain(each) for each in column.tolist()]
        for name, column in arrays.items()
        if name.startswith(prefix)
    }


def _readable(value: Any) -> Any:
    return list(value) if isinstance(value, tuple) else value.item() if isinstance(value, np.generic) else value
