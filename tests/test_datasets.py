"""Generated tables keep their bits; rating files of every layout are read, or refused in a sentence."""

from __future__ import annotations

import gzip
import hashlib
import tempfile
import zipfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from refusals import check
from spectraplex.datasets import movielens, movielens_split, ratings_like, read_ratings
from spectraplex.tables import ratings as ratings_file

# Computed when the generator was first written: a faster one must draw the very same tables.
PINNED = {
    (40, 30, 300, 3, 0.9, 1): "0e2a30d726a2da0d589d0a091a310ec7",
    (40, 30, 1000, 3, 0.5, 2): "fc6b1abfc4ffbfed2a97a9637d3d65ed",
    (500, 400, 700, 4, 0.9, 4): "b15c7451cab7f242d1c5415f7020ca52",
    (1, 1, 1, 1, 0.0, 5): "4d5206539fdafc08bb30542affbb525b",
    (943, 1682, 100_000, 10, 0.9, 0): "fbd56854e2c680a58e117f1f16d342ef",
}


@pytest.mark.parametrize("arguments", PINNED, ids=str)
def test_generated_tables_keep_their_bits(arguments):
    table, digest = ratings_like(*arguments), hashlib.sha256()
    for part in (table.rows, table.cols, table.values):
        digest.update(part.astype("<i8").tobytes())
    assert digest.hexdigest()[:32] == PINNED[arguments]


def test_generated_tables_are_skewed_and_leave_nobody_out():
    table = ratings_like(300, 200, 9000, seed=2)
    cells = table.rows * 200 + table.cols
    assert len(table) == 9000 and np.all(np.diff(cells) > 0)
    for index, count in ((table.rows, 300), (table.cols, 200)):
        ratings = np.sort(np.bincount(index, minlength=count))[::-1]
        assert ratings[-1] >= 1 and ratings[: count // 10].sum() > 2 * ratings.sum() / 10
    assert set(np.unique(table.values)) == {1.0, 2.0, 3.0, 4.0, 5.0}


# ---------------------------------------------------------------- every layout reads back as written

entries = st.dictionaries(
    st.tuples(st.integers(0, 2**63 - 1) | st.integers(0, 9), st.integers(0, 2**63 - 1) | st.integers(0, 9)),
    st.sampled_from([0.5, 1.0, 3.5, 5.0]) | st.floats(-1e6, 1e6),
    min_size=1,
    max_size=12,
)
HEADERS = [None, ("userId", "movieId", "rating"), ("USER_ID", "item", "Stars"), ("user id", "item id", "rating")]


def stored(text: str, name: str, packing: str, folder: Path, *, bom: bool = False) -> Path:
    """The text in a file of that name: plain, gzipped, or zipped in a folder beside a README."""
    data = text.encode("utf-8-sig" if bom else "utf-8")
    path = folder / (name if packing == "plain" else f"{name}.{packing}")
    if packing == "zip":
        with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
            archive.writestr("a-set/README", "what this is")
            archive.writestr(f"a-set/{name}", data)
    else:
        path.write_bytes(gzip.compress(data) if packing == "gz" else data)
    return path


@given(
    entries=entries,
    separator=st.sampled_from([",", ";", "\t", "::", " "]),
    header=st.sampled_from(HEADERS),
    order=st.permutations(range(4)),
    timestamps=st.booleans(),
    quoted=st.booleans(),
    line_end=st.sampled_from(["\n", "\r\n"]),
    trailing=st.sampled_from(["", "  ", "\n\n", "\n  \n"]),
    bom=st.booleans(),
    packing=st.sampled_from(["plain", "gz", "zip"]),
)
def test_round_trip(entries, separator, header, order, timestamps, quoted, line_end, trailing, bom, packing):
    assume(not (separator == " " and header and " " in header[0]) and not (quoted and separator in ("::", " ")))
    rows = [[str(user), str(item), repr(value), "88"] for (user, item), value in entries.items()]
    if header:
        rows = [[*header, "timestamp"], *rows]
    columns = [k for k in (order if header else range(4)) if timestamps or k < 3]
    quote = '"' if quoted else ""
    lines = [separator.join(f"{quote}{row[k]}{quote}" for k in columns) for row in rows]
    text = line_end.join(lines) + trailing.replace("\n", line_end)
    with tempfile.TemporaryDirectory() as folder:
        table = read_ratings(stored(text, "ratings.csv", packing, Path(folder), bom=bom))
    assert [
        (int(u), int(i)) for u, i in zip(table.row_labels[table.rows], table.col_labels[table.cols], strict=True)
    ] == [*entries]
    assert table.values.tolist() == [*entries.values()]
    assert table.shape == (len({u for u, _ in entries}), len({i for _, i in entries}))


@pytest.mark.parametrize(
    "text",
    [
        "1.0,2.0,3\n2.0,2.0,4\n",  # whole numbers as a spreadsheet writes them
        '1,2,3,"A title, with a comma"\n2,2,4,plain\n',
        "1, 2, 3\n\n \n2, 2, 4,\n",
        "user,item,rating\n1,2,3,\n2,2,4,\n",
        "title;rating;item;user\nTüte;3;2;1\nx;4;2;2",
    ],
)
def test_unusual_but_plain(tmp_path, text):
    for encoding in ("utf-8", "utf-16", "latin-1"):
        path = tmp_path / "ratings.csv"
        path.write_bytes(text.encode(encoding))
        table = read_ratings(path, scale=(3, 4))
        assert table.row_labels.tolist() == [1, 2] and table.col_labels.tolist() == [2]
        assert table.values.tolist() == [3.0, 4.0] and table.name == "ratings.csv"


def test_clean_files_never_need_the_slow_reader(tmp_path, monkeypatch):
    monkeypatch.setattr(ratings_file, "_careful", None)
    for _, file, text in OFFICIAL.values():
        assert len(read_ratings(stored(text, file, "plain", tmp_path, bom=True))) == 2


def test_a_gz_that_was_unpacked_on_the_way(tmp_path):
    (tmp_path / "ratings.csv.gz").write_text("1,2,3\n")
    assert len(read_ratings(tmp_path / "ratings.csv.gz")) == 1


# ---------------------------------------------------------------- what cannot be read is named

GOOD = "".join(f"{k},7,3,88\n" for k in range(1, 17))
BAD = {
    "a word": (GOOD + "17,7,x,88\n", r"ratings\.csv line 17: rating 'x' is not a number"),
    "nothing": (GOOD + "17,7,,88\n", r"ratings\.csv line 17: rating '' is not a number"),
    "underscore": (GOOD + "17,7,1_0,88\n", r"line 17: rating '1_0' is not a number"),
    "decimal comma": ("1;2;3\n1;3;3,5\n", r"line 2: rating '3,5' is not a number"),
    "not finite": (GOOD + "\n17,7,nan,88\n", r"line 18: rating 'nan' is not finite"),
    "infinite": ("user,item,rating\n1,2,inf\n", r"line 2: rating 'inf' is not finite"),
    "outside": (GOOD + "17,7,7.5,88\n", r"line 17: rating '7.5' is outside the scale 1 … 5"),
    "short": (GOOD + "17,7\n" + GOOD, r"line 17: 2 columns where the first line has 4: '17,7'"),
    "long": (GOOD + "17,7,3,88,5\n", r"line 17: 5 columns where the first line has 4"),
    "one column": ("5\n", r"line 1: 1 column, but user, item and rating are needed"),
    "negative": (GOOD + "-17,7,3,88\n", r"line 17: user id '-17' is negative"),
    "fraction": (GOOD + "17,7.5,3,88\n", r"line 17: item id '7.5' is not a whole number"),
    "exponent": (GOOD + "17,1e3,3,88\n", r"line 17: item id '1e3' is not a whole number"),
    "word id": (GOOD + "you,7,3,88\n", r"line 17: user id 'you' is not a whole number"),
    "huge": (GOOD + f"{2**63},7,3,88\n", rf"line 17: user id '{2**63}' is larger than 2⁶³"),
    "twice": (GOOD + "\n3,7,3,88\n5,7,2,88\n", r"line 18: user 3 has rated item 7 already, in line 3;"),
    "twice, large": (f"{2**62},{2**62},1\n1,2,3\n{2**62},{2**62},1\n", r"line 3: user 4\d+ .* already, in line 1;"),
    "missing": ("userId,when,rating\n1,2,3\n", r"line 1: no item column .* are 'userId', 'when', 'rating'"),
    "a web page": ("<!DOCTYPE html>\n<p>1</p>", r"line 1: no user column .* are '<!DOCTYPE', 'html>'"),
    "header only": ("userId,movieId,rating\n\n", r"ratings\.csv: a header and no rating below it"),
    "empty": ("", r"ratings\.csv is empty"),
    "blank": (" \r\n\n", r"ratings\.csv is empty"),
    "binary": ("1,2,3\n\0\1", r"ratings\.csv is not a text file"),
}


@pytest.mark.parametrize("packing", ["plain", "gz", "zip"])
@pytest.mark.parametrize(("text", "words"), BAD.values(), ids=BAD)
def test_refused_with_file_and_line(tmp_path, text, words, packing):
    path = stored(text, "ratings.csv", packing, tmp_path)
    packed = words.replace(r"ratings\.csv", r"ratings\.csv\.gz") if packing == "gz" else words
    check(lambda: read_ratings(path, scale=(1, 5)), ValueError, packed)


@given(
    prefix=st.sampled_from([b"", b"1,2,3\n", b"1::2::3\n", b"\xff\xfe", b"\xef\xbb\xbf", b"PK\3\4", b"\x1f\x8b\x08\0"]),
    rest=st.binary(max_size=60) | st.text('0123456789.,;:\t\r\n -+eE_"xuserit', max_size=60).map(str.encode),
)
def test_any_bytes_are_ratings_or_a_sentence(prefix, rest):
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "ratings.csv"
        path.write_bytes(prefix + rest)
        try:
            table = read_ratings(path)
        except ValueError as error:
            assert str(path) in str(error) and str(error).endswith(".")
        else:
            assert len(table) >= 1 and np.isfinite(table.values).all()


def test_refused_archives(tmp_path):
    whole = "".join(f"{k},{k * k},3\n" for k in range(3000))
    for packing in ("gz", "zip"):
        path = stored(whole, "ratings.csv", packing, tmp_path)
        data = path.read_bytes()
        for damaged in (data[: len(data) // 2], data[:-5], data[:100] + b"oops" + data[104:]):
            path.write_bytes(damaged)
            check(
                lambda path=path: read_ratings(path), ValueError, f"{packing}.*: the archive is incomplete or damaged"
            )
    path.write_text("<html>not found</html>")
    check(lambda: read_ratings(path), ValueError, "incomplete or damaged")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("x/movies.csv", "1,2")
        archive.writestr("x/links.csv", "1,2")
    words = r"looked for u\.data or ratings\.dat or ratings\.csv, it holds x/movies\.csv, x/links\.csv"
    check(lambda: read_ratings(path), ValueError, words)
    check(lambda: read_ratings(path, scale=(5, 1)), ValueError, "low ≤ high")
    with pytest.raises(FileNotFoundError, match=r"nowhere\.csv"):
        read_ratings(tmp_path / "nowhere.csv")


# ---------------------------------------------------------------- MovieLens, as GroupLens lays it out

OFFICIAL = {
    "100k": ("ml-100k", "u.data", "196\t242\t3\t881250949\n186\t302\t4\t891717742\n"),
    "1m": ("ml-1m", "ratings.dat", "196::242::3::978300760\n186::302::4::978302109\n"),
    "latest-small": ("ml-latest-small", "ratings.csv", "userId,movieId,rating,timestamp\n196,242,3,9\n186,302,4.0,9\n"),
}


@pytest.mark.parametrize("kind", ["folder", "gz", "zip"])
@pytest.mark.parametrize("name", OFFICIAL)
@pytest.mark.parametrize("variable", ["SPECTRAPLEX_DATA", "XDG_CACHE_HOME"])
def test_movielens_is_found(tmp_path, monkeypatch, name, kind, variable):
    folder, file, text = OFFICIAL[name]
    monkeypatch.delenv("SPECTRAPLEX_DATA", raising=False)
    monkeypatch.setenv(variable, str(tmp_path))
    place = tmp_path / "spectraplex" if variable == "XDG_CACHE_HOME" else tmp_path
    (place / folder).mkdir(parents=True)
    if kind == "zip":
        with zipfile.ZipFile(place / f"{folder}.zip", "w") as archive:
            archive.writestr(f"{folder}/", "")
            archive.writestr(f"{folder}/{file}", text)
    else:
        stored(text, file, "plain" if kind == "folder" else "gz", place / folder)
    table = movielens(name)
    assert table.row_labels.tolist() == [186, 196] and table.col_labels.tolist() == [242, 302]
    assert table.rows.tolist() == [1, 0] and table.values.tolist() == [3.0, 4.0]


def test_movielens_1m_as_a_gzipped_table(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECTRAPLEX_DATA", str(tmp_path))
    (tmp_path / "ml-1m").mkdir()
    for header in ("", "user,movie,rating\n"):
        stored(f"{header}1,2,3\n1,3,4\n", "ratings.csv", "gz", tmp_path / "ml-1m")
        assert movielens("1m").shape == (1, 2)


@pytest.mark.parametrize("kind", ["folder", "zip"])
def test_splits_share_shape_and_labels(tmp_path, monkeypatch, kind):
    monkeypatch.setenv("SPECTRAPLEX_DATA", str(tmp_path))
    texts = {"u2.base": "1\t10\t5\t9\n2\t20\t4\t9\n", "u2.test": "3\t10\t1\t9\n", "u.data": "1\t1\t1\t1\n"}
    (tmp_path / "ml-100k").mkdir()
    with zipfile.ZipFile(tmp_path / "ml-100k.zip", "w") as archive:
        for name, text in texts.items():
            archive.writestr(f"ml-100k/{name}", text)
            if kind == "folder":
                (tmp_path / "ml-100k" / name).write_text(text)
    train, test = movielens_split("100k", 2)
    assert train.shape == test.shape == (3, 2) and train.row_labels is test.row_labels
    assert (train.rows.tolist(), train.cols.tolist(), train.values.tolist()) == ([0, 1], [0, 1], [5.0, 4.0])
    assert (test.rows.tolist(), test.cols.tolist(), test.values.tolist()) == ([2], [0], [1.0])
    check(lambda: movielens_split("100k", 3), (ValueError, FileNotFoundError), r"u3\.base")
    check(lambda: movielens_split("100k", 6), ValueError, "1, 2, 3, 4 or 5, got 6")
    check(lambda: movielens_split("1m", 1), ValueError, "only '100k' comes with splits")


def test_movielens_refusals(tmp_path, monkeypatch):
    monkeypatch.setenv("SPECTRAPLEX_DATA", str(tmp_path))
    check(lambda: movielens("10k"), ValueError, "unknown set '10k'; known: 100k, 1m, latest-small")
    check(lambda: movielens("1m", download="maybe"), ValueError, "True, False or 'auto', got 'maybe'")
    check(lambda: movielens("1m"), FileNotFoundError, "as SPECTRAPLEX_DATA is set. Get https://.*ml-1m.zip .* licence")
    check(lambda: movielens("1m", download=False), FileNotFoundError, "as download=False")
    stored("1\t2\t6\t9\n", "u.data", "plain", tmp_path)
    (tmp_path / "ml-100k").mkdir()
    (tmp_path / "u.data").rename(tmp_path / "ml-100k" / "u.data")
    check(lambda: movielens("100k"), ValueError, r"u\.data line 1: rating '6' is outside the scale 1 … 5")
