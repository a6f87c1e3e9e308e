"""One archive from a public address into the cache: resumed where it broke off, verified, put in place at once."""

from __future__ import annotations

import hashlib
import os
import re
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

ADDRESS = "https://files.grouplens.org/datasets/movielens/"
TIMEOUT_SECONDS = 30.0
_CHUNK = 1 << 16
_ABANDONED_SECONDS = 3600.0  # an unfinished file nobody has written to for so long was left by a killed process

# Sets that never change; the checksum published beside the file must agree. Those that change have only that one.
PINNED = {
    "ml-100k.zip": "0e33842e24a9c977be4e0107933c0723",
    "ml-1m.zip": "c4d9eecfca2ab87c1945afe126590906",
}


class NotDownloaded(FileNotFoundError):
    """The data is not here and could not be fetched; the message says why and what to do."""


def fetch(name: str, cache: Path) -> Path:
    """``ADDRESS/name`` as ``cache/name``, its MD5 checksum verified against the one published beside it.

    What has come of a transfer that breaks off stays as ``name.part``, and the next call goes on from there. Each
    process writes to a file of its own and renames it when it is whole: two at once do each other no harm.
    """
    try:
        cache.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise NotDownloaded(f"The cache folder {cache} cannot be made ({_why(error)}).") from error
    checksum = _checksum(name)
    with _own_part(name, cache) as part:
        resumed = _transfer(name, part)
        if resumed and _md5(part) != checksum:  # what was kept may be of an older file: once more, from the start
            part.write_bytes(b"")
            _transfer(name, part)
        if _md5(part) != checksum:
            part.unlink()
            raise NotDownloaded(
                f"{ADDRESS}{name} came with a wrong checksum (not the MD5 {checksum} it should have) and was "
                "discarded; try again later."
            )
        os.replace(part, cache / name)
    return cache / name


def _checksum(name: str) -> str:
    """The MD5 published beside the file; where one is pinned the two must agree."""
    import urllib.error

    pinned = PINNED.get(name)
    try:
        with _open(f"{ADDRESS}{name}.md5") as answer:
            text = answer.read(1000).decode("ascii", "replace")
    except urllib.error.HTTPError as error:
        if pinned is None or error.code not in (403, 404, 410):
            raise NotDownloaded(f"{ADDRESS}{name}.md5 could not be fetched ({_why(error)}).") from error
        return pinned
    except _network_errors() as error:
        raise NotDownloaded(f"{ADDRESS}{name}.md5 could not be fetched ({_why(error)}).") from error
    found = re.search(r"\b[0-9a-fA-F]{32}\b", text)
    published = found[0].lower() if found else pinned
    if published is None:
        raise NotDownloaded(f"{ADDRESS}{name}.md5 holds no checksum, and nothing is taken without one.")
    if pinned is not None and published != pinned:
        raise NotDownloaded(
            f"{ADDRESS}{name} is announced with the checksum {published}, not with {pinned} as known here: it is not "
            "the file that this version expects, and was not fetched."
        )
    return published


def _transfer(name: str, part: Path) -> bool:
    """Fetch what is missing of the file; True when something was there before and has been kept."""
    import urllib.error

    have = part.stat().st_size
    try:
        answer = _open(f"{ADDRESS}{name}", have)
    except urllib.error.HTTPError as error:
        if error.code == 416 and have:  # nothing beyond what is here: complete, or of another file; the checksum says
            return True
        raise NotDownloaded(f"{ADDRESS}{name} could not be fetched ({_why(error)}).") from error
    except _network_errors() as error:
        raise NotDownloaded(f"{ADDRESS}{name} could not be fetched ({_why(error)}).") from error
    with answer:
        goes_on = have > 0 and answer.status == 206 and _first_byte(answer.headers.get("Content-Range")) == have
        if have and answer.status == 206 and not goes_on:
            part.write_bytes(b"")
            return _transfer(name, part)
        start = have if goes_on else 0
        length = answer.headers.get("Content-Length", "")
        whole = start + int(length) if length.isdigit() else None
        why = "the connection was closed"
        with open(part, "r+b") as file:
            file.truncate(start)
            file.seek(start)
            while True:
                try:
                    chunk = answer.read(_CHUNK)
                except _network_errors() as error:
                    chunk, why, whole = b"", _why(error), whole or -1
                if not chunk:
                    break
                file.write(chunk)
            size = file.tell()
    if whole is not None and size != whole:
        raise NotDownloaded(
            f"{ADDRESS}{name} broke off after {size:,} bytes ({why}); they are kept, and the next call goes on there."
        )
    return goes_on


@contextmanager
def _own_part(name: str, cache: Path) -> Iterator[Path]:
    """A file that only this call writes to, holding what an earlier one has left; left in turn when this one fails."""
    left = cache / f"{name}.part"
    try:
        handle, made = tempfile.mkstemp(prefix=f"{name}.part-", dir=cache)
    except OSError as error:
        raise NotDownloaded(f"The cache folder {cache} cannot be written to ({_why(error)}).") from error
    os.close(handle)
    part = Path(made)
    for candidate in (left, *_abandoned(name, cache)):
        try:
            os.utime(candidate)  # no longer abandoned
            os.replace(candidate, part)  # renaming takes it: of two processes only one succeeds
            break
        except OSError:
            continue
    try:
        yield part
    except BaseException:  # an interrupt too: what has come is kept
        if part.exists():
            if part.stat().st_size:
                os.replace(part, left)
            else:
                part.unlink()
        raise


def _abandoned(name: str, cache: Path) -> list[Path]:
    limit = time.time() - _ABANDONED_SECONDS
    found = []
    for path in cache.glob(f"{name}.part-*"):
        try:
            if path.stat().st_mtime < limit:
                found.append(path)
        except FileNotFoundError:  # another process took it meanwhile
            continue
    return found


def _open(address: str, have: int = 0) -> Any:
    import urllib.error
    import urllib.request

    headers = {"Range": f"bytes={have}-"} if have else {}
    try:
        return urllib.request.urlopen(urllib.request.Request(address, headers=headers), timeout=TIMEOUT_SECONDS)
    except urllib.error.HTTPError as error:
        error.close()
        raise


def _network_errors() -> tuple[type[Exception], ...]:
    import http.client

    return (OSError, http.client.HTTPException)  # URLError, timeouts, resets and TLS are OSErrors


def _first_byte(content_range: str | None) -> int | None:
    found = re.match(r"bytes (\d+)-", content_range or "")
    return int(found[1]) if found else None


def _md5(path: Path) -> str:
    with open(path, "rb") as file:
        return hashlib.file_digest(file, lambda: hashlib.md5(usedforsecurity=False)).hexdigest()


def _why(error: Exception) -> str:
    reason = getattr(error, "reason", None) or error
    return f"{getattr(error, 'code', '')} {getattr(reason, 'strerror', None) or reason}".strip().rstrip(".")
