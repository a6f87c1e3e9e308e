"""Settings: from flags, then from a TOML file, then the defaults."""

from __future__ import annotations

import tomllib
from dataclasses import fields
from pathlib import Path
from typing import Any

from ..estimators.devices import solver_for
from ..places.devices import DeviceMissing
from ..tables.layout import Asked

#: setting → how it is called in ``MatrixCompletion``.
MODEL = {
    **dict.fromkeys(("radius", "loss", "delta", "intercepts", "ridge", "weighting", "implicit", "clip"), ""),
    **dict.fromkeys(("tolerance", "validation", "max_iter", "device"), ""),
    "seed": "random_state",
    "transform": "target_transform",
}
#: setting → how it is called in ``NuclearNormImputer``.
IMPUTER = {
    **dict.fromkeys(("radius", "metric", "standardize", "max_iter", "device"), ""),
    "neighbors": "n_neighbors",
    "tolerance": "tol",
    "validation": "validation_fraction",
    "seed": "random_state",
}
READING = tuple(each.name for each in fields(Asked))
_KINDS: dict[str, tuple[type, ...]] = {
    **dict.fromkeys(
        ("row", "column", "value", "delimiter", "encoding", "duplicates", "loss", "transform", "test"), (str,)
    ),
    **dict.fromkeys(("decimal", "thousands", "names", "time", "device", "row_features", "column_features"), (str,)),
    **dict.fromkeys(("header", "matrix", "drop_empty", "intercepts", "clip", "report"), (bool,)),
    **dict.fromkeys(("implicit", "tolerance", "validation", "checkpoint"), (int, float)),
    **dict.fromkeys(("max_iter", "seed"), (int,)),
    **dict.fromkeys(("radius", "weighting", "delta"), (int, float, str)),
    "ridge": (int, float, list, str),
}
#: The same for ``impute``, which knows fewer.
_IMPUTED: dict[str, tuple[type, ...]] = {
    **{name: _KINDS[name] for name in ("row", "delimiter", "encoding", "header", "drop_empty", "radius")},
    **{
        name: _KINDS[name] for name in ("tolerance", "validation", "max_iter", "seed", "decimal", "thousands", "device")
    },
    "neighbors": (int, str),
    "metric": (str,),
    "standardize": (bool,),
}
_WORDS = {str: "text", bool: "true or false", int: "a number", float: "a number", list: "a list"}


def merged(config: Path | None, flags: dict[str, Any]) -> dict[str, Any]:
    """What was said of a fit: flags (None is for nothing said) over the file."""
    said = _over(config, flags, _KINDS)
    for name in ("radius", "weighting", "ridge", "delta"):
        if isinstance(said.get(name), str):
            said[name] = _numbers(said[name])
    if isinstance(said.get("ridge"), list):
        said["ridge"] = tuple(said["ridge"])
    return said


def imputing(config: Path | None, flags: dict[str, Any]) -> dict[str, Any]:
    """What was said of filling a table."""
    said = _over(config, flags, _IMPUTED)
    if isinstance(said.get("radius"), str):
        said["radius"] = number_or_word(said["radius"])
    if isinstance(said.get("neighbors"), str):
        said["neighbors"] = count_or_word(said["neighbors"])
    return said


def _over(config: Path | None, flags: dict[str, Any], kinds: dict[str, tuple[type, ...]]) -> dict[str, Any]:
    said = {} if config is None else from_file(config, kinds)
    return said | {name: value for name, value in flags.items() if value is not None}


def from_file(path: Path, known: dict[str, tuple[type, ...]]) -> dict[str, Any]:
    """A flat TOML file; '-' and '_' are the same in its keys."""
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except tomllib.TOMLDecodeError as error:
        raise ValueError(f"{path} is not TOML ({error}).") from None
    except UnicodeDecodeError:
        raise ValueError(f"{path} is not a text file.") from None
    said: dict[str, Any] = {}
    for key, value in document.items():
        name = key.replace("-", "_")
        if name not in known:
            listed = ", ".join(sorted(each.replace("_", "-") for each in known))
            raise ValueError(f"{path}: the key {key!r} is not known; known are {listed}.")
        kinds = known[name]
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            wanted = " or ".join(dict.fromkeys(_WORDS[kind] for kind in kinds))
            wanted = wanted if float in kinds else wanted.replace("a number", "a whole number")
            raise ValueError(f"{path}: {key} must be {wanted}, got {value!r}.")
        said[name] = value
    return said


def of_model(said: dict[str, Any]) -> dict[str, Any]:
    """The settings that are parameters of the estimator, by its names for them."""
    return {MODEL[name] or name: value for name, value in said.items() if name in MODEL}


def of_imputer(said: dict[str, Any]) -> dict[str, Any]:
    """The same for the imputer."""
    return {IMPUTER[name] or name: value for name, value in said.items() if name in IMPUTER}


def refuse_device(device: Any) -> None:
    """Before anything is read: what is missing for a device is bad input, whatever it is."""
    try:
        solver_for("--device", device, 0)
    except (ImportError, DeviceMissing) as missing:
        raise ValueError(str(missing)) from None


def of_reading(said: dict[str, Any]) -> Asked:
    return Asked(**{name: value for name, value in said.items() if name in READING})


def _numbers(text: str) -> Any:
    """A number, two of them, or a word."""
    try:
        parts = [float(part) for part in text.split(",")]
    except ValueError:
        return text
    return parts[0] if len(parts) == 1 else tuple(parts)


def number_or_word(text: str) -> Any:
    found = _numbers(text)
    return text if isinstance(found, tuple) else found


def count_or_word(text: str) -> Any:
    return int(text) if text.isdecimal() else text
