"""What is wrong with the files of a Dask frame, in a sentence that names the file.

Dask's own errors seldom do. Only where reading has failed is every partition looked at once more, by itself.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ..places.crew import ClusterLost, in_words

_KINDS = ("not numbers", "more than one kind")  # what is said of a column; which file it is in is looked for
_PATHS = (".parquet", ".parq", ".pq", ".csv", ".gz", ".bz2", ".zst", ".zip", ".tsv", ".txt", ".json", ".orc")


@contextmanager
def naming_files(frame: Any, names: Sequence[str], client: Any, owner: str) -> Iterator[None]:
    """Within this context errors of reading name the file, and those of the cluster say what to do."""
    try:
        yield
    except Exception as error:
        own = str(error).startswith(owner) and not any(words in str(error) for words in _KINDS)
        if isinstance(error, ClusterLost | ImportError) or own:
            raise
        raise _in_words(error, frame, names, client, owner) from error


def _in_words(error: Exception, frame: Any, names: Sequence[str], client: Any, owner: str) -> Exception:
    lost = in_words(error, client, 0)
    if lost is not error:
        return ClusterLost(f"{owner}: {lost}")
    kinds = {name: _kind(frame.dtypes[name]) for name in names}
    looks = [client.submit(kinds_of, part, list(names), pure=False) for part in client.compute(frame.to_delayed())]
    for p, look in enumerate(looks):
        where = _where(frame, p)
        try:
            found = look.result()
        except Exception as wrong:
            name = next((name for name in names if name in str(wrong) and isinstance(wrong, KeyError)), None)
            if name is not None:
                return ValueError(f"{owner}: column {name!r} is missing in {where}; write it there, or leave that out.")
            missing = isinstance(wrong, FileNotFoundError)
            where = str(wrong.filename) if isinstance(wrong, FileNotFoundError) and wrong.filename else where
            what = "is not there any more" if missing else f"cannot be read ({_first_line(wrong)})"
            return ValueError(f"{owner}: {where} {what}; mend it, or leave it out.")
        other = next((name for name in names if name in found and found[name] != kinds[name]), None)
        if other is not None:
            return ValueError(
                f"{owner}: column {other!r} holds {found[other]} in {where} and {kinds[other]} elsewhere; write all "
                "files with one type."
            )
    if str(error).startswith(owner):
        return error
    return ValueError(f"{owner}: the frame could not be read ({_first_line(error)}).")


def kinds_of(part: Any, names: Sequence[str]) -> dict[str, str]:
    """What the columns of a partition hold; those without any row say nothing."""
    chosen = part[list(names)]
    return {name: _kind(chosen[name].dtype) for name in names} if len(chosen) else {}


def _kind(dtype: Any) -> str:
    from pandas.api.types import is_datetime64_any_dtype, is_numeric_dtype

    dtype = dtype.categories.dtype if str(dtype) == "category" else dtype
    if is_numeric_dtype(dtype):
        return "numbers"
    return "dates" if is_datetime64_any_dtype(dtype) else "strings"


def _first_line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return f"{type(error).__name__}: {lines[0] if lines else ''}".rstrip(": ")


# ------------------------------------------------------------------------------------------------- which file


def _where(frame: Any, p: int) -> str:
    """The file, or files, of a partition, where its task says so."""
    try:
        graph = frame.partitions[p].optimize().__dask_graph__()
        found = sorted(set(_paths(list(dict(graph).values()), set())))
    except Exception:  # a frame of another kind: then the partition alone is named
        found = []
    return " or ".join(found[:3]) if found else f"partition {p} of the frame"


def _paths(thing: Any, seen: set[int], depth: int = 8) -> Iterator[str]:
    """Whatever looks like the path of a file inside a task."""
    if depth == 0 or id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, str):
        if thing.endswith(_PATHS):
            yield thing
    elif isinstance(thing, dict):
        yield from _paths(list(thing.values()), seen, depth - 1)
    elif isinstance(thing, list | tuple | set | frozenset):
        for each in thing:
            yield from _paths(each, seen, depth - 1)
    else:
        for name in ("path", "fragment", "args", "kwargs", "value", "task", "inner_dsk"):
            yield from _paths(getattr(thing, name, None), seen, depth - 1)
