"""What real files bring: a sentence with what is wrong and where, or the table that was meant."""

from __future__ import annotations

import csv
import datetime
import decimal
import gzip
import io
import os
import pickle
import threading
import zipfile
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("typer")

from typer.testing import CliRunner

from spectraplex.cli import store
from spectraplex.cli.app import app
from spectraplex.tables import reading as tables
from spectraplex.tables.layout import Asked

GOOD = "user,item,rating\n1,1,5\n1,2,3\n2,1,4\n2,3,1\n3,2,2\n3,3,5\n"
FAST = ("--no-report", "--radius", "2", "--quiet")


def run(*words: object, code: int = 0, **options: object):
    done = CliRunner().invoke(app, [str(word) for word in words], **options)
    assert done.exit_code == code, (done.stdout, done.stderr, done.exception)
    return done


def refused(*words: object) -> str:
    return " ".join(run(*words, code=2).stderr.split())


# ---------------------------------------------------------------------------------------------------- text files

SAME = {
    "Mac line ends": (GOOD.replace("\n", "\r").encode(), ()),
    "mixed line ends": (GOOD.replace("4\n", "4\r").encode(), ()),
    "UTF-16": (GOOD.encode("utf-16"), ()),
    "UTF-32": (GOOD.encode("utf-32"), ()),
    "UTF-16 without a mark": (GOOD.encode("utf-16-le"), ("--encoding", "utf-16-le")),
    "a line of blanks": ((GOOD + "   \n\t\n").encode(), ()),
    "blanks before the values alone": (GOOD.replace(",", ", ").replace(", ", ",", 2).encode(), ()),
}


@pytest.mark.parametrize("content, options", SAME.values(), ids=SAME)
def test_the_same_table_however_it_is_written(content, options, tmp_path):
    (tmp_path / "r.csv").write_bytes(content)
    run("complete", tmp_path / "r.csv", "-o", tmp_path / "m", *FAST, *options)
    (tmp_path / "good.csv").write_text(GOOD, encoding="utf-8")
    run("verify", tmp_path / "m", tmp_path / "good.csv", "-q", "--encoding", "utf-8")


BAD = {
    "thousands": (
        GOOD + '4,1,"1,000"\n',
        (),
        "'1,000' is not a number; if its marks are between thousands, give --thousands ,.",
    ),
    "thousands by blanks": (GOOD + "4,1,1 000\n", (), "give --thousands blank"),
    "an open quote": (GOOD + '4,"1,3\n5,1,2\n', (), "line 8: 2 columns where the first line has 3"),
    "what may be wrong": (GOOD + '4,"1,3\n5,1,2\n', (), "is a quotation mark not closed?"),
    "an endless field": (GOOD + "4," + "x" * 200_000 + ",3\n", (), "is a quotation mark not closed?"),
    "a zero byte": (GOOD + "x" * 5000 + ",1,3\n4,1\0,3\n", (), "line 9: the column label '1\\x00' has a zero byte"),
    "zero bytes everywhere": (GOOD.replace(",", "\0"), (), "say its --encoding"),
    "a name twice": (
        "user,item,item,rating\n1,1,2,5\n1,2,2,3\n",
        ("--column", "item"),
        "say which by position: --column 2",
    ),
    "a position that is none": (GOOD, ("--row", "²"), "has no column '²'"),
}


@pytest.mark.parametrize("text, options, wanted", BAD.values(), ids=BAD)
def test_text_that_cannot_be_read(text, options, wanted, tmp_path):
    (tmp_path / "r.csv").write_text(text, encoding="utf-8")
    assert wanted in refused("complete", tmp_path / "r.csv", "-o", tmp_path / "m", *FAST, *options)
    assert [path.name for path in tmp_path.iterdir()] == ["r.csv"]


def test_a_column_named_twice_is_found_again_by_its_position(tmp_path):
    data = tmp_path / "r.csv"
    data.write_text("user,item,item,rating\n1,1,2,5\n1,2,2,3\n2,1,2,4\n2,2,3,2\n", encoding="utf-8")
    run("complete", data, "-o", tmp_path / "m", *FAST, "--column", "3", "--duplicates", "mean")
    assert store.read(tmp_path / "m").data["reading"]["column"] == "3"
    run("verify", tmp_path / "m", data)


def test_any_label_comes_back_as_it_was(tmp_path):
    """Line ends within labels in the first lines, too, where the layout is guessed from."""
    labels = ["new\nline", "cr\rhere", 'q"uote', "a,b", "e\u0301", "é", "😀", "1.0", "1", "7", "007", str(2**64 + 5)]
    labels += ["NA", "nan", "None", " lead", "trail ", "\u00a0", "\ufeff", "=1+1", "#x", "tab\there", "a;b", "\\"]
    rng = np.random.default_rng(0)
    pairs = [(a, labels[b]) for a in labels for b in rng.choice(len(labels), 5, replace=False)]
    with (tmp_path / "r.csv").open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\r\n")
        writer.writerow(["user", "item", "rating"])
        writer.writerows([a, b, rng.integers(1, 6)] for a, b in pairs)
    run("complete", tmp_path / "r.csv", "-o", tmp_path / "m", *FAST)
    told = run("predict", tmp_path / "m", tmp_path / "r.csv", "-q").stdout
    found = list(csv.reader(io.StringIO(told, newline="")))
    assert [tuple(line[:2]) for line in found[1:]] == pairs
    out = tmp_path / "p.json"
    run("predict", tmp_path / "m", tmp_path / "r.csv", "-q", "--json", "-o", out)
    assert out.read_text(encoding="utf-8").startswith("[")


# ------------------------------------------------------------------------------------------ pipes, folders, archives


def test_standard_input_and_pipes(tmp_path):
    run("complete", "-", "-o", tmp_path / "m", "--no-report", "--radius", "2", input=GOOD)
    assert "standard input line 8: the value 'x'" in refused_input("complete", tmp_path / "n", GOOD + "4,1,x\n")
    if not hasattr(os, "mkfifo"):
        return
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    writer = threading.Thread(target=lambda: pipe.write_text(GOOD, encoding="utf-8"))
    writer.start()
    done = run("predict", tmp_path / "m", pipe)
    writer.join()
    assert f"{pipe}: separated by commas" in done.stderr and len(done.stdout.splitlines()) == 7


def refused_input(command: str, out: Path, text: str) -> str:
    return run(command, "-", "-o", out, *FAST, code=2, input=text).stderr


def test_what_is_not_read_here_is_told_by_its_name(tmp_path):
    (tmp_path / "m.csv").write_text(GOOD, encoding="utf-8")
    run("complete", tmp_path / "m.csv", "-o", tmp_path / "m", *FAST)
    for name, words in (("a.xlsx", "write the table as CSV"), ("a.csv.bz2", "unpack it"), ("a.json", "as CSV")):
        (tmp_path / name).write_bytes(b"PK\3\4 or so")
        assert words in refused("complete", tmp_path / name, "-o", tmp_path / "n")
    np.save(tmp_path / "a.npy", np.eye(3))
    assert "a CSV, TSV or Parquet file" in refused("impute", tmp_path / "a.npy")
    assert "pairs of labels" in refused("predict", tmp_path / "m", tmp_path / "a.npy")
    (tmp_path / "d.parquet").mkdir()
    assert "is a folder, not a file" in refused("impute", tmp_path / "d.parquet")
    with zipfile.ZipFile(tmp_path / "two.zip", "w") as archive:
        archive.writestr("a.csv", GOOD)
        archive.writestr("b.csv", GOOD)
    assert "it holds a.csv, b.csv. Unpack it" in refused("complete", tmp_path / "two.zip", "-o", tmp_path / "n")
    (tmp_path / "cut.csv.gz").write_bytes(gzip.compress(GOOD.encode())[:-9])
    assert "incomplete or damaged" in refused("complete", tmp_path / "cut.csv.gz", "-o", tmp_path / "n")


# --------------------------------------------------------------------------------------------------------- arrays


class Evil:
    def __init__(self, trace: Path) -> None:
        self.trace = trace

    def __reduce__(self):
        return (Path.touch, (self.trace,))


def test_no_file_makes_us_run_code(tmp_path):
    trap = tmp_path / "trap"
    evil = np.empty((2, 2), object)
    evil[:] = Evil(trap)
    np.savez(tmp_path / "a.npz", a=evil)
    np.savez(tmp_path / "b.npz", rows=evil[0], cols=evil[0], values=evil[0])
    np.savez(tmp_path / "c.npz", format=evil, data=evil)
    np.save(tmp_path / "d.npy", evil)
    (tmp_path / "e.npy").write_bytes(pickle.dumps(Evil(trap)))
    for name in ("a.npz", "b.npz", "c.npz", "d.npy", "e.npy"):
        assert "cannot be read" in refused("complete", tmp_path / name, "-o", tmp_path / "m")
    assert not trap.exists()


ARRAYS = {
    "complex values": ({"rows": [0, 0, 1], "cols": [0, 1, 1], "values": [1, 2j, 3]}, "values must be real numbers"),
    "words for values": ({"rows": [0, 0], "cols": [0, 1], "values": ["1", "q"]}, "values must be real numbers"),
    "a label that is missing": ({"rows": [1.5, np.nan], "cols": [0, 1], "values": [1.0, 2.0]}, "rows[1] is missing"),
    "complex": ({"a": np.eye(3) * 1j}, "must hold real numbers"),
    "indices that lead outside": (
        {"format": b"csr", "shape": (2, 2), "data": [1.0, 2], "indices": [0, 1], "indptr": [0, 5, 2]},
        "cannot be read as npz",
    ),
    "an empty row": ({"a": [[1.0, 2], [np.nan, np.nan], [3, 1]]}, "row 1 has no value at all"),
}


@pytest.mark.parametrize("arrays, wanted", ARRAYS.values(), ids=ARRAYS)
def test_arrays_that_are_no_table(arrays, wanted, tmp_path):
    np.savez(tmp_path / "a.npz", **arrays)
    said = refused("complete", tmp_path / "a.npz", "-o", tmp_path / "m")
    assert wanted in said and "a.npz" in said


def test_matrices_of_any_size_and_arrays_of_labels(tmp_path):
    head = "%%MatrixMarket matrix coordinate real general\n"
    data = tmp_path / "a.mtx"
    data.write_text(head + "2000000000 2000000000 3\n1 1 1\n1 9 2\n9 9 3\n", encoding="utf-8")
    assert "row 1 has no value at all (1999999998 such in all)" in refused("complete", data, "-o", tmp_path / "m")
    found = tables.read(data, Asked(drop_empty=True))
    assert found.row_labels.values.tolist() == [0, 8] and found.values.tolist() == [1.0, 2.0, 3.0]
    data.write_text(head + f"{10**30} 2 1\n1 1 1\n", encoding="utf-8")
    assert "cannot be read as mtx" in refused("complete", data, "-o", tmp_path / "m")
    days = np.array(["2020-01-01", "2020-01-02", "2020-01-01"], "M8[D]")
    np.savez(tmp_path / "d.npz", rows=days, cols=np.array([b"x", b"x", b"y"]), values=[1, 2, 3])
    found = tables.read(tmp_path / "d.npz", Asked())
    assert found.row_labels.values.tolist() == ["2020-01-01", "2020-01-02"]
    assert found.column_labels.values.tolist() == ["x", "y"] and len(found.mark) == 64


# -------------------------------------------------------------------------------------------------------- Parquet

USERS, ITEMS, VALUES = ["a", "a", "b", "b", "c"], ["x", "y", "x", "y", "x"], [1.0, 2.0, 3.0, 4.0, 5.0]
FRAMES = {
    "a value that is null": (
        {"rating": [1.0, None, 3.0, 4.0, 5.0]},
        "entry 2: the value in column 'rating' is",
    ),
    "a value that is NaN": (
        {"rating": [1.0, np.nan, 3.0, 4.0, 5.0]},
        "entry 2: the value in column 'rating' is",
    ),
    "an infinite value": ({"rating": [1.0, np.inf, 3.0, 4.0, 5.0]}, "entry 2: the value inf"),
    "a word": ({"rating": ["1", "2", "x", "4", "5"]}, "entry 3: the value 'x' in column 'rating' is not a number"),
    "a label that is null": ({"user": ["a", None, "b", "b", "c"]}, "entry 2: the label in column 'user' is missing"),
    "a list for a label": ({"user": [[1], [1], [2], [2], [3]]}, "user[0] is a list"),
    "bytes for a label": ({"user": [b"a", b"a", b"b", b"b", b"c"]}, "labels are text, numbers or dates"),
}


@pytest.mark.parametrize("changed, wanted", FRAMES.values(), ids=FRAMES)
def test_frames_that_are_no_table(changed, wanted, tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    pq.write_table(pa.table({"user": USERS, "item": ITEMS, "rating": VALUES} | changed), tmp_path / "r.parquet")
    said = refused("complete", tmp_path / "r.parquet", "-o", tmp_path / "m")
    assert wanted in said and "r.parquet" in said


def test_frames_with_odd_types(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    path = tmp_path / "r.parquet"

    def read(drop: bool = False, **changed: object) -> tables.Table:
        pq.write_table(pa.table({"user": USERS, "item": ITEMS, "rating": VALUES} | changed), path)
        return tables.read(path, Asked(drop_empty=drop))

    days = [datetime.date(2020, 1, k) for k in (1, 1, 2, 2, 3)]
    assert read(user=days).row_labels.values.tolist() == ["2020-01-01", "2020-01-02", "2020-01-03"]
    exact = pa.array([decimal.Decimal(k) for k in (1, 1, 2, 2, 3)], pa.decimal128(5, 2))
    assert read(user=exact).row_labels.values.tolist() == ["1.00", "2.00", "3.00"]
    assert read(rating=exact).values.tolist() == [1.0, 1.0, 2.0, 2.0, 3.0]
    assert read(rating=pa.array(np.array(VALUES, np.float16))).values.tolist() == VALUES
    assert read(user=pa.array(USERS).dictionary_encode()).row_labels.values.tolist() == ["a", "b", "c"]
    assert read(True, rating=[1.0, 2.0, None, float("nan"), 5.0]).values.tolist() == [1.0, 2.0, 5.0]
    run("complete", path, "-o", tmp_path / "m", *FAST, "--drop-empty")


def test_impute_leaves_an_empty_column_of_a_frame_empty(tmp_path):
    pa = pytest.importorskip("pyarrow")
    import pyarrow.parquet as pq

    columns = {"a": [1.0, 2.0, 3.0], "b": [2.0, None, 6.0], "c": pa.array([None] * 3, pa.float64())}
    pq.write_table(pa.table(columns), tmp_path / "w.parquet")
    run("impute", tmp_path / "w.parquet", "-o", tmp_path / "o.parquet", "--drop-empty", "-q")
    found = pq.read_table(tmp_path / "o.parquet")
    assert found["c"].null_count == 3 and found["b"].null_count == 0
    pq.write_table(pa.table({"a": [1.0, np.inf, 3.0], "b": [2.0, None, 6.0]}), tmp_path / "w.parquet")
    assert "entry 2 of 'a' is not finite" in refused("impute", tmp_path / "w.parquet")


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_pairs_of_which_one_column_is_called_as_in_the_model(ending, tmp_path):
    pd = pytest.importorskip("pandas")
    (tmp_path / "r.csv").write_text(GOOD, encoding="utf-8")
    run("complete", tmp_path / "r.csv", "-o", tmp_path / "m", *FAST)
    fitted, pairs = store.read(tmp_path / "m").model, tmp_path / f"pairs.{ending}"
    frame = pd.DataFrame({"item": ["1", "2"], "who": ["2", "3"]})
    frame.to_csv(pairs, index=False) if ending == "csv" else frame.to_parquet(pairs)
    told = list(csv.DictReader(io.StringIO(run("predict", tmp_path / "m", pairs, "-q").stdout)))
    assert [float(line["prediction"]) for line in told] == pytest.approx(
        fitted.predict([("2", "1"), ("3", "2")]).tolist(), abs=1e-5
    )
    assert "has no column 'nobody' (--row)" in refused("predict", tmp_path / "m", pairs, "--row", "nobody")
    frame[["item"]].to_csv(pairs, index=False) if ending == "csv" else frame[["item"]].to_parquet(pairs)
    assert "there is one column only" in refused("predict", tmp_path / "m", pairs)
