"""The files of a model folder: arrays in npz, everything else in model.json with a checksum of each."""

from __future__ import annotations

import hashlib
import json
import os
import zipfile
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from ..._version import __version__
from ...places.numpy import Array
from .storage import plain, restored

FORMAT = "spectraplex model"
VERSION = 1
COLUMNS = "columns.npz"  # of a model in shards (store_shards.py)
_LISTED = ("path.", "history.")  # short columns of numbers, better read in model.json


def versions() -> dict[str, str]:
    import platform

    here = {"spectraplex": __version__, "python": platform.python_version()}
    return here | {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")}


def write_parts(
    folder: Path,
    model: Any,
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
        FORMAT: VERSION,
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
    whole["checksum"] = checksum(whole)
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


def checksum(document: dict[str, Any]) -> str:
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
