"""A model folder takes the place of what was there when all went well, and not before."""

from __future__ import annotations

import glob
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ...files import beside
from .store import status_of


def refuse_folder(out: Path, force: bool, how: str = "give --force") -> None:
    """Before any work is done: an existing model is only replaced if that was asked for, anything else never."""
    given, out = out, _followed(out)
    _tidy(out)
    if out.exists() or out.is_symlink():
        if status_of(out) is None and not (out.is_dir() and not any(out.iterdir())):
            raise ValueError(f"{given} is there already and is not a model; name another place.")
        if out.is_dir() and any(out.iterdir()) and not force:
            raise ValueError(f"{given} is there already; {how} to replace the model, or name another place.")
    out.parent.mkdir(parents=True, exist_ok=True)
    try:
        Path(tempfile.mkdtemp(prefix=f".{out.name}.", dir=out.parent)).rmdir()
    except OSError as error:
        raise about(error, given) from None


def _followed(out: Path) -> Path:
    """Where a link to a model leads: that model is replaced, and the link stays."""
    return out.resolve() if out.is_symlink() and out.exists() else out


@contextmanager
def folder_aside(out: Path, force: bool) -> Iterator[Path]:
    """A folder beside the one that is wanted, which takes its place when all went well and else disappears."""
    out = _followed(out)
    part, old = beside(out), out.with_name(f".{out.name}.old-{os.getpid()}")
    part.mkdir(parents=True)
    try:
        yield part
        refuse_folder(out, force)
        if out.exists():
            os.rename(out, old)
        try:
            os.rename(part, out)
        except OSError:
            if old.exists():
                os.rename(old, out)
            raise
    except OSError as error:
        raise about(error, out) from None
    finally:
        shutil.rmtree(part, ignore_errors=True)
        shutil.rmtree(old, ignore_errors=True)


def about(error: OSError, out: Path) -> OSError:
    """The same, naming what was to be written rather than what stands in for it, or nothing."""
    error.filename, error.filename2 = str(out), None
    return error


def _tidy(out: Path) -> None:
    """Clear away what a process that was killed while it wrote has left beside a model, and put back what it moved."""
    for left in out.parent.glob(f".{glob.escape(out.name)}.*-*"):
        kind, _, pid = left.name.removeprefix(f".{out.name}.").partition("-")
        if kind not in ("part", "old") or not pid.isdigit() or _alive(int(pid)):
            continue
        if kind == "old" and not out.exists():
            os.rename(left, out)
        else:
            shutil.rmtree(left, ignore_errors=True)


def _alive(pid: int) -> bool:
    if pid == os.getpid() or os.name != "posix":
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
