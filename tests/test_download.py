"""Downloads, against a small server on this machine: resumed, restarted, verified, refused in a sentence."""

from __future__ import annotations

import hashlib
import io
import os
import re
import threading
import time
import zipfile
from concurrent.futures import ThreadPoolExecutor
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from refusals import check
from spectraplex.datasets import download, movielens, movielens_split

NAME = "ml-100k.zip"


def archive() -> bytes:
    """An archive laid out like GroupLens's, of made-up ratings."""
    noise = np.random.default_rng(0).integers(1, 6, size=5000)
    rows = [f"{k}\t{k % 7 + 1}\t{value}\t88\n" for k, value in enumerate(noise)]
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as file:
        for member, part in (("u.data", rows), ("u1.base", rows[:4000]), ("u1.test", rows[4000:])):
            file.writestr(f"ml-100k/{member}", "".join(part))
    return packed.getvalue()


class Server(ThreadingHTTPServer):
    """What it serves and how badly; and the (path, Range) of every request."""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Answer)
        self.data = archive()
        self.checksum = f"MD5 ({NAME}) = {hashlib.md5(self.data).hexdigest()}\n"
        self.ranges, self.wrong_range, self.cut_after, self.requests = True, False, None, []


class Answer(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass

    def do_GET(self):
        server, asked = self.server, self.headers.get("Range")
        server.requests.append((self.path, asked))
        if self.path.endswith(".md5"):
            body, start, status = (server.checksum or "").encode(), 0, 200 if server.checksum is not None else 404
        else:
            start = int(re.match(r"bytes=(\d+)-$", asked)[1]) if asked and server.ranges else 0
            body, status = server.data[start:], 206 if asked and server.ranges else 200
            if start >= len(server.data):
                body, status = b"", 416
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        if status == 206:
            first = start + 1 if server.wrong_range else start
            self.send_header("Content-Range", f"bytes {first}-{len(server.data) - 1}/{len(server.data)}")
        self.end_headers()
        self.wfile.write(body if self.path.endswith(".md5") else body[: server.cut_after])


@pytest.fixture
def server(monkeypatch):
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        monkeypatch.setattr(download, "ADDRESS", f"http://127.0.0.1:{running.server_port}/")
        monkeypatch.setattr(download, "PINNED", {})
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.delenv("SPECTRAPLEX_DATA", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    for variable in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
        monkeypatch.delenv(variable, raising=False)
    return tmp_path / "spectraplex"


def held(cache) -> list[str]:
    return sorted(path.name for path in cache.iterdir())


def test_fetched_once_into_the_cache_without_a_word(server, cache, capfd):
    table = movielens("100k")
    assert table.shape == (5000, 7) and held(cache) == [NAME]
    assert [path for path, _ in server.requests] == [f"/{NAME}.md5", f"/{NAME}"]
    again, (train, test) = movielens("100k"), movielens_split("100k", 1)
    assert len(server.requests) == 2 and np.array_equal(again.values, table.values)
    assert (len(train), len(test)) == (4000, 1000) and train.shape == test.shape == (5000, 7)
    assert capfd.readouterr() == ("", "")


def test_a_broken_transfer_is_kept_and_resumed(server, cache):
    server.cut_after = 6000
    check(movielens, FileNotFoundError, r"broke off after 6,000 bytes .*the next call goes on there\. Get .*licence")
    assert held(cache) == [f"{NAME}.part"]
    server.cut_after = None
    assert len(movielens()) == 5000 and held(cache) == [NAME]
    assert server.requests[-1] == (f"/{NAME}", "bytes=6000-")


@pytest.mark.parametrize("badness", ["no ranges", "another range", "stale bytes", "too many bytes"])
def test_what_cannot_be_resumed_is_fetched_anew(server, cache, badness):
    cache.mkdir()
    server.ranges, server.wrong_range = badness != "no ranges", badness == "another range"
    left = {"stale bytes": b"x" * 5000, "too many bytes": server.data + b"x"}.get(badness, server.data[:5000])
    (cache / f"{NAME}.part").write_bytes(left)
    assert len(movielens()) == 5000 and held(cache) == [NAME]
    assert (cache / NAME).read_bytes() == server.data


def test_a_part_that_was_complete_is_taken(server, cache):
    cache.mkdir()
    (cache / f"{NAME}.part").write_bytes(server.data)
    assert len(movielens()) == 5000 and held(cache) == [NAME]
    assert server.requests[-1] == (f"/{NAME}", f"bytes={len(server.data)}-") and len(server.requests) == 2


def test_the_part_of_a_killed_process_is_taken_up_once_it_is_old(server, cache):
    cache.mkdir()
    young, old = cache / f"{NAME}.part-young", cache / f"{NAME}.part-old"
    for part in (young, old):
        part.write_bytes(server.data[:5000])
    os.utime(old, (time.time() - 7200,) * 2)
    assert len(movielens()) == 5000 and held(cache) == [NAME, young.name]
    assert server.requests[-1][1] == "bytes=5000-"


@pytest.mark.parametrize("resumed", [False, True])
def test_a_wrong_checksum_discards_the_file(server, cache, resumed):
    server.checksum = f"{'0' * 32}  {NAME}\n"
    if resumed:
        cache.mkdir()
        (cache / f"{NAME}.part").write_bytes(server.data[:5000])
    check(movielens, FileNotFoundError, "came with a wrong checksum .* was discarded; try again later")
    assert held(cache) == []


def test_checksums_that_are_missing_or_disagree(server, cache, monkeypatch):
    right, server.checksum = hashlib.md5(server.data).hexdigest(), None
    check(movielens, FileNotFoundError, r"\.md5 could not be fetched \(404 Not Found\)")
    server.checksum = "none today"
    check(movielens, FileNotFoundError, "holds no checksum, and nothing is taken without one")
    monkeypatch.setattr(download, "PINNED", {NAME: "1" * 32})
    server.checksum = right
    check(movielens, FileNotFoundError, f"announced with the checksum {right}, not with 1111")
    assert held(cache) == []
    monkeypatch.setattr(download, "PINNED", {NAME: right})
    server.checksum = None
    assert len(movielens()) == 5000


def test_offline(cache, monkeypatch):
    gone = Server()
    gone.server_close()
    monkeypatch.setattr(download, "ADDRESS", f"http://127.0.0.1:{gone.server_port}/")
    words = r"no u\.data of ml-100k in .*spectraplex.* could not be fetched \(Connection refused\)\. Get http.* put it"
    check(movielens, FileNotFoundError, words + ".*spectraplex, or in a folder named by .* SPECTRAPLEX_DATA")
    assert held(cache) == []


def test_nothing_is_fetched_unasked_and_a_named_folder_is_never_written_to(server, cache, tmp_path, monkeypatch):
    check(lambda: movielens(download=False), FileNotFoundError, "nothing was fetched, as download=False")
    named = tmp_path / "named"
    named.mkdir()
    monkeypatch.setenv("SPECTRAPLEX_DATA", str(named))
    check(movielens, FileNotFoundError, r"nothing was fetched, as SPECTRAPLEX_DATA is set\. .*unpacked, in .*named\.")
    assert server.requests == [] and not cache.exists()
    assert len(movielens(download=True)) == 5000
    assert held(cache) == [NAME] and held(named) == []


def test_a_cache_that_cannot_be_made(server, tmp_path, cache):
    (tmp_path / "spectraplex").write_text("in the way")
    check(movielens, FileNotFoundError, "The cache folder .*spectraplex cannot be made")


def test_several_at_once_do_each_other_no_harm(server, cache):
    cache.mkdir()
    (cache / f"{NAME}.part").write_bytes(server.data[:5000])
    with ThreadPoolExecutor(6) as pool:
        paths = list(pool.map(lambda _: download.fetch(NAME, cache), range(6)))
    assert set(paths) == {cache / NAME} and held(cache) == [NAME]
    assert (cache / NAME).read_bytes() == server.data


def test_an_interrupt_keeps_what_has_come(server, cache, monkeypatch):
    monkeypatch.setattr(download, "_CHUNK", 1000)
    real = download._md5
    monkeypatch.setattr(download, "_md5", lambda path: (_ for _ in ()).throw(KeyboardInterrupt()))
    with pytest.raises(KeyboardInterrupt):
        movielens()
    assert held(cache) == [f"{NAME}.part"] and (cache / f"{NAME}.part").read_bytes() == server.data
    monkeypatch.setattr(download, "_md5", real)
    assert len(movielens()) == 5000 and held(cache) == [NAME]
