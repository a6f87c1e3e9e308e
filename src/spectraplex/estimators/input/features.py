"""What is known of rows or columns beside their observations: from a frame, an array or a sparse matrix to numbers.

Numbers are standardised, over all labels that are given; of categories every one becomes a column of zeros and ones.
Where a number or a category is missing, or a label has no line at all, nothing is said: zeros, the mean of numbers.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ...places.numpy import Array
from .labels import Labels, as_column, distinct, objects
from .observations import OWNER, Observations, as_frame, frame_column, refuse_masked

_MOST = 2000  # features of one side: beyond, products of as many by as many are dear
_NAMES = 0.5  # a column of words that are different in more than this share of lines holds names, not categories,
_FEW = 20  # if there are more than so many of them
_SMALL = 1 << 17  # numbers up to which a matrix is an ordinary one: looking for zeros takes longer than adding them
_DENSE = 0.25  # share of numbers that are not zero from which a matrix is an ordinary one


Part = tuple[Any, list[str]]  # columns, and what they are called


@dataclass(frozen=True, eq=False)
class Known:
    """Labels, a line of numbers for each of them (an array or a sparse matrix), and what the numbers are called."""

    labels: Array
    design: Any
    names: tuple[str, ...]

    def of(self, labels: Labels) -> Any:
        """The lines of these labels, zeros for one of which nothing is known."""
        from scipy.sparse import csr_matrix

        places = labels.codes(self.labels, OWNER, "labels of features")
        here = places >= 0
        pick = csr_matrix(
            (np.ones(int(here.sum())), (places[here], np.flatnonzero(here))), shape=(len(labels), self.labels.size)
        )
        return compact(pick @ csr_matrix(self.design))


def compact(design: Any) -> Any:
    """A sparse matrix by rows, or an ordinary array where it is small or much of it is not zero."""
    from scipy.sparse import csr_matrix

    design = csr_matrix(design)
    size = design.shape[0] * design.shape[1]
    return np.asarray(design.toarray()) if size <= _SMALL or design.nnz > _DENSE * size else design


def read(given: Any, side: str, called: str | None) -> Known:
    """Features as somebody gives them; ``side`` is "row" or "column", ``called`` the name of its labels in a frame."""
    name = f"{side}_features"
    labels, table = given if isinstance(given, tuple) and len(given) == 2 else (None, given)
    frame = as_frame(table)
    if labels is None:
        if frame is None:
            raise TypeError(
                f"{OWNER}: {name} must be a data frame with {side} labels as its index, or (labels, features), got "
                f"{type(given).__name__}."
            )
        labels, frame = _frame_labels(frame, name, side, called)
    labels = as_column(labels if isinstance(labels, np.ndarray) else list(labels), OWNER, f"labels of {name}")
    _once(labels, name)
    return _known(labels, _of_frame(frame, name) if frame is not None else _of_matrix(table, name), name)


def of_columns(labels: Array, columns: dict[str, Any], side: str) -> Known:
    """Features from columns by name: an array of numbers (NaN where nothing is known), or a list of words (None)."""
    name = f"{side}_features"
    _once(labels, name)
    parts = [
        _numbers(column[:, None], [word], name) if isinstance(column, np.ndarray) else _words(column, word, name)
        for word, column in columns.items()
    ]
    return _known(labels, parts, name)


def _known(labels: Array, parts: list[Part], name: str) -> Known:
    design, names = _joined(parts, labels.size)
    if design.shape[0] != labels.size:
        raise ValueError(
            f"{OWNER}: {name} has {labels.size} labels and {design.shape[0]} lines; give one label a line."
        )
    if design.shape[1] > _MOST:
        raise ValueError(
            f"{OWNER}: {name} would be {design.shape[1]} numbers a label, and {_MOST} are the most; leave out "
            "categories that come rarely."
        )
    if not design.shape[1]:
        raise ValueError(
            f"{OWNER}: {name} has no column that differs between labels, so it says nothing; leave it out."
        )
    return Known(labels, compact(design), names)


def _frame_labels(frame: Any, name: str, side: str, called: str | None) -> tuple[Any, Any]:
    """The labels of a frame, in the column that is called as in the fit or else in pandas' index; and the others."""
    if called is not None and called in frame.columns:
        return frame_column(frame, called), frame.drop(called)
    import narwhals as nw

    index = nw.maybe_get_index(frame)
    if index is None:
        wanted = "" if called is None else f" a column {called!r}, or as"
        raise ValueError(f"{OWNER}: {name} needs {side} labels: as{wanted} (labels, frame).")
    return objects(list(index)), frame


def _once(labels: Array, name: str) -> None:
    values, codes = distinct(labels)
    if values.size < labels.size:
        twice = labels[np.bincount(codes)[codes] > 1][:1].tolist()[0]
        raise ValueError(f"{OWNER}: {name} has {twice!r} more than once; give one line a label.")


def _of_frame(frame: Any, name: str) -> list[Part]:
    import narwhals as nw

    parts = []
    for word in frame.columns:
        series = frame.get_column(word)
        if series.dtype.is_numeric() or series.dtype == nw.Boolean:
            holes = np.asarray(series.is_null().to_numpy(), bool)
            numbers = np.full(len(frame), np.nan)
            numbers[~holes] = np.asarray(series.drop_nulls().cast(nw.Float64).to_numpy(), float)
            parts.append(_numbers(numbers[:, None], [str(word)], name))
        elif series.dtype.is_temporal():
            raise ValueError(f"{OWNER}: column {word!r} of {name} holds dates; make numbers of them, such as years.")
        else:
            parts.append(_words(series.to_list(), str(word), name))
    return parts


def _of_matrix(table: Any, name: str) -> list[Part]:
    from scipy.sparse import csr_matrix, issparse

    if issparse(table):
        if len(table.shape) != 2 or table.dtype.kind not in "buif":
            raise TypeError(f"{OWNER}: {name} must be a sparse matrix of real numbers, got {table!r}.")
        design = csr_matrix(table, dtype=float)
        _finite(design.data, name)
        sizes = np.sqrt(np.asarray(design.multiply(design).sum(axis=0)).reshape(-1) / max(1, design.shape[0]))
        kept = np.flatnonzero(sizes > 0)
        scaled = design[:, kept].multiply(1.0 / sizes[kept][None, :])  # not centred: zeros stay zeros
        return [(csr_matrix(scaled), [str(k) for k in kept])]
    refuse_masked(table, name)
    array = np.asarray(table)
    if array.ndim != 2:
        raise ValueError(f"{OWNER}: {name} must have two dimensions, a line a label, got shape {array.shape}.")
    if array.dtype.kind in "buif":
        return [_numbers(array.astype(float), [str(k) for k in range(array.shape[1])], name)]
    if array.dtype.kind == "c":
        raise TypeError(f"{OWNER}: {name} must be real numbers or categories, got dtype {array.dtype}.")
    parts = []
    for k, column in enumerate(array.T.tolist()):
        numeric = all(each is None or (isinstance(each, int | float) and not isinstance(each, str)) for each in column)
        if numeric:
            held = np.array([np.nan if each is None else float(each) for each in column])
            parts.append(_numbers(held[:, None], [str(k)], name))
        else:
            parts.append(_words(column, str(k), name))
    return parts


def _finite(numbers: Array, name: str) -> None:
    if not np.isfinite(numbers).all():
        raise ValueError(f"{OWNER}: {name} holds {numbers[~np.isfinite(numbers)][0]}; give finite numbers.")


def _numbers(columns: Array, names: list[str], name: str) -> Part:
    """Less their mean, divided by their standard deviation; without those that do not differ."""
    missing = np.isnan(columns)
    if np.isinf(columns).any():
        bad = names[int(np.argmax(np.isinf(columns).any(axis=0)))]
        raise ValueError(f"{OWNER}: column {bad!r} of {name} holds infinity; give finite numbers.")
    there = np.maximum((~missing).sum(axis=0), 1)
    means = np.where(missing, 0.0, columns).sum(axis=0) / there
    centred = np.where(missing, 0.0, columns - means)
    sizes = np.sqrt((centred**2).sum(axis=0) / there)
    kept = sizes > 1e-12 * np.maximum(np.abs(means), 1e-300)
    return centred[:, kept] / sizes[kept], [word for word, each in zip(names, kept, strict=True) if each]


def are_names(texts: list[str | None]) -> bool:
    """Whether words are so many different ones that they name things, and sort them into no groups."""
    return len({text for text in texts if text is not None}) > max(_FEW, _NAMES * len(texts))


def _words(column: list[Any], word: str, name: str) -> Part:
    """A column of zeros and ones for every category."""
    from scipy.sparse import csr_matrix

    texts = [None if each is None or each != each else str(each) for each in column]
    categories = sorted({text for text in texts if text is not None})
    if are_names(texts):
        raise ValueError(
            f"{OWNER}: column {word!r} of {name} has {len(categories)} different words in {len(texts)} lines: those "
            "are names, not categories; leave it out."
        )
    place = {text: k for k, text in enumerate(categories)}
    lines = [k for k, text in enumerate(texts) if text is not None]
    cols = [place[texts[k]] for k in lines]  # type: ignore[index]
    shape = (len(texts), len(categories))
    return csr_matrix((np.ones(len(lines)), (lines, cols)), shape=shape), [f"{word}={text}" for text in categories]


def _joined(parts: list[Part], count: int) -> tuple[Any, tuple[str, ...]]:
    from scipy.sparse import csr_matrix, hstack

    if not parts:
        return csr_matrix((count, 0)), ()
    return hstack([csr_matrix(part) for part, _ in parts], format="csr"), tuple(
        word for _, words in parts for word in words
    )


def with_labels(
    seen: Observations, labels: tuple[Labels, Labels], known: tuple[Known | None, Known | None]
) -> tuple[Observations, tuple[Labels, Labels]]:
    """The same observations in a table that has every label of which something is known."""
    all_of = [_more(old, each) for old, each in zip(labels, known, strict=True)]
    codes = [new.codes(old.values, OWNER, "labels") for new, old in zip(all_of, labels, strict=True)]
    shape = (len(all_of[0]), len(all_of[1]))
    rows, cols = codes[0][seen.rows], codes[1][seen.cols]
    return Observations(rows, cols, seen.values, seen.weights, shape), (all_of[0], all_of[1])


def _more(labels: Labels, known: Known | None) -> Labels:
    if known is None or not (labels.codes(known.labels, OWNER, "labels of features") < 0).any():
        return labels
    if known.labels.dtype == labels.values.dtype:
        return Labels(distinct(np.concatenate([labels.values, known.labels]))[0])
    return labels.joined(known.labels)
