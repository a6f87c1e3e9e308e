"""``save`` and ``load`` of estimators: for ``MatrixCompletion``, the folders that the shell writes and reads."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from sklearn.utils.validation import check_is_fitted

from ...checks import is_flag
from ..input.observations import OWNER
from . import store
from .store_aside import folder_aside, refuse_folder

_WHENCE = "data given in Python"


class Saved:
    """``save`` and ``load`` of an estimator; ``_owner`` is its name."""

    _owner = OWNER

    def save(self, folder: Any, *, overwrite: bool = False) -> Path:
        """Write the model to a folder of npz and JSON; that of a ``MatrixCompletion`` is the shell's.

        ``spectraplex predict FOLDER pairs.csv`` then answers from it. The folder is written under another name and then
        renamed, so there is never an incomplete one. What is there and is no model is never replaced; a model is, with
        ``overwrite=True``.

        Returns
        -------
        Path
            The folder.
        """
        return save(self, folder, overwrite, self._owner)

    @classmethod
    def load(cls, folder: Any) -> Self:
        """The model of a folder that ``save`` or the shell wrote (docs/command-line.md has what is in it)."""
        loaded: Self = load(cls, folder, cls._owner)
        return loaded


def save(model: Any, folder: Any, overwrite: Any = False, owner: str = OWNER) -> Path:
    """Write a fitted model aside, then rename the folder: there is never half of one."""
    check_is_fitted(model, "s_")
    if not is_flag(overwrite):
        raise TypeError(f"{owner}: overwrite must be True or False, got {overwrite!r}.")
    place = _place(owner, folder, "save")
    try:
        refuse_folder(place, bool(overwrite), "overwrite=True is needed")
        with folder_aside(place, bool(overwrite)) as part:
            store.write(part, model, described(_status(model), {}, _data(model)))
    except ValueError as error:
        raise ValueError(f"{owner}: {str(error).removeprefix(f'{owner}: ')}") from None
    return place


def load(kind: Any, folder: Any, owner: str = OWNER) -> Any:
    """The model of a folder, as it was saved."""
    place = _place(owner, folder, "load")
    try:
        found = store.read(kind, place, owner)
    except ValueError as error:
        raise ValueError(f"{owner}: {error}") from None
    model = found.model
    model._stored = (found.data, model.certificate_)
    return model


def described(
    status: str, seconds: dict[str, float], data: dict[str, Any], test: dict[str, Any] | None = None
) -> dict[str, Any]:
    """What stands in model.json beside the model."""
    return {
        "status": status,
        "created": datetime.now(UTC).isoformat(timespec="seconds"),
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "data": data,
        "test": test,
    }


def _place(owner: str, folder: Any, what: str) -> Path:
    if not isinstance(folder, str | os.PathLike) or not str(folder):
        raise TypeError(f"{owner}: {what} needs the name of a folder, got {folder!r}.")
    return Path(folder).expanduser()


def _status(model: Any) -> str:
    return "interrupted" if model.status_ == "INTERRUPTED" else "finished"


def _data(model: Any) -> dict[str, Any]:
    """Where the data came from: as it was stored, if the model was loaded and not fitted again since."""
    sharded = "shards_" in vars(model)
    shape = model.shape_ if sharded else (len(model.row_labels_), len(model.column_labels_))
    count = int(model.column_counts_.sum()) if sharded else len(model.observations_)
    size = {"shape": [int(each) for each in shape], "observations": count}
    stored, certificate = vars(model).get("_stored", ({}, None))
    if certificate is model.certificate_:
        return dict(stored) | size
    names = [str(name) for name in vars(model).get("feature_names_in_", ("row", "column"))]
    return {
        "file": _WHENCE,
        "fingerprint": model.certificate_.data,
        "names": [*names, "value"],
        "reading": {},
    } | size
