"""Files of arrays that are too tall for one machine, and folders of checkpoints."""

from __future__ import annotations

import uuid
from pathlib import Path
from typing import Any

import numpy as np

from .places.tall import Tall

STEP = "step-"  # begins the name of a checkpoint's folder


def write_tall(folder: Path, arrays: dict[str, Any]) -> dict[str, str]:
    """Take the tall ones out, each into a file of its own; what lies in which file.

    Names are new each time: files that are there stay what they are until the document that names them is replaced.
    """
    names: dict[str, str] = {}
    tag = uuid.uuid4().hex[:8]
    for name, array in list(arrays.items()):
        if isinstance(array, Tall):
            if array.size:
                names[name] = f"tall-{len(names):02d}-{tag}.npy"
                array.write(folder / names[name])
                del arrays[name]
            else:
                arrays[name] = np.asarray(array)
    return names


def remove_tall(folder: Path, names: dict[str, str]) -> None:
    """Files of an earlier save into the same folder."""
    for path in folder.glob("tall-*.npy"):
        if path.name not in names.values():
            path.unlink(missing_ok=True)


def read_tall(folder: Path, names: Any) -> dict[str, Any]:
    """Arrays that stay in their files and are read where they are used; changes to them are not written."""
    found: dict[str, Any] = {}
    try:
        for name, file in dict(names).items():
            if Path(file).name != file:
                raise ValueError(f"{file!r} is not a name of a file")
            found[name] = np.load(folder / file, mmap_mode="c", allow_pickle=False)
    except (ValueError, OSError, TypeError, EOFError) as error:
        raise ValueError(f"load: {folder} is damaged ({error}).") from error
    return found


def newest(folder: Path) -> Path:
    """The folder itself, or the last one in it that a ``Checkpoint`` has finished."""
    if (folder / "result.json").is_file() or not folder.is_dir():
        return folder
    steps = sorted(path for path in folder.glob(f"{STEP}*") if (path / "result.json").is_file())
    return steps[-1] if steps else folder
